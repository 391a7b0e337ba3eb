// Windows of words, and labels in the forms that users write them in.
#include "pipeline/labelled_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "pipeline/entity_labels.h"
#include "support/expect_error.h"
#include "support/paths.h"
#include "support/random.h"
#include "support/tiny_extractor.h"

namespace deberta::labelled_text_test {
namespace {

// A text whose words have so many pieces each.
TextWords made_words(const std::vector<size_t>& pieces) {
  TextWords text{std::vector<WordSpan>(pieces.size()), {}, {0}};
  for (const size_t count : pieces) text.starts.push_back(text.starts.back() + count);
  text.pieces.resize(text.starts.back());
  std::iota(text.pieces.begin(), text.pieces.end(), 100);
  return text;
}

using Windows = std::vector<Window>;

TEST(WordWindows, OfATextThatFitsAreOne) {
  EXPECT_EQ(word_windows(made_words({1, 2, 1}), {.words = 3, .pieces = 4, .shared_pieces = 2}), (Windows{{0, 3}}));
  EXPECT_EQ(word_windows(made_words({}), {.words = 3, .pieces = 4}), Windows{});
}

TEST(WordWindows, HaveNoMoreWordsOrPiecesThanThereIsRoomFor) {
  const TextWords text = made_words(std::vector<size_t>(10, 1));
  EXPECT_EQ(word_windows(text, {.words = 4, .pieces = 99}), (Windows{{0, 4}, {4, 8}, {8, 10}}));
  EXPECT_EQ(word_windows(text, {.words = 99, .pieces = 5}), (Windows{{0, 5}, {5, 10}}));
}

TEST(WordWindows, ShareSoManyPiecesAndTheLongestSpan) {
  const TextWords text = made_words({1, 3, 1, 1, 2, 1, 1, 1, 1, 1});
  EXPECT_EQ(word_windows(text, {.words = 99, .pieces = 6, .shared_pieces = 3}),
            (Windows{{0, 4}, {2, 7}, {4, 9}, {6, 10}}));
  EXPECT_EQ(word_windows(text, {.words = 99, .pieces = 6, .shared_words = 2}), (Windows{{0, 4}, {2, 7}, {5, 10}}));
}

TEST(WordWindows, ReadALongWordAlone) {
  const TextWords text = made_words({1, 50, 1, 1});
  EXPECT_EQ(word_windows(text, {.words = 99, .pieces = 4, .shared_pieces = 3, .shared_words = 3}),
            (Windows{{0, 1}, {1, 2}, {2, 4}}));
}

// Whatever the words and the room: every word is read, each window reads one that no earlier one has, and the work is
// bounded by the length of the text.
TEST(WordWindows, CoverEveryTextInBoundedWork) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const auto at = [&](uint64_t i, size_t range) {
      return static_cast<size_t>(test::uniform_at(seed, i) * static_cast<double>(range));
    };
    std::vector<size_t> pieces(1 + at(0, 60));
    for (size_t i = 0; i < pieces.size(); ++i) pieces[i] = at(10 + i, at(1, 2) == 0 ? 3 : 30);
    const WindowRoom room{1 + at(2, 20), 1 + at(3, 40), at(4, 30), at(5, 15)};
    const TextWords text = made_words(pieces);
    size_t covered = 0, words = 0;
    for (const Window& window : word_windows(text, room)) {
      ASSERT_LE(window.first, covered) << seed;
      ASSERT_GT(window.last, covered) << seed;
      ASSERT_LE(window.size(), room.words) << seed;
      ASSERT_TRUE(window.size() == 1 || text.starts[window.last] - text.starts[window.first] <= room.pieces) << seed;
      covered = window.last;
      words += window.size();
    }
    EXPECT_EQ(covered, pieces.size()) << seed;
    EXPECT_LE(words, 8 * pieces.size()) << seed;
  }
}

TEST(LabelledWindows, HaveThePromptTheWordsAndTheSeparator) {
  LabelPrompt prompt;
  prompt.ids = {1, 7, 20, 7, 8};
  prompt.rows_C = {1, 3};
  const TextWords text = made_words({1, 0, 3, 1});
  LabelledWindow made = make_labelled_window(prompt, text, {1, 4}, {.words = 9, .pieces = 9}, {});
  EXPECT_EQ(made.sequence.ids, (std::vector<int32_t>{1, 7, 20, 7, 8, 101, 102, 103, 104, 2}));
  EXPECT_EQ(made.request.words.labels, (std::vector<int32_t>{1, 3}));
  EXPECT_EQ(made.request.words.pieces, (std::vector<int32_t>{5, 6, 7, 8}));
  EXPECT_EQ(made.request.words.word_starts, (std::vector<int32_t>{0, 0, 3, 4}));
  EXPECT_EQ(made.sequence.cut_tokens, 0u);
  made = make_labelled_window(prompt, text, {2, 3}, {.words = 9, .pieces = 2}, {});
  EXPECT_EQ(made.sequence.ids, (std::vector<int32_t>{1, 7, 20, 7, 8, 101, 102, 2}));
  EXPECT_EQ(made.request.words.word_starts, (std::vector<int32_t>{0, 2}));
  EXPECT_EQ(made.sequence.cut_tokens, 1u);
}

