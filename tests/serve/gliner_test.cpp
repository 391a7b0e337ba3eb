// Entities by labels of the request's own: bodies and answers in the forms of each family, and what they may take.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "pipeline/entity_labels.h"
#include "serve/answering.h"
#include "serve/api_error.h"
#include "serve/extraction.h"
#include "support/tiny_extractor.h"

namespace deberta::serve::gliner_test {
namespace {

using Route = Answering (*)(const ServedModel& model, Body& body);

constexpr size_t kMostItems = 8;

class Gliner : public testing::Test {
 protected:
  Answering ask(Route route, const std::string& text) const {
    const Json json = parse_json(text, "body");
    Body body(json);
    Answering reply = route(model_, body);
    EXPECT_TRUE(body.unknown().empty()) << body.unknown().front();
    return reply;
  }

  std::string write(const Answering& reply) const {
    if (reply.plan != nullptr) run_plan(model_.pipeline.model, *reply.plan, 1000);
    HttpResponse response = reply.respond();
    std::string text = std::move(response.body);
    for (std::string piece; response.pieces && !(piece = response.pieces()).empty();) text += piece;
    return text;
  }
  Json answer(Route route, const std::string& text) const {
    return parse_json(write(ask(route, text)), "answer", {.max_bytes = size_t{64} << 20});
  }

  // The message and the code of a refusal.
  std::string refusal(Route route, const std::string& text) const {
    try {
      ask(route, text);
    } catch (const ApiError& error) {
      return std::string(info_of(error.code).name) + " " + error.field + " " + error.message;
    }
    return "";
  }

