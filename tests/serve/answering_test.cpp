// What a request counts as before anything of it runs, and its answer.
#include "serve/answering.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "base/json.h"
#include "pipeline/answer_json.h"
#include "serve/api_error.h"
#include "support/tiny_pipeline.h"

namespace deberta::serve::answering_test {
namespace {

std::string long_text() {
  std::string text;
  for (int i = 0; i < 30; ++i) text += "word ";
  return text;
}

class Counts : public testing::Test {
 protected:
  Answering ask(const std::string& task, const std::string& text) const {
    const Json json = parse_json(text, "body");
    Body body(json);
    return hub::find_task(task, "")(model_, body);
  }
  Encoding encode(const std::string& text) const { return model_.pipeline.tokenizer.encode(text); }

  const test::TemporaryFolder folder_;
  const ServedModel model_{.name = "m",
                           .path = folder_.path(),
                           .pipeline = test::tiny_pipeline(folder_, Head::kMaskedLm, {}, 0),
                           .max_input_length = 20};
};

TEST_F(Counts, OfAFilledTextAreItsOwnTokens) {
  const Answering reply = ask("fill-mask", R"({"inputs": "a [MASK]"})");
  EXPECT_EQ(reply.tokens, reply.plan->sequences.encodings().front().size());
  EXPECT_EQ(reply.plan_bytes, reply.tokens * kHeldTokenBytes);
}

TEST_F(Counts, OfAScoredTextAreThoseOfItsMaskedCopies) {
  const size_t tokens = encode("a house of cards").size(), copies = tokens - 2;
  const Answering reply = ask("text-scoring", R"({"inputs": "a house of cards"})");
  EXPECT_EQ(reply.items, 1u);
  EXPECT_EQ(reply.tokens, copies * tokens);
  EXPECT_EQ(reply.plan_bytes, tokens * kHeldTokenBytes + copies * kMadeSequenceBytes) << "the copies are not there";
  const Answering two = ask("text-scoring", R"({"inputs": ["a house of cards", "a house of cards"]})");
  EXPECT_EQ(two.tokens, 2 * reply.tokens);
  EXPECT_EQ(two.plan_bytes, 2 * reply.plan_bytes);
}

TEST_F(Counts, OfAScoredTextThatIsCutAreThoseOfTheTextAlone) {
  const std::string text = long_text();
  const Answering reply = ask("text-scoring", "{\"inputs\": [\"" + text + "\", \"so\"]}");
  EXPECT_EQ(reply.cut_inputs, 1u);
  EXPECT_EQ(reply.cut_tokens, encode(text).size() - model_.max_input_length);
}

TEST_F(Counts, OfALongTextAreToldWithWhatItsRouteCanDo) {
  const auto refusal = [&](const std::string& parameters) {
    try {
      ask("fill-mask", "{\"inputs\": \"" + long_text() + "[MASK]\", \"parameters\": " + parameters + "}");
    } catch (const ApiError& error) {
      return error.message;
    }
    return std::string();
  };
  const std::string refused = refusal(R"({"truncate": false})");
  EXPECT_TRUE(refused.starts_with("/inputs: expected at most 20 tokens, got ")) << refused;
  EXPECT_TRUE(refused.ends_with(R"(; cut it with "truncate": true)")) << refused;
  EXPECT_EQ(refusal(R"({"truncate": false, "target": ["a"]})"),
            "/parameters/target: unknown field; did you mean targets?");
}

TEST_F(Counts, OfAnswersAreNoLessThanTheirBytes) {
  for (const char* more : {"", R"(, "parameters": {"tokens": true})"}) {
    const Answering reply = ask("text-scoring", std::string(R"({"inputs": "a house of cards")") + more + "}");
    run_plan(model_.pipeline.model, *reply.plan, 100);
    EXPECT_LE(reply.respond().body.size(), reply.answer_bytes) << more;
  }
}

TEST_F(Counts, AScoreSaysWhatTheProgramSays) {
  const std::string text = "a house of cards";
  const TextInput input{text};
  const TextScoreAnswer expected = score_text(model_.pipeline, {&input, 1}).at(0);
  const Answering reply = ask("text-scoring", R"({"inputs": ["a house of cards"], "parameters": {"tokens": true}})");
  run_plan(model_.pipeline.model, *reply.plan, 100);
  JsonObject object = to_json(expected);
  object.emplace_back("tokens", to_json(expected.pieces, text, OffsetUnit::kChars, model_.pipeline.tokenizer));
  EXPECT_EQ(reply.respond().body, Json(JsonArray{std::move(object)}).dump());
}

std::string whole(HttpResponse response) {
  std::string text = response.body;
  while (response.pieces) {
    const std::string piece = response.pieces();
    if (piece.empty()) break;
    EXPECT_LT(piece.size(), 2 * kPieceBytes);
    text += piece;
  }
  return text;
}

Json number(size_t list, size_t item) {
  return JsonArray{uint64_t{list}, uint64_t{item}};
}

TEST(Lists, AreWrittenAsTheirJsonIs) {
  EXPECT_EQ(whole(lists_response(lists_of_texts({2, 0, 1, 0}, true), number)), "[[[0, 0], [0, 1]], [], [[2, 0]], []]");
  EXPECT_EQ(whole(lists_response(lists_of_texts({0}, true), number)), "[[]]");
  EXPECT_EQ(whole(lists_response(lists_of_texts({2}, false), number)), "[[0, 0], [0, 1]]");
  EXPECT_EQ(whole(lists_response(lists_of_texts({0}, false), number)), "[]");
}

TEST(Lists, OfManyItemsAreNeverInMemoryAsAWhole) {
  const size_t items = kPieceBytes / 2;
  const HttpResponse response = lists_response(lists_of_texts({items, items}, true), number);
  EXPECT_TRUE(response.body.empty());
  ASSERT_TRUE(response.pieces);
  const Json read = parse_json(whole(response), "answer", {.max_bytes = size_t{64} << 20});
  ASSERT_EQ(read.as_array().size(), 2u);
  EXPECT_EQ(read.as_array()[1].as_array().back().dump(), number(1, items - 1).dump());
}

// As JSON values they would have many times the memory of their text.
TEST_F(Counts, WordsOfManyMasksAreWrittenInPieces) {
  std::string texts = "\"a [MASK]\"";
  for (int i = 1; i < 200; ++i) texts += i % 2 != 0 ? ", \"[MASK] or [MASK]\"" : ", \"a [MASK]\"";
  const Answering reply = ask("fill-mask", "{\"inputs\": [" + texts + "], \"parameters\": {\"top_k\": 100}}");
  run_plan(model_.pipeline.model, *reply.plan, 4000);
  const HttpResponse response = reply.respond();
  ASSERT_TRUE(response.pieces);
  const Json read = parse_json(whole(response), "answer", {.max_bytes = size_t{64} << 20});
  ASSERT_EQ(read.as_array().size(), 200u);
  EXPECT_EQ(read.as_array()[1].as_array().size(), 2u) << "a list for each mask";
  EXPECT_TRUE(read.as_array()[2].as_array().front().is_object()) << "the words of the only mask";
}

}  // namespace
}  // namespace deberta::serve::answering_test