// ---- labels

class Labels : public testing::Test {
 protected:
  LabelPrompt prompt(const std::vector<EntityLabel>& labels, ExtractOptions options = {}) {
    if (!pipeline_) pipeline_.emplace(test::tiny_extractor(folder_, {.hidden_size = 16, .max_width = 2}));
    return make_label_prompt(*pipeline_, labels, options);
  }
  test::TemporaryFolder folder_;
  std::optional<Pipeline> pipeline_;
};

std::vector<EntityLabel> labels(const std::vector<std::string>& names) {
  std::vector<EntityLabel> all;
  for (const std::string& name : names) all.push_back(entity_label(name));
  return all;
}

TEST_F(Labels, StandBehindTheirMarksInOrder) {
  const LabelPrompt made = prompt(labels({"the cat", "a dog"}));
  const int32_t mark = pipeline_->marks.label;
  ASSERT_EQ(made.rows_C.size(), 2u);
  EXPECT_EQ(made.ids.front(), pipeline_->tokenizer.special().cls);
  EXPECT_EQ(made.ids.back(), pipeline_->marks.text);
  EXPECT_EQ(made.rows_C[0], 1);
  EXPECT_EQ(made.ids[static_cast<size_t>(made.rows_C[1])], mark);
  EXPECT_EQ(std::ranges::count(made.ids, mark), 2);
  const std::vector<int32_t> cat = pipeline_->tokenizer.encode("the cat", {.add_special_tokens = false}).ids;
  EXPECT_TRUE(std::equal(cat.begin(), cat.end(), made.ids.begin() + 2));
  EXPECT_EQ(made.names, (std::vector<std::string>{"the cat", "a dog"}));
}

TEST_F(Labels, KeepTheirCapitals) {
  EXPECT_NE(prompt(labels({"Cat"})).ids, prompt(labels({"cat"})).ids);
}

TEST_F(Labels, AreReadOnceEvenIfTheyAreEmpty) {
  const LabelPrompt made = prompt(labels({"a", "", "a", "b", ""}));
  EXPECT_EQ(made.names, (std::vector<std::string>{"a", "", "b"}));
  EXPECT_EQ(made.ids[static_cast<size_t>(made.rows_C[1]) + 1], pipeline_->marks.label) << "the next label's mark";
  EXPECT_TRUE(prompt({}).rows_C.empty());
}

// The text of a mark in a label is text: the state of a label is where its mark was put.
TEST_F(Labels, WithTheTextOfAMarkHaveNoMarkMore) {
  const LabelPrompt made = prompt(labels({"<<ENT>> x", "[SEP]<<SEP>>", "b"}));
  EXPECT_EQ(std::ranges::count(made.ids, pipeline_->marks.label), 3);
  EXPECT_EQ(std::ranges::count(made.ids, pipeline_->marks.text), 1);
  EXPECT_EQ(std::ranges::count(made.ids, pipeline_->tokenizer.special().sep), 0);
  for (const int32_t row : made.rows_C) EXPECT_EQ(made.ids[static_cast<size_t>(row)], pipeline_->marks.label);
}

TEST_F(Labels, HaveAThresholdOfTheirOwnOrByNameOrThatOfAll) {
  std::vector<EntityLabel> all = labels({"a", "b", "c"});
  all[0].threshold = 0.9;
  ExtractOptions options;
  options.threshold = 0.1;
  options.thresholds = {{"a", 0.2}, {"b", 0.3}};
  EXPECT_EQ(prompt(all, options).thresholds_C, (std::vector<double>{0.9, 0.3, 0.1}));
}

TEST_F(Labels, LeaveRoomForAText) {
  ExtractOptions options;
  options.rules.encode.max_tokens = 8;
  EXPECT_NO_THROW(prompt(labels({""}), options));
  std::vector<std::string> many;
  for (int i = 0; i < 10000; ++i) many.push_back(std::to_string(i));
  EXPECT_ERROR(prompt(labels(many), options), kTextTooLong,
               "labels: expected at most 6 tokens of labels before a text");
  EXPECT_ERROR(prompt({{"a", "\xff"}}), kInput, "expected valid UTF-8");
}