  const test::TemporaryFolder folder_;
  const ServedModel model_{.name = "m",
                           .path = folder_.path(),
                           .pipeline = test::tiny_extractor(folder_, {.hidden_size = 12, .max_width = 3}),
                           .max_input_length = 512,
                           .max_client_batch = kMostItems};
};

std::vector<TokenAnswer> extracted(const ServedModel& model, const std::vector<std::string>& texts,
                                   const std::vector<std::string>& names, double threshold, bool is_nested = false) {
  std::vector<TextInput> inputs;
  for (const std::string& text : texts) inputs.push_back({.text = text});
  ExtractOptions options;
  for (const std::string& name : names) options.labels.push_back(entity_label(name));
  options.threshold = threshold;
  options.is_nested = is_nested;
  return extract(model.pipeline, inputs, options);
}

Json written(const std::vector<Entity>& entities, const std::string& text) {
  JsonArray all;
  for (const Entity& entity : entities)
    all.push_back(JsonObject{{"start", int64_t{entity.chars.begin}},
                             {"end", int64_t{entity.chars.end}},
                             {"text", text.substr(entity.bytes.begin, entity.bytes.end - entity.bytes.begin)},
                             {"label", entity.label},
                             {"score", entity.score}});
  return JsonObject{{"entities", std::move(all)}};
}

void expect_begin(const std::string& text, const std::string& begin) {
  EXPECT_EQ(text.substr(0, begin.size()), begin);
}

constexpr const char* kText = "h\u00e9 Ada met a cat";

// ---- POST /gliner

TEST_F(Gliner, AnswersWithTheBitsOfTheLibrary) {
  const std::string text = kText, labels = R"("labels": ["person", "place"], "threshold": 0)";
  const std::vector<TokenAnswer> expected = extracted(model_, {text, "a dog"}, {"person", "place"}, 0);
  ASSERT_FALSE(expected[0].entities.empty());
  EXPECT_EQ(write(ask(gliner::entities, "{\"text\": \"" + text + "\", " + labels + "}")),
            written(expected[0].entities, text).dump());
  EXPECT_EQ(write(ask(gliner::entities, "{\"texts\": [\"" + text + "\", \"a dog\"], " + labels + "}")),
            Json(JsonArray{written(expected[0].entities, text), written(expected[1].entities, "a dog")}).dump());
  EXPECT_EQ(write(ask(gliner::entities, R"({"text": "", "labels": ["x"]})")), R"({"entities": []})");
  EXPECT_EQ(write(ask(gliner::entities, R"({"text": "a cat", "labels": []})")), R"({"entities": []})");
}

TEST_F(Gliner, HasTheDefaultsOfThePackage) {
  const std::string text = kText;
  const auto own = [&](const std::string& more) {
    return write(ask(gliner::entities, "{\"text\": \"" + text + "\", \"labels\": [\"a\", \"b\"]" + more + "}"));
  };
  EXPECT_EQ(own(""), own(R"(, "threshold": 0.5, "flat_ner": true, "multi_label": false)"));
  EXPECT_EQ(own(""), own(R"(, "threshold": null, "flat_ner": null, "multi_label": null)"));
  EXPECT_NE(own(R"(, "threshold": 0)"), own(R"(, "threshold": 0, "flat_ner": false)"));
  EXPECT_NE(own(R"(, "threshold": 0)"), own(R"(, "threshold": 0, "multi_label": true)"));
  EXPECT_EQ(own(R"(, "threshold": 0, "flat_ner": false)"),
            written(extracted(model_, {text}, {"a", "b"}, 0, true)[0].entities, text).dump());
}

TEST_F(Gliner, ReadsLongTextsToTheirEnd) {
  std::string text;
  for (int i = 0; i < 900; ++i) text += i == 0 ? "word" : " word";
  const Answering reply = ask(gliner::entities, "{\"text\": \"" + text + "\", \"labels\": [\"x\"], \"threshold\": 0}");
  EXPECT_GT(reply.plan->sequences.size(), 1u);
  EXPECT_EQ(reply.cut_tokens, 0u);
  const Json found = parse_json(write(reply), "answer", {.max_bytes = size_t{64} << 20});
  EXPECT_EQ(found.find("entities")->as_array().back().find("end")->as_integer(), static_cast<int64_t>(text.size()));
}

TEST_F(Gliner, TakesDescriptionsAndLabelsOfEachText) {
  const auto labels = [&](const std::string& json) {
    std::set<std::string> names;
    const Json found =
        answer(gliner::entities, R"({"texts": ["a cat", "a dog"], "threshold": 0, "labels": )" + json + "}");
    for (const Json& one : found.as_array()) {
      for (const Json& entity : one.find("entities")->as_array()) names.insert(entity.find("label")->as_string());
    }
    std::string all;
    for (const std::string& name : names) all += name + " ";
    return all;
  };
  EXPECT_EQ(labels(R"({"animal": "a cat or a dog"})"), "animal ");
  EXPECT_EQ(labels(R"({"animal": null})"), "animal ");
  EXPECT_EQ(labels(R"([["x"], {"y": "z"}])"), "x y ");
  EXPECT_EQ(labels(R"([[], ["y"]])"), "y ");
  const auto first = [&](const std::string& json) {
    return answer(gliner::entities, R"({"text": "a cat", "threshold": 0, "labels": )" + json + "}")
        .find("entities")
        ->as_array()[0]
        .find("score")
        ->dump();
  };
  EXPECT_EQ(first(R"({"animal": "a dog"})"), first(R"(["a dog"])")) << "the description is what the model reads";
  EXPECT_EQ(first(R"({"animal": null})"), first(R"(["animal"])"));
}

TEST_F(Gliner, AddsTheLabelsOfASet) {
  const auto names = [&](const std::string& more) {
    std::set<std::string> all;
    const std::string body = R"({"text": "a b c d e f g h i j", "threshold": 0, "multi_label": true, )" + more + "}";
    const Json found = answer(gliner::entities, body);
    for (const Json& entity : found.find("entities")->as_array()) all.insert(entity.find("label")->as_string());
    return all;
  };
  std::set<std::string> preset;
  for (const EntityLabel& label : preset_labels(label_presets().front().name)) preset.insert(label.name);
  EXPECT_EQ(names(R"("preset": "pii")"), preset);
  std::set<std::string> both = preset;
  both.insert("x");
  EXPECT_EQ(names(R"("preset": "PII", "labels": ["x"])"), both);
  for (const std::string_view word : words_of(field::kPreset))
    EXPECT_NE(std::ranges::find(label_presets(), word, &LabelPreset::name), label_presets().end()) << word;
  EXPECT_EQ(words_of(field::kPreset).size(), label_presets().size());
}

TEST_F(Gliner, RefusesWithThePlaceThatIsWrong) {
  const auto says = [&](const std::string& body) { return refusal(gliner::entities, "{" + body + "}"); };
  EXPECT_EQ(says(R"("labels": ["a"])"), "validation /text /text: expected a value, got none");
  EXPECT_EQ(says(R"("text": "a", "texts": ["a"], "labels": ["a"])"),
            "validation /texts /texts: expected either text or texts, got both");
  EXPECT_EQ(says(R"("text": "a")"), "validation /labels /labels: expected a value, got none");
  EXPECT_EQ(says(R"("texts": "a", "labels": ["a"])"),
            "validation /texts /texts: expected an array of strings, got \"a\" (string)");
  EXPECT_EQ(says(R"("texts": [], "labels": ["a"])"), "empty_input /texts /texts: expected at least one, got none");
  expect_begin(says(R"("text": "a", "labels": "a")"), "validation /labels /labels: expected a list");
  EXPECT_EQ(says(R"("text": "a", "labels": ["a", 3])"),
            "validation /labels/1 /labels/1: expected a string, got 3 (integer)");
  EXPECT_EQ(says(R"("text": "a", "labels": {"a": 3})"),
            "validation /labels/a /labels/a: expected a string, got 3 (integer)");
  EXPECT_EQ(says(R"("text": "a", "labels": [["a"], ["b"]])"),
            "validation /labels /labels: expected labels for each of 1 texts, got 2");
  expect_begin(says(R"("texts": ["a", "b"], "labels": [["a"], "b"])"),
               "validation /labels/1 /labels/1: expected a list");
  expect_begin(says(R"("text": "a", "labels": ["a"], "threshold": 2)"), "validation /threshold /threshold: expected");
  EXPECT_EQ(says(R"("text": "a", "labels": ["a"], "preset": "x")"),
            "validation /preset /preset: expected pii, got \"x\"");
  expect_begin(says(R"("text": "a", "labels": ["a"], "adapter_id": "x")"), "validation /adapter_id /adapter_id:");
}

TEST_F(Gliner, BoundsLabelsAndTexts) {
  const auto says = [&](const std::string& body) { return refusal(gliner::entities, "{" + body + "}"); };
  const auto list = [](size_t count, const std::string& item) {
    std::string all;
    for (size_t i = 0; i < count; ++i) all += (i == 0 ? "" : ", ") + item;
    return "[" + all + "]";
  };
  EXPECT_EQ(says("\"text\": \"a\", \"labels\": " + list(kMostItems, "\"x\"")), "");
  EXPECT_EQ(says("\"text\": \"a\", \"labels\": " + list(kMostItems + 1, "\"x\"")),
            "batch_too_large /labels /labels: expected at most 8, got 9");
  EXPECT_EQ(says("\"text\": \"a\", \"labels\": [" + list(kMostItems + 1, "\"x\"") + "]"),
            "batch_too_large /labels/0 /labels/0: expected at most 8, got 9");
  EXPECT_EQ(says("\"labels\": [\"x\"], \"texts\": " + list(kMostItems + 1, "\"a\"")),
            "batch_too_large /texts /texts: expected at most 8, got 9");
  const std::string most(kMostLabelBytes, 'x');
  EXPECT_EQ(says("\"text\": \"a\", \"labels\": [\"" + most + "\"]").find("bytes"), std::string::npos);
  EXPECT_EQ(says("\"text\": \"a\", \"labels\": [\"" + most + "x\"]"),
            "validation /labels/0 /labels/0: expected at most 1024 bytes, got 1025");
  EXPECT_EQ(says("\"text\": \"a\", \"labels\": {\"x\": \"" + most + "x\"}"),
            "validation /labels/x /labels/x: expected at most 1024 bytes, got 1025");
}

TEST_F(Gliner, SaysWhichLabelsLeaveNoRoom) {
  std::string words;
  for (int i = 0; i < 512; ++i) words += "w ";
  expect_begin(refusal(gliner::entities, "{\"text\": \"a\", \"labels\": [\"x\", \"" + words + "\"]}"),
               "validation /labels /labels: expected at most 510 tokens of labels before a text, got ");
  expect_begin(refusal(gliner::entities, R"({"texts": ["a", "b"], "labels": [["x"], [")" + words + "\"]]}"),
               "validation /labels/1 /labels/1: expected at most 510 tokens of labels");
}

// Spans above the threshold are bounded as long as a request runs: nobody keeps them in mind by a low threshold.
TEST_F(Gliner, KeepsNoMoreThanItsEntities) {
  const Json json = parse_json(R"({"threshold": 0})", "body");
  Body body(json);
  EXPECT_EQ(extract_options(model_, body, field::kFlatNer).most_candidates, kMostKeptSpans);
}

TEST_F(Gliner, CountsNoLessThanItsAnswers) {
  std::string texts;
  for (int i = 0; i < 8; ++i) texts += std::string(i == 0 ? "" : ", ") + "\"one [A_1] two, three [B_2] four five\"";
  const std::string many = "\"texts\": [" + texts + "], \"labels\": [\"a label\", \"b\", \"c\"], \"threshold\": 0";
  for (const char* more : {"", R"(, "flat_ner": false)", R"(, "multi_label": true)", R"(, "redact": true)",
                           R"(, "flat_ner": false, "multi_label": true, "redact": true)"}) {
    const Answering reply = ask(gliner::entities, "{" + many + more + "}");
    EXPECT_EQ(reply.items, 8u);
    EXPECT_LE(write(reply).size(), reply.answer_bytes) << more;
    EXPECT_GT(reply.plan_bytes, reply.tokens * kHeldTokenBytes) << "labels and spans too";
  }
  for (const char* more : {"", R"(, "flat_ner": true)", R"(, "multi_label": true)"}) {
    const std::string body = R"({"text": "one two , three four five", "threshold": 0, "chunk_length": 9)";
    const Answering reply = ask(gliner::extract, body + more + "}");
    EXPECT_LE(write(reply).size(), reply.answer_bytes) << more;
  }
}

// ---- redaction, and back

TEST_F(Gliner, RedactsAndRestores) {
  const std::string texts = R"(["Ada met a cat .", "the [X_1] of Ada", ""])";
  const Json redacted =
      answer(gliner::entities, R"({"labels": ["x", "y"], "threshold": 0, "redact": true, "texts": )" + texts + "}");
  JsonObject map;
  JsonArray without;
  std::set<std::string> there;
  for (const Json& one : redacted.as_array()) {
    without.push_back(*one.find("redacted_text"));
    for (const JsonMember& member : one.find("map")->as_object()) {
      EXPECT_NE(without.back().as_string().find(member.first), std::string::npos) << member.first;
      if (there.insert(member.first).second) map.push_back(member);
    }
  }
  EXPECT_EQ(without[0].as_string().find("Ada"), std::string::npos);
  EXPECT_EQ(without[2].as_string(), "");
  const JsonObject body{{"texts", std::move(without)}, {"map", std::move(map)}};
  JsonArray expected;
  const Json originals = parse_json(texts, "texts");
  for (const Json& text : originals.as_array()) expected.push_back(JsonObject{{"text", text}});
  const Answering reply = ask(gliner::restore, Json(body).dump());
  const std::string restored = write(reply);
  EXPECT_EQ(restored, Json(std::move(expected)).dump());
  EXPECT_LE(restored.size(), reply.answer_bytes);
  EXPECT_EQ(write(ask(gliner::restore, R"({"text": "[A_1] [B_1]", "map": {"[A_1]": "\u00e9\n"}})")),
            "{\"text\": \"\u00e9\\n [B_1]\"}");
}

TEST_F(Gliner, DifferentEntitiesOfARequestHaveDifferentPlaceholders) {
  const std::string one_word_each =
      R"({"labels": ["x"], "threshold": 0, "redact": true, "texts": ["Ada", "Bob", "Ada"]})";
  const Json redacted = answer(gliner::entities, one_word_each);
  std::vector<std::string> texts;
  for (const Json& one : redacted.as_array()) texts.push_back(one.find("redacted_text")->as_string());
  EXPECT_EQ(texts, (std::vector<std::string>{"[X_1]", "[X_2]", "[X_1]"}));
}

TEST_F(Gliner, RestoredTextsAreCountedBeforeTheyAreMade) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "[A_1]";
  const std::string entity(1000, 'x'), controls = "\\u0001\\u0001\\u0001";
  const Answering reply =
      ask(gliner::restore, "{\"text\": \"" + text + "\", \"map\": {\"[A_1]\": \"" + entity + "\"}}");
  EXPECT_GE(reply.answer_bytes, 1000000u);
  EXPECT_GE(*reply.held_bytes, 2 * reply.answer_bytes);
  const Answering escaped =
      ask(gliner::restore, "{\"text\": \"" + text + "\", \"map\": {\"[A_1]\": \"" + controls + "\"}}");
  EXPECT_GE(escaped.answer_bytes, 18000u) << "six bytes for each character";
  EXPECT_EQ(refusal(gliner::restore, R"({"text": "a", "map": {"[A_1]": 3}})"),
            "validation /map/[A_1] /map/[A_1]: expected a string, got 3 (integer)");
  expect_begin(refusal(gliner::restore, R"({"text": "a", "map": []})"), "validation /map /map: expected an object, ");
}

