// Entities by labels: of texts together and alone, in windows, with labels of each text's own, over every span mode.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "deberta/pipeline.h"
#include "pipeline/entity_labels.h"
#include "pipeline/labelled_text.h"
#include "pipeline/plan.h"
#include "support/expect_error.h"
#include "support/paths.h"
#include "support/tiny_extractor.h"
#include "text/words.h"

namespace deberta::extraction_test {
namespace {

constexpr SpanMode kModes[] = {SpanMode::kMarkerV0, SpanMode::kMarker, SpanMode::kTokenLevel};
constexpr const char* kText = "the cat walks home, and a small dog sings in the morning without a word";

std::vector<EntityLabel> labels(const std::vector<std::string>& names) {
  std::vector<EntityLabel> all;
  for (const std::string& name : names) all.push_back(entity_label(name));
  return all;
}

ExtractOptions options_with(const std::vector<std::string>& names, double threshold = 0.5) {
  ExtractOptions options;
  options.labels = labels(names);
  options.threshold = threshold;
  return options;
}

std::vector<TokenAnswer> extract_all(const Pipeline& pipeline, const std::vector<std::string>& texts,
                                     const ExtractOptions& options) {
  std::vector<TextInput> inputs;
  for (const std::string& text : texts) inputs.push_back({.text = text});
  return extract(pipeline, inputs, options);
}
TokenAnswer extract_one(const Pipeline& pipeline, const std::string& text, const ExtractOptions& options) {
  return extract_all(pipeline, {text}, options).front();
}

void expect_same(const TokenAnswer& a, const TokenAnswer& b) {
  ASSERT_EQ(a.entities.size(), b.entities.size());
  for (size_t i = 0; i < a.entities.size(); ++i) {
    EXPECT_EQ(a.entities[i].label, b.entities[i].label);
    EXPECT_EQ(a.entities[i].score, b.entities[i].score);
    EXPECT_EQ(a.entities[i].chars, b.entities[i].chars);
    EXPECT_EQ(a.entities[i].bytes, b.entities[i].bytes);
  }
}

// In token_level a span has a condition for each of its words, so that few random ones pass a high threshold.
double threshold_of(SpanMode mode) {
  return mode == SpanMode::kTokenLevel ? 0.1 : 0.4;
}

class Extraction : public testing::Test {
 protected:
  const Pipeline& make(const ExtractionConfig& config) {
    pipeline_.emplace(test::tiny_extractor(folder_, config));
    return *pipeline_;
  }
  test::TemporaryFolder folder_;
  std::optional<Pipeline> pipeline_;
};

TEST_F(Extraction, IsTheSameAloneAndWithOthers) {
  for (const SpanMode mode : kModes) {
    const Pipeline& pipeline = make({.span_mode = mode, .hidden_size = 12, .max_width = 3});
    const std::vector<std::string> texts = {kText, "", "a dog", "\u00dcbergr\u00f6\u00dfe \U0001F600 \u5317\u4eac",
                                            kText};
    ExtractOptions options = options_with({"person", "an animal", "place"}, threshold_of(mode));
    const std::vector<TokenAnswer> together = extract_all(pipeline, texts, options);
    size_t entities = 0;
    for (size_t i = 0; i < texts.size(); ++i) {
      expect_same(together[i], extract_one(pipeline, texts[i], options));
      entities += together[i].entities.size();
    }
    EXPECT_GT(entities, 3u) << to_string(mode);
    options.rules.batch_tokens = 1;
    const std::vector<TokenAnswer> one_by_one = extract_all(pipeline, texts, options);
    for (size_t i = 0; i < texts.size(); ++i) expect_same(together[i], one_by_one[i]);
  }
}

TEST_F(Extraction, GivesPlacesOfWordsInTheText) {
  const Pipeline& pipeline = make({.hidden_size = 12, .max_width = 1});
  const std::string text = "\u00e9t\u00e9 \U0001F600 (cat)";
  ExtractOptions options = options_with({"x"}, 0);
  const TokenAnswer answer = extract_one(pipeline, text, options);
  const std::vector<WordSpan> words = word_spans(text);
  ASSERT_EQ(answer.entities.size(), words.size());
  for (size_t i = 0; i < words.size(); ++i) {
    EXPECT_EQ(answer.entities[i].chars, words[i].chars);
    EXPECT_EQ(answer.entities[i].bytes, words[i].bytes);
    EXPECT_EQ(answer.entities[i].first_token, i);
    EXPECT_EQ(answer.entities[i].label, "x");
  }
}

TEST_F(Extraction, JoinsNeighboursOfOneLabel) {
  const Pipeline& pipeline = make({.hidden_size = 12, .max_width = 1});
  ExtractOptions options = options_with({"x"}, 0);
  options.joins_neighbours = true;
  const std::string text = "a (\u00e9)  b c";
  const float score = extract_one(pipeline, text, options_with({"x"}, 0)).entities[0].score;
  const std::vector<Entity> entities = extract_one(pipeline, text, options).entities;
  ASSERT_EQ(entities.size(), 2u) << "two blanks are between the words of two entities";
  EXPECT_EQ(entities[0].chars, (Offset{0, 5}));
  EXPECT_EQ(entities[0].bytes, (Offset{0, 6}));
  EXPECT_EQ(entities[0].last_token, 3u);
  EXPECT_EQ(entities[0].score, score) << "of the first word";
  EXPECT_EQ(entities[1].chars, (Offset{7, 10}));
}

TEST_F(Extraction, OfATextWithoutWordsIsEmpty) {
  const Pipeline& pipeline = make({.hidden_size = 12});
  for (const char* text : {"", "  \n"}) {
    const TokenAnswer answer = extract_one(pipeline, text, options_with({"x"}, 0));
    EXPECT_TRUE(answer.entities.empty());
    EXPECT_EQ(answer.tokens, 0u);
  }
}

// A word of no piece has a vector of zeros; those behind it keep theirs.
TEST_F(Extraction, OfWordsBehindOneWithoutPiecesIsTheirOwn) {
  for (const SpanMode mode : {SpanMode::kMarkerV0, SpanMode::kMarker}) {
    const Pipeline& pipeline = make({.span_mode = mode, .hidden_size = 12, .max_width = 1, .num_rnn_layers = 0});
    ASSERT_TRUE(pipeline.tokenizer.encode("\x07", {.add_special_tokens = false}).ids.empty());
    ExtractOptions options = options_with({"x", "y"}, 0);
    options.is_multi_label = true;
    std::vector<Entity> with = extract_one(pipeline, "the \x07 cat walks", options).entities;
    const std::vector<Entity> without = extract_one(pipeline, "the cat walks", options).entities;
    EXPECT_EQ(std::erase_if(with, [](const Entity& entity) { return entity.bytes.begin == 4; }), 2u);
    ASSERT_EQ(with.size(), without.size());
    for (size_t i = 0; i < with.size(); ++i) {
      EXPECT_EQ(with[i].score, without[i].score) << to_string(mode) << " " << i;
      EXPECT_EQ(with[i].label, without[i].label);
      EXPECT_EQ(with[i].bytes.begin, without[i].bytes.begin + (without[i].bytes.begin > 0 ? 2 : 0));
    }
  }
}

// ---- labels

TEST_F(Extraction, TakesTheLabelsOfEachText) {
  const Pipeline& pipeline = make({.hidden_size = 12, .max_width = 2});
  const std::vector<EntityLabel> own = labels({"animal"}), none;
  const std::vector<TextInput> inputs = {{.text = kText},
                                         {.text = kText, .labels = std::span<const EntityLabel>(own)},
                                         {.text = kText, .labels = std::span<const EntityLabel>(none)}};
  const std::vector<TokenAnswer> answers = extract(pipeline, inputs, options_with({"person", "place"}, 0.3));
  expect_same(answers[0], extract_one(pipeline, kText, options_with({"person", "place"}, 0.3)));
  expect_same(answers[1], extract_one(pipeline, kText, options_with({"animal"}, 0.3)));
  EXPECT_TRUE(answers[2].entities.empty());
  EXPECT_ERROR(extract_one(pipeline, kText, options_with({})), kInput, "labels: expected labels of entities, got none");
}

TEST_F(Extraction, AnswersWithTheNameAndReadsTheText) {
  const Pipeline& pipeline = make({.hidden_size = 12, .max_width = 2});
  ExtractOptions described;
  described.labels = {entity_label("animal", "a cat or a dog")};
  described.threshold = 0.2;
  const TokenAnswer answer = extract_one(pipeline, kText, described);
  ASSERT_FALSE(answer.entities.empty());
  EXPECT_EQ(answer.entities[0].label, "animal");
  TokenAnswer plain = extract_one(pipeline, kText, options_with({"a cat or a dog"}, 0.2));
  for (Entity& entity : plain.entities) entity.label = "animal";
  expect_same(answer, plain);
}

TEST_F(Extraction, RaisesTheThresholdOfOneLabel) {
  const Pipeline& pipeline = make({.hidden_size = 12, .max_width = 1});
  ExtractOptions options = options_with({"a", "b"}, 0);
  options.is_multi_label = true;
  const auto count = [&](const std::string& label) {
    const TokenAnswer answer = extract_one(pipeline, kText, options);
    return std::ranges::count(answer.entities, label, &Entity::label);
  };
  const auto all = count("a");
  EXPECT_EQ(all, count("b"));
  options.thresholds = {{"b", 1.0}};
  EXPECT_EQ(count("a"), all);
  EXPECT_EQ(count("b"), 0);
}

// ---- long texts

std::string long_text(size_t words) {
  const std::vector<std::string> some = {"the", "cat", "walks", "home", ",", "a", "small", "dog", "sings", "again"};
  std::string text;
  for (size_t i = 0; i < words; ++i) text += (i == 0 ? "" : " ") + some[(i * i + i / 7) % some.size()];
  return text;
}

// Every entity that a window finds by itself is in the answer, or one that overlaps it and is as good.
TEST_F(Extraction, InWindowsLosesNothingThatAWindowAloneWouldFind) {
  for (const SpanMode mode : kModes) {
    const Pipeline& pipeline = make({.span_mode = mode, .hidden_size = 12, .max_width = 4, .max_len = 20});
    const std::string text = long_text(90);
    ExtractOptions options = options_with({"animal", "place"}, threshold_of(mode));
    options.rules.stride = 6;
    const TokenAnswer whole = extract_one(pipeline, text, options);
    EXPECT_EQ(whole.cut_tokens, 0u);
    const TextWords words = encode_words(pipeline.tokenizer, text, options.rules.encode);
    const WindowRoom room =
        window_room(make_label_prompt(pipeline, options.labels, options), *pipeline.config.extraction, options.rules);
    const std::vector<Window> windows = word_windows(words, room);
    EXPECT_GT(windows.size(), 4u);
    size_t found = 0;
    for (const Window& window : windows) {
      const uint32_t begin = words.words[window.first].bytes.begin, end = words.words[window.last - 1].bytes.end;
      for (const Entity& entity : extract_one(pipeline, text.substr(begin, end - begin), options).entities) {
        ++found;
        EXPECT_TRUE(std::ranges::any_of(whole.entities, [&](const Entity& other) {
          return other.score >= entity.score && other.bytes.begin < entity.bytes.end + begin &&
                 entity.bytes.begin + begin < other.bytes.end;
        })) << to_string(mode);
      }
    }
    EXPECT_GT(found, 0u) << to_string(mode);
    EXPECT_GT(whole.entities.back().first_token, 60u) << "entities of the last windows";
  }
}

TEST_F(Extraction, CutAtTheEndIsThatOfWhatIsLeft) {
  for (const SpanMode mode : kModes) {
    const Pipeline& pipeline = make({.span_mode = mode, .hidden_size = 12, .max_width = 3, .max_len = 15});
    ExtractOptions options = options_with({"animal", "place"}, threshold_of(mode));
    options.rules.long_text = LongText::kCut;
    const std::string text = long_text(40);
    const TokenAnswer cut = extract_one(pipeline, text, options);
    EXPECT_GT(cut.cut_tokens, 0u);
    expect_same(cut, extract_one(pipeline, text.substr(0, word_spans(text)[14].bytes.end), options));
    options.rules.long_text = LongText::kRefuse;
    EXPECT_ERROR(extract_one(pipeline, text, options), kTextTooLong, "expected at most 15 words behind the labels");
    options.rules.encode.max_tokens = 20;
    EXPECT_ERROR(extract_one(pipeline, text, options), kTextTooLong, "tokens behind the labels, got ");
  }
}

TEST_F(Extraction, OfOneWordOfAHundredThousandCharactersIsBounded) {
  const Pipeline& pipeline = make({.hidden_size = 12, .max_width = 2});
  const TokenAnswer answer = extract_one(pipeline, "a " + std::string(100000, 'x') + " b", options_with({"x"}, 0));
  EXPECT_GT(answer.cut_tokens, 0u);
  EXPECT_LE(answer.tokens, 3 * 512u);
  EXPECT_EQ(answer.entities.back().bytes.end, 100004u);
}

// ---- plans

TEST_F(Extraction, HasItsBitsWhereverItsWindowsRun) {
  for (const SpanMode mode : kModes) {
    const Pipeline& pipeline = make({.span_mode = mode, .hidden_size = 12, .max_width = 3, .max_len = 10});
    const std::string text = long_text(40), other = kText;
    const std::vector<TextInput> inputs = {{.text = text}, {.text = other}};
    const ExtractOptions options = options_with({"animal", "place"}, threshold_of(mode));
    const Planned<TokenAnswer> planned = plan_extract(pipeline, inputs, options);
    ForwardResult result;
    for (size_t left = planned.plan.sequences.size(); left > 0; --left) {
      const std::vector<PlannedSequence> pack = {{&planned.plan, left - 1}, {&planned.plan, 0}};
      for (int time = 0; time < 2; ++time) run_pack(pipeline.model, pack, result);
    }
    const std::vector<TokenAnswer> mixed = planned.finish(), plain = extract(pipeline, inputs, options);
    for (size_t i = 0; i < inputs.size(); ++i) expect_same(mixed[i], plain[i]);
    EXPECT_NE(kind_of(planned.plan), kind_of(plan_embed(pipeline, inputs, {}).plan));
  }
}

// Whatever the threshold, nobody holds more than the entities of texts that are read at once.
TEST_F(Extraction, KeepsOfAWholeTextItsEntitiesAlone) {
  for (const SpanMode mode : kModes) {
    const Pipeline& pipeline = make({.span_mode = mode, .hidden_size = 12, .max_width = 3});
    ExtractOptions options = options_with({"animal", "place"}, 0);
    options.rules.batch_tokens = 1;
    const std::vector<std::string> texts(20, kText);
    const std::vector<TokenAnswer> expected = extract_all(pipeline, texts, options);
    const size_t words = word_spans(kText).size(), spans = words * (words + 1) / 2 * 2;  // of any width
    options.most_candidates = spans + texts.size() * words;
    const std::vector<TokenAnswer> answers = extract_all(pipeline, texts, options);
    for (size_t i = 0; i < texts.size(); ++i) expect_same(answers[i], expected[i]);
    options.most_candidates = words;
    EXPECT_ERROR(extract_all(pipeline, texts, options), kInput, "spans above the threshold, got more; raise threshold");
  }
}

TEST_F(Extraction, OfWindowsIsBoundedByAllTheirSpans) {
  const Pipeline& pipeline = make({.hidden_size = 12, .max_width = 3, .max_len = 10});
  ExtractOptions options = options_with({"animal"}, 0);
  const std::string text = long_text(40);
  const size_t entities = extract_one(pipeline, text, options).entities.size();
  options.most_candidates = 2 * 40;  // two windows of ten words have 54 spans
  EXPECT_LT(entities, options.most_candidates);
  EXPECT_ERROR(extract_one(pipeline, text, options), kInput, "expected at most 26 spans above the threshold");
}

TEST_F(Extraction, KeepsItsRoomWhereAPackRunsAgain) {
  const Pipeline& pipeline = make({.hidden_size = 12, .max_width = 3, .max_len = 10});
  ExtractOptions options = options_with({"animal"}, 0);
  const std::string text = long_text(13);
  const std::vector<TextInput> inputs = {{.text = text}};
  options.most_candidates = 2 * 27;  // two windows of ten words
  const Planned<TokenAnswer> planned = plan_extract(pipeline, inputs, options);
  ASSERT_EQ(planned.plan.sequences.size(), 2u);
  for (int time = 0; time < 3; ++time) run_plan(pipeline.model, planned.plan, 1000);
  EXPECT_GT(planned.finish().front().entities.size(), 4u);
}

TEST_F(Extraction, WithoutNumbersIsAnError) {
  const Pipeline& pipeline = make({.hidden_size = 12, .max_width = 3});
  const std::vector<TextInput> inputs = {{.text = kText}};
  const Planned<TokenAnswer> planned = plan_extract(pipeline, inputs, options_with({"animal"}));
  std::vector<float> logits(planned.plan.entities(0).rows);
  logits.back() = std::numeric_limits<float>::quiet_NaN();
  EXPECT_ERROR(planned.plan.take(0, logits), kNotFinite, "a logit is NaN or infinite");
}

TEST_F(Extraction, RefusesInputsAndModelsThatAreNoneForIt) {
  const Pipeline& pipeline = make({.hidden_size = 12});
  EXPECT_ERROR(extract_one(pipeline, "\xff", options_with({"x"})), kInput, "expected valid UTF-8");
  ExtractOptions options = options_with({"x"});
  options.rules.encode.max_text_bytes = 10;
  EXPECT_ERROR(extract_one(pipeline, kText, options), kTextTooLong, "expected at most 10 bytes");
  options = options_with({"x"});
  options.rules.encode.most_tokens = 5;
  EXPECT_ERROR(extract_one(pipeline, kText, options), kTextTooLong, "expected at most 5 tokens in all");
  options.rules.encode.most_tokens = 40;
  EXPECT_NO_THROW(extract_all(pipeline, {"\x07 \x07 \x07"}, options));
  EXPECT_ERROR(extract_all(pipeline, std::vector<std::string>(20, "\x07 \x07 \x07"), options), kTextTooLong,
               "expected at most 40 tokens in all");
  EXPECT_ERROR(classify(pipeline, std::vector<TextInput>{{.text = kText}}), kTask,
               "expected a sequence classification head, got entity-spans; verbs for this model: extract, embed");
  EXPECT_EQ(embed(pipeline, std::vector<TextInput>{{.text = kText}})[0].vectors.size(), 16u);
}

// ---- folders

class Folders : public testing::Test {
 protected:
  // gliner_config.json with these keys besides those of a tiny model.
  void write(const JsonObject& keys, bool has_encoder = true) {
    test::write_tiny_extractor(folder_, {.hidden_size = 16, .max_width = 2});
    const Json document = load_json(folder_.path("gliner_config.json"));
    JsonObject file;
    for (const JsonMember& member : document.as_object()) {
      const auto is_it = [&](const JsonMember& key) { return key.first == member.first; };
      if (std::ranges::none_of(keys, is_it) && (has_encoder || member.first != "encoder_config"))
        file.push_back(member);
    }
    file.insert(file.end(), keys.begin(), keys.end());
    test::write_text(folder_.path("gliner_config.json"), Json(std::move(file)).dump(1));
    size_ = static_cast<int64_t>(Tokenizer::load(folder_.path(), TokenizerKind::kFast).size());
  }
  // Gives the tokenizer these tokens; the id of <<ENT>> among them.
  int64_t label_behind(const std::vector<std::string>& tokens) {
    JsonArray added;
    for (const std::string& token : tokens) added.emplace_back(token);
    test::write_text(folder_.path("tokenizer_config.json"),
                     Json(JsonObject{{"additional_special_tokens", std::move(added)}}).dump());
    return Tokenizer::load(folder_.path(), TokenizerKind::kFast).id_of("<<ENT>>").value_or(-1);
  }
  Pipeline open() { return open_pipeline(folder_.path(), {.threads = 1}); }

