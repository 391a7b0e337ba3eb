// The explorer's answers about the mask decoder, replaced tokens and sizes; who may ask for how many at a time.
#include "serve/explain.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "analysis/explanation.h"
#include "serve/api_error.h"
#include "serve/explain_places.h"
#include "support/expect_error.h"
#include "support/paths.h"
#include "support/tiny_pipeline.h"

namespace deberta::serve::explain_test {
namespace {

// The field and the message of a refusal.
std::string refusal_of(const auto& call) {
  try {
    call();
  } catch (const ApiError& error) {
    return error.message;
  }
  return "none";
}

class Explains : public testing::Test {
 protected:
  const test::TemporaryFolder folder_, other_folder_;
  const ServedModel words_{
      .name = "words", .path = folder_.path(), .pipeline = test::tiny_pipeline(folder_, Head::kMaskedLm, {}, 0)};
  const ServedModel replaced_{.name = "replaced",
                              .path = other_folder_.path(),
                              .pipeline = test::tiny_pipeline(other_folder_, Head::kReplacedToken, {}, 0)};

  Json decoder(Explanations& kept, const ServedModel& model, const std::string& text) const {
    const Json json = parse_json(text, "body");
    Body body(json);
    return parse_json(explain_decoder(kept, model, body, "me", 0).body, "answer");
  }
  Json walk(const std::string& text, size_t most_bytes = size_t{1} << 20) const {
    const Json json = parse_json(text, "body");
    Body body(json);
    return parse_json(explain_replaced(words_, replaced_, body, most_bytes).body, "answer");
  }
};

TEST_F(Explains, TheDecoderAndKeepsItsPassesAsLayers) {
  Explanations kept(size_t{1} << 20);
  const Json all = decoder(kept, words_, R"({"text": "a [MASK] b", "top_k": 2, "words": ["a", "b"]})");
  EXPECT_EQ(all.find("model")->as_string(), "words");
  EXPECT_EQ(all.find("passes")->as_integer(), 2);
  EXPECT_EQ(all.find("masks")->as_array().at(0).find("shifted")->as_array().size(), 2u);
  EXPECT_EQ(all.find("fillings")->as_array().size(), 2u);
  const std::string id = all.find("explain_id")->as_string();
  const auto terms = [&](const std::string& layer, const std::string& owner) {
    return kept.terms("id=" + id + "&layer=" + layer + "&head=1&term=sum&dtype=f16", owner, 0).body.size();
  };
  const size_t tokens = all.find("tokens")->as_array().size();
  EXPECT_EQ(terms("2", "me"), tokens * tokens * 2);
  EXPECT_NE(refusal_of([&] { terms("3", "me"); }), "none") << "there are two passes";
  EXPECT_NE(refusal_of([&] { terms("2", "another"); }), "none");
  EXPECT_TRUE(decoder(kept, words_, R"({"text": "[MASK]"})").find("fillings")->as_array().empty());
}

TEST(Explanations, CountHeadsFromOneAsLayers) {
  AttentionTerms terms{2, 1, {}};  // two heads of one token
  for (const float first : {1.0f, 3.0f}) {
    LayerTerms& layer = terms.layers.emplace_back();
    layer.layer = static_cast<int32_t>(terms.layers.size());
    layer.sum_HLL = {first, first + 1};
  }
  Explanations kept(size_t{1} << 20);
  const std::string id = kept.keep(terms, "me", 0);
  const auto ask = [&](const std::string& layer, const std::string& head) {
    return kept.terms("id=" + id + "&layer=" + layer + "&head=" + head + "&term=sum&dtype=f16", "me", 0).body;
  };
  EXPECT_EQ(ask("1", "1"), half_bytes(std::vector{1.0f}));
  EXPECT_EQ(ask("2", "2"), half_bytes(std::vector{4.0f}));
  for (const std::string head : {"0", "3", "", "-1"})
    EXPECT_EQ(refusal_of([&] { ask("1", head); }),
              "head: expected a whole number in 1..2, got \"" + head + "\"; heads count from 1");
  EXPECT_EQ(refusal_of([&] { ask("0", "1"); }), "layer: expected a whole number in 1..2, got \"0\"");
}

TEST_F(Explains, NoDecoderWhereThereIsNoneAndNothingToPredict) {
  Explanations kept(size_t{1} << 20);
  EXPECT_ERROR(decoder(kept, replaced_, R"({"text": "a [MASK]"})"), kTask, "mask decoder: expected a masked language");
  const auto refusal = [&](const std::string& text) { return refusal_of([&] { decoder(kept, words_, text); }); };
  EXPECT_EQ(refusal(R"({"words": ["a"]})"), "/text: expected a value, got none");
  EXPECT_EQ(refusal(R"({"text": "a b"})"),
            "/text: expected at least one mask token, got none; write [MASK] where a word is missing");
  EXPECT_EQ(refusal(R"({"text": "[MASK] [MASK]", "words": ["a"]})").substr(0, 7), "/words:");
  EXPECT_EQ(refusal(R"({"text": "[MASK]", "top_k": 101})"),
            "/top_k: expected a whole number in 1..100, got 101 (integer)");
}

// A row of logits of these models has 4,400 bytes.
TEST_F(Explains, NoMoreMasksAndTokensThanHaveRoom) {
  Explanations kept(size_t{1} << 16);
  EXPECT_EQ(decoder(kept, words_, R"({"text": "[MASK] [MASK] [MASK]"})").find("masks")->as_array().size(), 3u);
  const auto refusal = [&](const std::string& text) {
    return refusal_of([&] { decoder(kept, words_, R"({"text": ")" + text + R"("})"); });
  };
  EXPECT_EQ(refusal("[MASK] [MASK] [MASK] [MASK]"), "/text: expected at most 3 mask tokens, got 4");
  std::string text = "[MASK]";
  for (int i = 0; i < 20; ++i) text += " a";
  EXPECT_EQ(refusal(text).substr(0, 34), "/text: expected at most 14 tokens,");
}

TEST_F(Explains, ReplacedTokensAsTheLibraryDrawsThem) {
  const Encoding encoding = words_.pipeline.tokenizer.encode("a b c d e f");
  const ReplacedWalk expected =
      replaced_walk(words_.pipeline.model, replaced_.pipeline.model, words_.pipeline.tokenizer, encoding,
                    {.share = 0.5, .seed = 7, .number = 1});
  const Json all = walk(R"({"text": "a b c d e f", "share": 0.5, "seed": 7})");
  EXPECT_EQ(all.find("model")->as_string(), "replaced");
  EXPECT_EQ(all.find("generator")->as_string(), "words");
  EXPECT_EQ(all.find("seed")->as_integer(), 7);
  EXPECT_EQ(all.find("tokens")->dump(),
            Json(walk_json(expected, words_.pipeline.tokenizer, encoding)).find("tokens")->dump());
  EXPECT_EQ(refusal_of([&] { walk(R"({"text": "a", "share": 1.5})"); }),
            "/share: expected a number in 0..1, got 1.5 (number)");
  const std::string text = R"({"text": "a b c d e f g h i j k l m n o p"})";
  EXPECT_EQ(refusal_of([&] { walk(text, size_t{1} << 16); }).substr(0, 34), "/text: expected at most 14 tokens,");
}

TEST_F(Explains, SizesOfServedModelsAndOfPublishedOnes) {
  const Json own = parse_json(explain_size(words_, "length=8").body, "answer");
  EXPECT_EQ(own.find("model")->as_string(), "words");
  EXPECT_EQ(own.find("parameters")->find("words")->as_integer(), 1100 * 16);
  const PublishedSize& base = *find_published_size("v1-base");
  const Json published = parse_json(explain_size(base, "model=v1-base&length=128").body, "answer");
  EXPECT_EQ(published.find("model")->as_string(), "base");
  EXPECT_EQ(published.find("parameters")->dump(),
            Json(size_json(model_size(published_config(base), 128))).find("parameters")->dump());
  EXPECT_EQ(published.find("published")->as_array().size(), published_sizes().size());
  for (const char* query : {"", "length=0", "length=4097", "length=a"})
    EXPECT_NE(refusal_of([&] { explain_size(base, query); }), "none") << query;
}

TEST(ExplainPlaces, LeaveRoomForAnotherClient) {
  ExplainPlaces places;
  std::vector<std::shared_ptr<const void>> taken;
  for (int i = 0; i < 3; ++i) taken.push_back(places.take("a"));
  EXPECT_NE(refusal_of([&] { places.take("a"); }), "none");
  taken.push_back(places.take("b"));
  EXPECT_NE(refusal_of([&] { places.take("c"); }), "none") << "four in all";
  taken.pop_back();
  EXPECT_NE(refusal_of([&] { places.take("a"); }), "none");
  taken.clear();
  for (int i = 0; i < 3; ++i) taken.push_back(places.take("a"));
}

}  // namespace
}  // namespace deberta::serve::explain_test