// ---- POST /v1/extract

TEST_F(Gliner, ReadsChunksAsTextsOfTheirOwn) {
  const std::string text = "h\u00e9 Ada met a cat and Ada sang";
  const Json found = answer(gliner::extract, "{\"text\": \"" + text + R"(", "labels": ["x"], "threshold": 0,
                                             "chunk_length": 12, "overlap": 4, "flat_ner": true})");
  EXPECT_EQ(found.find("total_entities")->as_integer(),
            static_cast<int64_t>(found.find("entities")->as_array().size()));
  std::string tagged;
  size_t code_points = 0, at = 0;
  const auto skip_to = [&](int64_t place) {
    for (; code_points < static_cast<size_t>(place); ++code_points) {
      do {
        tagged += text[at++];
      } while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80);
    }
  };
  int64_t end = 0;
  for (const Json& entity : found.find("entities")->as_array()) {
    const int64_t begin = entity.find("start_position")->as_integer();
    if (begin < end) continue;
    skip_to(begin);
    const size_t from = tagged.size();
    end = entity.find("end_position")->as_integer();
    skip_to(end);
    EXPECT_EQ(tagged.substr(from), entity.find("value")->as_string());
    tagged =
        tagged.substr(0, from) + "[" + tagged.substr(from) + "](" + entity.find("suggested_label")->as_string() + ")";
  }
  tagged += text.substr(at);
  EXPECT_EQ(found.find("tagged_text")->as_string(), tagged);
  EXPECT_GT(end, 20) << "entities of the last chunk";
}

