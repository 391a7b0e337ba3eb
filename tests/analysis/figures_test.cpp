// Every figure has as many values in a line as columns, arrays of their shapes, and a picture.
#include <gtest/gtest.h>

#include <string>

#include "analysis/decoder_figures.h"
#include "analysis/heads_figure.h"
#include "analysis/position_figures.h"
#include "analysis/replaced_figure.h"
#include "analysis/same_pieces.h"
#include "analysis/table_figure.h"
#include "analysis/term_figures.h"
#include "analysis/token_labels.h"
#include "support/expect_error.h"
#include "support/paths.h"
#include "support/tiny_pipeline.h"

namespace deberta::figures_test {
namespace {

class Figures : public testing::Test {
 protected:
  const test::TemporaryFolder folder_, other_folder_;
  const Pipeline pipeline_ = test::tiny_pipeline(folder_, Head::kMaskedLm, {}, 0);
  const Checkpoint checkpoint_ = Checkpoint::open(folder_.path());
  const Encoding encoding_ = pipeline_.tokenizer.encode("a [MASK] film");
  const std::vector<std::string> pieces_ = pieces_of(pipeline_.tokenizer, encoding_);

  static void expect_whole(const Figure& figure, const FigureColumns& columns, size_t lines) {
    const std::vector<FigureLine> all = figure.lines();
    EXPECT_EQ(all.size(), lines);
    for (const FigureLine& line : all) ASSERT_EQ(line.size(), columns.size());
    for (const FigureArray& array : figure.arrays()) {
      size_t count = 1;
      for (const int64_t dimension : array.shape) count *= static_cast<size_t>(dimension);
      EXPECT_EQ(array.integers.empty() ? array.values.size() : array.integers.size(), count) << array.name;
    }
    EXPECT_FALSE(Json(figure.object()).dump().empty());
    const chart::Picture picture = figure.picture();
    EXPECT_FALSE(picture.title.empty());
    EXPECT_GT(picture.width, 0);
    EXPECT_NE(chart::svg_file(picture).find("<text"), std::string::npos);
  }
};

TEST_F(Figures, OfTerms) {
  const AttentionTerms terms = attention_terms(pipeline_.model, encoding_);
  const size_t tokens = encoding_.size();
  expect_whole(heads_figure(head_figures(terms)), heads_columns(), 4);
  expect_whole(quantile_figure(term_quantiles(terms)), quantile_columns(), 16);
  expect_whole(term_figure({.title = "all", .places = layer_places(terms, pieces_, {})}), term_columns("layer"),
               2 * tokens * tokens);
  expect_whole(term_figure({.title = "a pair", .places = head_places(terms, pieces_, {{}, {1}, {2}})}),
               term_columns("layer"), 4);
  TermMatrices sides{.title = "sides",
                     .has_sides = true,
                     .draws_weights_only = true,
                     .places = layer_places(terms, pieces_, {.head = 1})};
  for (TermPlace& place : sides.places) place.side = "one";
  expect_whole(term_figure(sides), term_columns("layer", "side"), 2 * tokens * tokens);
  expect_whole(term_figure({.title = "passes",
                            .place = "pass",
                            .places = layer_places(decoder_terms(pipeline_.model, encoding_), pieces_, {})}),
               term_columns("pass"), 2 * tokens * tokens);
}

// Layer and head of each line, as they are written: "1.1 1.2".
std::string places_of(const Figure& figure) {
  std::string places;
  for (const FigureLine& line : figure.lines()) {
    const std::string place =
        std::to_string(std::get<int64_t>(line[0])) + "." + std::to_string(std::get<int64_t>(line[1])) + " ";
    if (!places.ends_with(place)) places += place;
  }
  return places;
}

TEST_F(Figures, CountHeadsFromOneAsLayers) {
  const AttentionTerms terms = attention_terms(pipeline_.model, encoding_);
  const std::string all = "1.1 1.2 2.1 2.2 ";
  const Figure heads = heads_figure(head_figures(terms)), quantiles = quantile_figure(term_quantiles(terms));
  const Figure pair = term_figure({.title = "a pair", .places = head_places(terms, pieces_, {{}, {1}, {2}})});
  const Figure second = term_figure({.title = "head 2", .places = layer_places(terms, pieces_, {.head = 1})});
  for (const Figure* figure : {&heads, &quantiles, &pair}) EXPECT_EQ(places_of(*figure), all);
  EXPECT_EQ(places_of(second), "1.2 2.2 ");
  const auto last = [](const Figure& figure, const char* key) {
    return Json(figure.object()).find(key)->as_array().back().find("head")->as_integer();
  };
  for (const Figure* figure : {&heads, &quantiles}) EXPECT_EQ(last(*figure, "heads"), 2);
  for (const Figure* figure : {&pair, &second}) EXPECT_EQ(last(*figure, "places"), 2);
}

TEST_F(Figures, NameHeadsFromOneInPictures) {
  const AttentionTerms terms = attention_terms(pipeline_.model, encoding_);
  const auto has = [](const Figure& figure, const std::string& text) {
    return chart::svg_file(figure.picture()).find(text) != std::string::npos;
  };
  const Figure quantiles = quantile_figure(term_quantiles(terms));
  EXPECT_TRUE(has(quantiles, "layer 1, head 1") && has(quantiles, "layer 2, head 2"));
  EXPECT_FALSE(has(quantiles, "head 0"));
  const Figure pair = term_figure({.title = "a pair", .places = head_places(terms, pieces_, {{}, {1}, {2}})});
  for (const char* label : {">1.1<", ">1.2<", ">2.1<", ">2.2<"}) EXPECT_TRUE(has(pair, label)) << label;
  const Figure one = term_figure({.title = "one", .places = layer_places(terms, pieces_, {.head = 0})});
  EXPECT_TRUE(has(one, "layer 2, head 1;"));
  const PositionChoice choice{PositionVectors::kKeys, 2, 0};
  const DistanceRule rule = DistanceRule::kOriginal;
  EXPECT_TRUE(has(cosine_figure(checkpoint_, pipeline_.config, choice, rule), "Kr, layer 2, head 1"));
  const Figure query = query_figure(
      pipeline_.config, position_scores(pipeline_.model, checkpoint_, encoding_, 1, choice), "a", choice, rule);
  EXPECT_TRUE(has(query, "layer 2, head 1"));
  EXPECT_EQ(Json(query.object()).find("head")->as_integer(), 1);
}

TEST_F(Figures, AMeanOverHeadsIsAddedUpOverThem) {
  const AttentionTerms terms = attention_terms(pipeline_.model, encoding_);
  const auto mean = layer_places(terms, pieces_, {}), heads = head_places(terms, pieces_, {});
  for (size_t term = 0; term < kTermNames.size(); ++term) {
    for (size_t at = 0; at < mean[0].values_QS[term].size(); ++at)
      EXPECT_NEAR(mean[0].values_QS[term][at], (heads[0].values_QS[term][at] + heads[1].values_QS[term][at]) / 2, 1e-6);
  }
}

TEST_F(Figures, OfPositionsAndTables) {
  const ModelConfig& config = pipeline_.config;
  const DistanceRule rule = DistanceRule::kOriginal;
  expect_whole(index_figure(config, 5, rule), index_columns(), 25);
  expect_whole(bucket_figure(config, 100, rule), bucket_columns(), 199);
  for (const PositionVectors vectors : {PositionVectors::kRaw, PositionVectors::kNormed, PositionVectors::kKeys})
    expect_whole(cosine_figure(checkpoint_, config, {vectors, 2}, rule), cosine_columns(), 256);
  const PositionChoice choice{PositionVectors::kKeys, 1, 1};
  expect_whole(
      query_figure(config, position_scores(pipeline_.model, checkpoint_, encoding_, 1, choice), "a", choice, rule),
      query_columns(), 16);
  expect_whole(angle_figure(table_angles(checkpoint_, config)), angle_columns(), 5);
}

TEST_F(Figures, OfTheDecoderAndOfReplacedTokens) {
  const int32_t mask = pipeline_.tokenizer.special().mask;
  expect_whole(prediction_figure(decoder_effect(pipeline_.model, encoding_, mask), pipeline_.tokenizer, 3),
               prediction_columns(), 9);
  expect_whole(filling_figure(word_fillings(pipeline_.model, pipeline_.tokenizer, "a [MASK] film", {"b", "c"})),
               filling_columns(), 2);
  const Pipeline discriminator = test::tiny_pipeline(other_folder_, Head::kReplacedToken, {}, 0);
  expect_whole(walk_figure(replaced_walk(pipeline_.model, discriminator.model, pipeline_.tokenizer, encoding_),
                           pipeline_.tokenizer),
               walk_columns(), encoding_.size());
}

TEST_F(Figures, OfTwoModelsNeedTheSamePieces) {
  EXPECT_NO_THROW(check_same_pieces(pipeline_.tokenizer, "A", pipeline_.tokenizer, "B"));
  EXPECT_TRUE(have_same_pieces(pipeline_.tokenizer, pipeline_.tokenizer));
  const Tokenizer other = Tokenizer::load(test::fixture("tokenizer/bpe"));
  EXPECT_FALSE(have_same_pieces(pipeline_.tokenizer, other));
  EXPECT_FALSE(have_same_pieces(other, pipeline_.tokenizer));
  EXPECT_ERROR(check_same_pieces(pipeline_.tokenizer, "A", other, "B"), kTokenId, "as in A, got ");
}

}  // namespace
}  // namespace deberta::figures_test