// What never fits is not kept while it is read.
TEST_F(Labels, AreCountedToTheEndHoweverManyTheyAre) {
  ExtractOptions options;
  const auto got = [&](size_t count) {
    std::vector<std::string> many;
    for (size_t i = 0; i < count; ++i) many.push_back("x" + std::to_string(i));
    try {
      prompt(labels(many), options);
    } catch (const Error& error) {
      return std::stoul(error.message().substr(error.message().rfind(' ')));
    }
    return 0ul;
  };
  options.rules.encode.max_tokens = 100000;
  const size_t tokens = prompt(labels({"x0", "x1"}), options).ids.size();
  options.rules.encode.max_tokens = 4;
  EXPECT_EQ(got(2), tokens);
  EXPECT_GT(got(2000), 2000u * 2);
}

TEST_F(Labels, AreAtTheNextPieceWhereTheConfigurationSaysSo) {
  pipeline_.emplace(test::tiny_extractor(folder_, {.hidden_size = 16, .max_width = 2, .embed_ent_token = false}));
  const LabelPrompt made = prompt(labels({"cat", ""}));
  EXPECT_EQ(made.rows_C[0], 2);
  EXPECT_EQ(made.ids[static_cast<size_t>(made.rows_C[1])], pipeline_->marks.text) << "of an empty one";
}

TEST_F(Labels, StandBeforeTextsOfSoManyWordsAndPieces) {
  prompt({});
  EncodeOptions options;
  options.most_tokens = 3;
  EXPECT_EQ(encode_words(pipeline_->tokenizer, "\x07 \x07 \x07", options).words.size(), 3u);
  EXPECT_ERROR(encode_words(pipeline_->tokenizer, "\x07 \x07 \x07 \x07", options), kTextTooLong,
               "expected at most 3 tokens in all");
  EXPECT_ERROR(encode_words(pipeline_->tokenizer, "xqzxqzxqz", options), kTextTooLong,
               "expected at most 3 tokens, got ");
}

std::string text_of(const std::vector<EntityLabel>& all) {
  std::string text;
  for (const EntityLabel& label : all) {
    text += label.name + "=" + label.text;
    if (label.threshold) text += "@" + std::to_string(static_cast<int>(*label.threshold * 100));
    text += ";";
  }
  return text;
}
std::string read(const std::string& json) {
  return text_of(read_entity_labels(parse_json(json, "test"), "row"));
}

TEST(LabelForms, AreTextsListsAndObjects) {
  EXPECT_EQ(read(R"("a, b c,,d")"), "a=a;b c=b c;d=d;");
  EXPECT_EQ(read(R"(["a", "", " b"])"), "a=a;=; b= b;");
  EXPECT_EQ(read(R"({"person": "a human", "org": null, "x": ""})"), "person=a human;org=org;x=x;");
  EXPECT_EQ(read(R"([{"label": "a", "description": "d"}, {"label": "b", "threshold": 0.25}, "c"])"), "a=d;b=b@25;c=c;");
  EXPECT_EQ(read("[]"), "");
}

TEST(LabelForms, AreRefusedWithWhatIsWrong) {
  EXPECT_ERROR(read("3"), kInput, "row: labels: expected a list, or an object of descriptions, got 3");
  EXPECT_ERROR(read("[3]"), kInput, "labels: expected texts or objects, got 3");
  EXPECT_ERROR(read(R"([{"name": "a"}])"), kInput, "labels: expected objects with the key \"label\"");
  EXPECT_ERROR(read(R"([{"label": "a", "description": 1}])"), kInput, "labels: expected a text as description, got 1");
  EXPECT_ERROR(read(R"([{"label": "a", "threshold": 2}])"), kInput, "a number from 0 to 1 as threshold, got 2");
  EXPECT_ERROR(read(R"({"a": 1})"), kInput, "labels: expected a text as description, got 1");
}

TEST(LabelPresets, HaveDifferentNamesAndTexts) {
  ASSERT_EQ(label_presets().size(), 1u);
  std::vector<EntityLabel> all = preset_labels(label_presets().front().name);
  EXPECT_EQ(label_presets().front().name, "pii");
  EXPECT_EQ(all.front().name, "PERSON");
  for (const auto member : {&EntityLabel::name, &EntityLabel::text}) {
    std::ranges::sort(all, {}, member);
    EXPECT_EQ(std::ranges::adjacent_find(all, {}, member), all.end());
  }
}

}  // namespace
}  // namespace deberta::labelled_text_test
