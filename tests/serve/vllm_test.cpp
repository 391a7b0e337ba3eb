// Pairs scored and texts classified for the clients of vLLM and infinity: the library's answers in their words.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "serve/answering.h"
#include "serve/api_error.h"
#include "support/tiny_pipeline.h"

namespace deberta::serve::vllm_test {
namespace {

class Vllm : public testing::Test {
 protected:
  static ServedModel served(const test::TemporaryFolder& folder, std::vector<std::string> labels) {
    const auto classes = static_cast<int64_t>(labels.size());
    return {.name = "m",
            .path = folder.path(),
            .pipeline = test::tiny_pipeline(folder, Head::kSequence, std::move(labels), classes),
            .max_input_length = 20,
            .max_client_batch = 4};
  }
  const test::TemporaryFolder one_folder_, three_folder_;
  const ServedModel one_ = served(one_folder_, {"fit"});
  const ServedModel three_ = served(three_folder_, {"bad", "fair", "good"});

  using Route = Answering (*)(const ServedModel& model, Body& body);
  static Answering plan(const ServedModel& model, Route route, const std::string& text) {
    const Json json = parse_json(text, "body");
    Body body(json);
    Answering reply = route(model, body);
    EXPECT_EQ(body.unknown(), std::vector<std::string>{});
    return reply;
  }
  static Json ask(const ServedModel& model, Route route, const std::string& text) {
    const Answering reply = plan(model, route, text);
    run_plan(model.pipeline.model, *reply.plan, 100);
    const std::string answer = reply.respond().body;
    EXPECT_LE(answer.size(), reply.answer_bytes) << text;
    return parse_json(answer, "answer");
  }
  static std::vector<float> scores(const Json& answer) {
    std::vector<float> all;
    for (const Json& item : answer.find("data")->as_array()) {
      EXPECT_EQ(item.find("index")->as_integer(), static_cast<int64_t>(all.size()));
      all.push_back(static_cast<float>(item.find("score")->as_number()));
    }
    return all;
  }
  std::vector<float> score(const std::string& text) const { return scores(ask(one_, vllm::score, text)); }
  static std::string refusal(const ServedModel& model, Route route, const std::string& text) {
    try {
      plan(model, route, text);
    } catch (const ApiError& error) {
      return error.message;
    }
    return "none";
  }
  std::string refusal(const std::string& text) const { return refusal(one_, vllm::score, text); }
  float expected(const std::string& first, const std::string& second,
                 std::optional<ScoreFunction> function = std::nullopt) const {
    RankOptions options;
    options.function = function;
    const std::vector<std::string> items{second};
    const TextInput input{.text = first, .items = items};
    return rerank(one_.pipeline, {&input, 1}, options).at(0).documents.at(0).score;
  }
};

TEST_F(Vllm, ScoresOneTextWithEachOfTheOthers) {
  const std::vector<float> wanted{expected("a", "one"), expected("a", "two of them"), expected("a", "so")};
  EXPECT_EQ(score(R"({"text_1": "a", "text_2": ["one", "two of them", "so"]})"), wanted);
  EXPECT_EQ(score(R"({"text_1": ["a"], "text_2": ["one", "two of them", "so"]})"), wanted);
  EXPECT_EQ(score(R"({"text_1": "a", "text_2": ["so", "two of them", "one"]})"),
            (std::vector<float>{wanted[2], wanted[1], wanted[0]}))
      << "in the order of the pairs, whichever is best";
  EXPECT_EQ(score(R"({"text_1": "a", "text_2": "one"})"), std::vector<float>{wanted[0]});
}

TEST_F(Vllm, ScoresEachTextWithItsOwn) {
  const std::vector<float> wanted{expected("a", "one"), expected("b c", "two of them"), expected("d", "so")};
  EXPECT_EQ(score(R"({"text_1": ["a", "b c", "d"], "text_2": ["one", "two of them", "so"]})"), wanted);
}

TEST_F(Vllm, KnowsTheNamesThatFieldsHaveHad) {
  const std::vector<float> wanted{expected("a", "one")};
  for (const char* names : {R"("queries": "a", "documents": ["one"])", R"("queries": ["a"], "items": "one")",
                            R"("data_1": "a", "data_2": "one", "text_1": null, "model": "x", "user": "y")"})
    EXPECT_EQ(score(std::string("{") + names + "}"), wanted) << names;
}

TEST_F(Vllm, ScoresAreLogitsWithoutTheActivation) {
  const float logit = expected("a", "one", ScoreFunction::kNone);
  EXPECT_EQ(score(R"({"text_1": "a", "text_2": "one", "use_activation": false})"), std::vector<float>{logit});
  EXPECT_EQ(score(R"({"text_1": "a", "text_2": "one", "use_activation": true})"),
            std::vector<float>{expected("a", "one")});
  EXPECT_EQ(refusal(R"({"text_1": "a", "text_2": "one", "activation": false})"),
            "/activation: expected use_activation, which has replaced it");
}

TEST_F(Vllm, AnswersAsItsServerDoes) {
  const Answering reply = plan(one_, vllm::score, R"({"text_1": "a", "text_2": ["one", "two"]})");
  EXPECT_EQ(reply.items, 2u);
  EXPECT_EQ(reply.characters, 7u);
  const Json answer = ask(one_, vllm::score, R"({"text_1": "a", "text_2": ["one", "two"]})");
  EXPECT_TRUE(answer.find("id")->as_string().starts_with("score-"));
  EXPECT_EQ(answer.find("object")->as_string(), "list");
  EXPECT_GT(answer.find("created")->as_integer(), 1700000000);
  EXPECT_EQ(answer.find("model")->as_string(), "m");
  EXPECT_EQ(answer.find("data")->as_array()[1].find("object")->as_string(), "score");
  const std::string tokens = std::to_string(reply.tokens);
  EXPECT_EQ(answer.find("usage")->dump(), R"({"prompt_tokens": )" + tokens + R"(, "total_tokens": )" + tokens +
                                              R"(, "completion_tokens": 0, "prompt_tokens_details": null})");
}

TEST_F(Vllm, FieldsThatMakeNoPairsAreRefused) {
  EXPECT_EQ(refusal("{}"), "/text_1: expected a value, got none");
  EXPECT_EQ(refusal(R"({"text_1": "a"})"), "/text_2: expected a value, got none");
  EXPECT_EQ(refusal(R"({"items": "a"})"), "/queries: expected a value, got none");
  EXPECT_EQ(refusal(R"({"text_1": "a", "text_2": "b", "items": "c"})"),
            "/items: expected one pair of fields, such as text_1 and text_2, got text_1, text_2, items");
  EXPECT_EQ(refusal(R"({"text_1": "a", "data_2": "b"})"),
            "/data_2: expected one pair of fields, such as text_1 and text_2, got text_1, data_2");
  EXPECT_EQ(refusal(R"({"text_1": ["a", "b"], "text_2": ["c"]})"),
            "/text_1: expected one text, or as many as text_2 has, which is 1, got 2");
  EXPECT_EQ(refusal(R"({"text_1": ["a", "b"], "text_2": ["c", "d", "e"]})"),
            "/text_1: expected one text, or as many as text_2 has, which is 3, got 2");
  EXPECT_EQ(refusal(R"({"text_1": "a", "text_2": []})"), "/text_2: expected at least one, got none");
  EXPECT_EQ(refusal(R"({"text_1": "a", "text_2": ["b", "c", "d", "e", "f"]})"), "/text_2: expected at most 4, got 5");
  EXPECT_EQ(refusal(R"({"text_1": {"content": []}, "text_2": "b"})"),
            "/text_1: expected a string or an array of strings, got an object");
  EXPECT_EQ(refusal(R"({"text_1": "a", "text_2": ["b", 5]})"), "/text_2/1: expected a string, got 5 (integer)");
  EXPECT_NE(refusal(three_, vllm::score, R"({"text_1": "a", "text_2": "b"})").find("a head with one class, got 3"),
            std::string::npos);
}

TEST_F(Vllm, LongTextsAreCutWhereTheRequestSaysSo) {
  std::string text;
  for (int i = 0; i < 30; ++i) text += "word ";
  const std::string pair = R"({"text_1": ["a", "b"], "text_2": ["c", ")" + text + "\"]";
  EXPECT_TRUE(refusal(pair + "}").starts_with("/text_2/1: ")) << refusal(pair + "}");
  const auto cut = [&](const std::string& more) { return plan(one_, vllm::score, pair + more + "}"); };
  EXPECT_EQ(cut(R"(, "truncate_prompt_tokens": -1)").cut_inputs, 1u);
  EXPECT_EQ(cut(R"(, "truncate_prompt_tokens": -1)").plan->sequences.encodings()[1].size(), 20u);
  const Answering right = cut(R"(, "truncate_prompt_tokens": 10)");
  EXPECT_EQ(right.plan->sequences.encodings()[1].size(), 10u);
  EXPECT_EQ(cut(R"(, "truncate": true)").cut_tokens, cut(R"(, "truncate_prompt_tokens": -1)").cut_tokens);
  for (const char* wrong : {"0", "1", "-2", "21"})
    EXPECT_TRUE(refusal(pair + R"(, "truncate_prompt_tokens": )" + wrong + "}").starts_with("/truncate_prompt_tokens"))
        << wrong;
  const std::string ends = R"({"input": "first )" + text + R"( last", "truncate_prompt_tokens": 6)";
  const auto ids = [&](const std::string& more) {
    return plan(three_, vllm::classify, ends + more + "}").plan->sequences.encodings()[0].ids;
  };
  EXPECT_EQ(ids(""), ids(R"(, "truncation_side": "right")"));
  EXPECT_NE(ids(""), ids(R"(, "truncation_side": "left")"));
}

TEST_F(Vllm, ClassesAreThoseOfTheLibrary) {
  const std::vector<TextInput> inputs{{"a"}, {"one more"}};
  for (const bool is_raw : {false, true}) {
    SequenceOptions options;
    options.top_k = 3;
    if (is_raw) options.function = ScoreFunction::kNone;
    const std::vector<SequenceAnswer> wanted = classify(three_.pipeline, inputs, options);
    const std::string flag = is_raw ? "false" : "true";
    const Json answer = ask(three_, vllm::classify, R"({"input": ["a", "one more"], "use_activation": )" + flag + "}");
    EXPECT_TRUE(answer.find("id")->as_string().starts_with("classify-"));
    for (size_t i = 0; i < 2; ++i) {
      const Json& item = answer.find("data")->as_array().at(i);
      EXPECT_EQ(item.find("index")->as_integer(), static_cast<int64_t>(i));
      EXPECT_EQ(item.find("label")->as_string(), wanted[i].labels.front().label);
      EXPECT_EQ(item.find("probs")->dump(), vector_json(wanted[i].scores).dump());
      EXPECT_EQ(item.find("num_classes")->as_integer(), 3);
    }
    const Json other =
        ask(three_, vllm::classify,
            R"({"input": ["a", "one more"], "raw_scores": )" + std::string(is_raw ? "true" : "false") + "}");
    EXPECT_EQ(other.find("object")->as_string(), "classify");
    EXPECT_EQ(other.find("data")->dump(),
              Json(JsonArray{scored_labels_json(wanted[0].labels), scored_labels_json(wanted[1].labels)}).dump());
  }
}

TEST_F(Vllm, WhatIsNoTextIsNotClassified) {
  const auto of = [&](const std::string& text) { return refusal(three_, vllm::classify, text); };
  EXPECT_EQ(of("{}"), "/input: expected a value, got none");
  EXPECT_EQ(of(R"({"input": []})"), "/input: expected at least one, got none");
  EXPECT_EQ(of(R"({"input": [1, 2]})"), "/input/0: expected a string, got 1 (integer)");
  EXPECT_EQ(of(R"({"input": "a", "softmax": true})"), "/softmax: expected use_activation, which has replaced it");
  EXPECT_EQ(of(R"({"input": "a", "add_special_tokens": false})"),
            "/add_special_tokens: expected true: the model reads every text with its special tokens");
}

// Their servers differ in what is too long: vLLM's refuses it, infinity's cuts it.
TEST_F(Vllm, LongTextsAreCutForInfinitysClients) {
  std::string text;
  for (int i = 0; i < 30; ++i) text += "word ";
  const auto of = [&](const std::string& more) {
    return refusal(three_, vllm::classify, R"({"input": ")" + text + "\"" + more + "}");
  };
  EXPECT_NE(of(""), "none");
  EXPECT_EQ(of(R"(, "raw_scores": false)"), "none");
  EXPECT_NE(of(R"(, "raw_scores": false, "truncate": false)"), "none");
}