  test::TemporaryFolder folder_;
  int64_t size_ = 0;  // of the tokenizer
};

TEST_F(Folders, GiveTheirMarksTheIdsBehindTheTokenizers) {
  write({});
  const Pipeline pipeline = open();
  EXPECT_EQ(pipeline.marks.label, size_ + 1) << "behind [FLERT]";
  EXPECT_EQ(pipeline.marks.text, size_ + 2);
  EXPECT_EQ(pipeline.config.vocab_size, size_ + 3);
}

TEST_F(Folders, SayWhichIdsTheirMarksHave) {
  write({});
  const int64_t label = label_behind({"<<ENT>>", "<<SEP>>"});
  const auto state = [&](int64_t index) { write({{"class_token_index", index}, {"vocab_size", size_ + 3}}); };
  state(label);
  EXPECT_ERROR(open(), kConfig, "class_token_index: expected -1, or \"<<ENT>>\" in the tokenizer, got ");
  label_behind({"<<ENT>>"});
  EXPECT_ERROR(open(), kConfig, "class_token_index: expected -1, or \"<<SEP>>\" in the tokenizer, got ");
  label_behind({"<<ENT>>", "<<SEP>>"});
  EXPECT_EQ(open().marks.label, label);
  EXPECT_EQ(open().marks.text, label + 1);
  state(label + 1);
  label_behind({"<<ENT>>", "<<SEP>>"});
  EXPECT_ERROR(open(), kConfig, ", the id of \"<<ENT>>\" in the tokenizer, got ");
}

TEST_F(Folders, WithMarksBehindTheWordTableAreRefused) {
  write({});
  const std::vector<std::string> tokens = {"<1>", "<2>", "<3>", "<<ENT>>", "<<SEP>>"};
  const int64_t label = label_behind(tokens);
  write({{"class_token_index", label}, {"vocab_size", size_ + 3}});
  label_behind(tokens);
  EXPECT_ERROR(open(), kConfig, "expected marks below vocab_size");
}

TEST_F(Folders, TakeFromTheBaseModelWhatTheyLack) {
  write({{"model_name", "none/such"}}, false);
  EXPECT_ERROR(open(), kFileNotFound,
               "expected the encoder's configuration in the folder, or those of the base model none/such");
  const test::TemporaryFolder base;
  std::filesystem::copy(folder_.path("spm.model"), base.path("spm.model"));
  ModelConfig config = test::tiny_config();
  config.vocab_size = 1234;  // the base model's own
  test::write_text(base.path("config.json"), test::to_json(config).dump());
  write({{"model_name", base.path()}}, false);
  std::filesystem::remove(folder_.path("tokenizer_config.json"));
  const Pipeline pipeline = open();
  EXPECT_EQ(pipeline.config.vocab_size, size_ + 3);
  EXPECT_GT(extract_one(pipeline, kText, options_with({"x"}, 0)).entities.size(), 0u);
  write({{"model_name", ""}}, false);
  EXPECT_ERROR(open(), kFileNotFound, "or a model_name that has them, got neither");
}

TEST_F(Folders, OfOtherEncodersAreRefused) {
  write({{"encoder_config", JsonObject{{"model_type", "bert"}, {"vocab_size", 9}}}});
  EXPECT_ERROR(open(), kConfig, "encoder_config: model_type: expected \"deberta\" or \"deberta-v2\"");
}

}  // namespace
}  // namespace deberta::extraction_test