TEST_F(Gliner, OfAChunkThatHoldsTheTextAreTheEntitiesOfTheText) {
  const std::string text = kText;
  const Json found = answer(gliner::extract, "{\"text\": \"" + text + R"(", "labels": ["x", "y"], "threshold": 0,
                                             "flat_ner": true})");
  const std::vector<Entity> expected = extracted(model_, {text}, {"x", "y"}, 0)[0].entities;
  ASSERT_EQ(found.find("entities")->as_array().size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    const Json& entity = found.find("entities")->as_array()[i];
    EXPECT_EQ(entity.find("suggested_label")->as_string(), expected[i].label);
    EXPECT_EQ(entity.find("start_position")->as_integer(), int64_t{expected[i].chars.begin});
    EXPECT_EQ(static_cast<float>(entity.find("score")->as_number()), expected[i].score);
  }
}

TEST_F(Gliner, AsksForPersonalDataWhereARequestNamesNothing) {
  std::set<std::string> preset;
  for (const EntityLabel& label : preset_labels(label_presets().front().name)) preset.insert(label.name);
  for (const char* labels : {"", R"(, "labels": null)", R"(, "labels": [])"}) {
    const Json found =
        answer(gliner::extract, std::string(R"({"text": "Ada met a cat", "threshold": 0)") + labels + "}");
    const JsonArray& entities = found.find("entities")->as_array();
    EXPECT_FALSE(entities.empty());
    for (const Json& entity : entities)
      EXPECT_TRUE(preset.contains(entity.find("suggested_label")->as_string())) << labels;
  }
}

