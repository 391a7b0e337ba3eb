// What a request counts as before anything of it runs, and its answer.
#include "serve/answering.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "base/json.h"
#include "pipeline/answer_json.h"
#include "support/tiny_pipeline.h"

namespace deberta::serve::answering_test {
namespace {

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
  std::string text;
  for (int i = 0; i < 30; ++i) text += "word ";
  const Answering reply = ask("text-scoring", "{\"inputs\": [\"" + text + "\", \"so\"]}");
  EXPECT_EQ(reply.cut_inputs, 1u);
  EXPECT_EQ(reply.cut_tokens, encode(text).size() - model_.max_input_length);
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

}  // namespace
}  // namespace deberta::serve::answering_test