// Both read it in windows where the server does so, unless the request says what happens to it.
TEST_F(Vllm, LongTextsAreReadInTheServersWindows) {
  const test::TemporaryFolder folder;
  ServedModel guard = served(folder, {"safe", "attack"});
  guard.window_scores = WindowScores::kMax;
  std::string text;
  for (int i = 0; i < 30; ++i) text += "word ";
  const auto cut_inputs = [&](const std::string& more) {
    const Answering reply = plan(guard, vllm::classify, R"({"input": ")" + text + "\"" + more + "}");
    return std::pair(reply.plan->sequences.size(), reply.cut_inputs);
  };
  EXPECT_EQ(cut_inputs(""), std::pair(size_t{2}, size_t{0}));
  EXPECT_EQ(cut_inputs(R"(, "raw_scores": false)"), std::pair(size_t{2}, size_t{0}));
  const std::pair<size_t, size_t> cut{1, 1};
  EXPECT_EQ(cut_inputs(R"(, "raw_scores": false, "truncate": true)"), cut);
  EXPECT_EQ(cut_inputs(R"(, "truncate_prompt_tokens": 8)"), cut);
  EXPECT_EQ(cut_inputs(R"(, "truncate_prompt_tokens": -1, "truncation_side": "left")"), cut);
}

}  // namespace
}  // namespace deberta::serve::vllm_test