TEST_F(Gliner, BoundsChunks) {
  const auto says = [&](const std::string& more) {
    return refusal(gliner::extract, R"({"labels": ["x"], )" + more + "}");
  };
  EXPECT_EQ(says(R"("text": "abcdefgh", "chunk_length": 1)"), "");
  EXPECT_EQ(says(R"("text": "abcdefghi", "chunk_length": 1)"),
            "batch_too_large /text /text: expected at most 8 chunks, got 9; a larger chunk_length makes fewer");
  EXPECT_EQ(says(R"("text": "abc", "chunk_length": 4, "overlap": 4)"),
            "validation /overlap /overlap: expected less than 4, the chunk_length, got 4");
  expect_begin(says(R"("text": "abc", "chunk_length": 0)"), "validation /chunk_length /chunk_length: expected");
  EXPECT_EQ(says(R"("text": "abc", "chunk_length": 100)"), "") << "without an overlap a third of it";
  EXPECT_EQ(says(R"("texts": ["abc"])"), "validation /texts /texts: unknown field; did you mean text?");
}

// ---- the hub's form

TEST_F(Gliner, IsATaskOfTheModelsOwn) {
  EXPECT_EQ(hub::own_task(model_), "entity-extraction");
  const std::string text = kText;
  const Json found = answer(hub::find_task("entity-extraction", ""), "{\"inputs\": [\"" + text + R"("],
      "parameters": {"candidate_labels": ["x", "y"], "threshold": 0, "offsets": "bytes"}})");
  const std::vector<Entity> expected = extracted(model_, {text}, {"x", "y"}, 0)[0].entities;
  const JsonArray& entities = found.as_array()[0].as_array();
  ASSERT_EQ(entities.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(entities[i].find("entity_group")->as_string(), expected[i].label);
    EXPECT_EQ(entities[i].find("start")->as_integer(), int64_t{expected[i].bytes.begin});
  }
  EXPECT_EQ(refusal(hub::find_task("entity-extraction", ""), R"({"inputs": "a"})"),
            "validation /parameters/candidate_labels /parameters/candidate_labels: expected a value, got none");
}

}  // namespace
}  // namespace deberta::serve::gliner_test
