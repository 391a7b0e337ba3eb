// N-gram masking: against the statistics of the original generator, and rule by rule.
#include "train/data/masking.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <map>
#include <set>

#include "base/file.h"
#include "base/json.h"
#include "support/expect_error.h"
#include "support/paths.h"
#include "support/sanitizers.h"

namespace deberta::train::masking_test {
namespace {

using Ids = std::vector<int32_t>;

// [PAD] [CLS] [SEP] [UNK], then `words` pieces that begin a word and `tails` that continue one, then [MASK].
Pieces make_pieces(size_t words, size_t tails) {
  Pieces pieces;
  pieces.is_special_V.assign(4 + words + tails + 1, 0);
  pieces.continues_word_V.assign(pieces.size(), 0);
  for (size_t i = 0; i < 4; ++i) pieces.is_special_V[i] = 1;
  for (size_t i = 0; i < tails; ++i) pieces.continues_word_V[4 + words + i] = 1;
  pieces.is_special_V.back() = 1;
  pieces.special.mask = static_cast<int32_t>(pieces.size()) - 1;
  return pieces;
}

// [CLS] run [SEP] of `tokens` tokens; each third piece continues a word.
Ids make_sequence(size_t tokens, int32_t words, int32_t tails) {
  Ids ids{1};
  for (int32_t i = 0; ids.size() + 1 < tokens; ++i) ids.push_back(i % 3 == 2 ? 4 + words + i % tails : 4 + i % words);
  ids.push_back(2);
  return ids;
}

struct Masked {
  Ids ids;
  Predictions predictions;
};
Masked mask(const Masker& masker, Ids ids, SequenceNumber number) {
  Masked masked{std::move(ids), {}};
  masker.mask(masked.ids, number, masked.predictions);
  return masked;
}

// ---- the original's statistics

std::string statistics_file() {
  const char* named = std::getenv("DEBERTA_GOLDENS");
  const std::string folder = named != nullptr ? named : test::shared("reference/original-goldens");
  const std::string path = folder + "/masking_statistics.json";
  return is_regular_file(path) ? path : "";
}

// Vocabulary of the goldens: U+2581 begins a word, as do '.' and ','.
Pieces pieces_of_names(const JsonArray& names) {
  Pieces pieces;
  for (const Json& name : names) {
    const std::string& piece = name.as_string();
    pieces.is_special_V.push_back(piece.starts_with('[') ? 1 : 0);
    pieces.continues_word_V.push_back(piece.starts_with('x') ? 1 : 0);
  }
  pieces.special.mask = static_cast<int32_t>(pieces.size()) - 1;
  return pieces;
}

MaskOptions options_of(const Json& result) {
  const std::string& kind = result.find("kind")->as_string();
  MaskOptions options = kind == "rtd" ? masks_for_replaced_tokens() : MaskOptions{};
  if (kind == "mlm_gram1") options.max_gram = 1;
  options.max_predictions = static_cast<size_t>(result.find("max_preds")->as_integer());
  return options;
}

struct Counts {
  std::vector<double> at_position;
  double predicted = 0, squares = 0, masked = 0, same = 0, other = 0;
  size_t fewest = SIZE_MAX, most = 0;
};

Counts count(const Masker& masker, const Pieces& pieces, const Ids& ids, uint64_t samples) {
  Counts counts;
  counts.at_position.resize(ids.size());
  for (uint64_t sample = 0; sample < samples; ++sample) {
    const Masked result = mask(masker, ids, {sample});
    const size_t number = result.predictions.positions.size();
    counts.predicted += static_cast<double>(number);
    counts.squares += static_cast<double>(number * number);
    counts.fewest = std::min(counts.fewest, number);
    counts.most = std::max(counts.most, number);
    for (const int32_t position : result.predictions.positions) {
      const auto at = static_cast<size_t>(position);
      counts.at_position[at] += 1;
      const bool is_same = result.ids[at] == ids[at];
      (result.ids[at] == pieces.special.mask ? counts.masked : is_same ? counts.same : counts.other) += 1;
    }
  }
  return counts;
}

// Both are means of samples: the difference of two rates, in its standard errors.
double errors_apart(double a, double b, double variance, double a_samples, double b_samples) {
  if (a == b) return 0;
  return std::abs(a - b) / std::sqrt(variance * (1 / a_samples + 1 / b_samples));
}
double rates_apart(double a, double b, double a_samples, double b_samples) {
  const double pooled = (a * a_samples + b * b_samples) / (a_samples + b_samples);
  return errors_apart(a, b, pooled * (1 - pooled), a_samples, b_samples);
}

TEST(Masking, HasTheStatisticsOfTheOriginal) {
  const std::string path = statistics_file();
  if (path.empty()) GTEST_SKIP() << "no masking_statistics.json (DEBERTA_GOLDENS, or the shared folder)";
  constexpr double kSamples = test::kSanitized ? 1000 : 10000;
  constexpr double kLimit = 4;  // standard errors
  const Json goldens = load_json(path, {.max_bytes = 1 << 24});
  const JsonArray& names = goldens.find("vocabulary")->as_array();
  const Pieces pieces = pieces_of_names(names);
  std::map<std::string, int32_t> id_of;
  for (size_t i = 0; i < names.size(); ++i) id_of[names[i].as_string()] = static_cast<int32_t>(i);
  size_t compared = 0;
  double worst = 0;
  for (const Json& result : goldens.find("results")->as_array()) {
    Ids ids;
    const auto list = static_cast<size_t>(result.find("list")->as_integer());
    for (const Json& name : goldens.find("lists")->as_array()[list].as_array())
      ids.push_back(id_of.at(name.as_string()));
    const Masker masker(pieces, options_of(result), 20230325 + list);
    const Counts ours = count(masker, pieces, ids, static_cast<uint64_t>(kSamples));
    const auto samples = static_cast<double>(result.find("samples")->as_integer());
    const auto expect_close = [&](const std::string& what, double apart) {
      EXPECT_LE(apart, kLimit) << result.find("kind")->as_string() << ", list " << list << ": " << what;
      worst = std::max(worst, apart);
      ++compared;
    };
    const JsonArray& rates = result.find("position_rate")->as_array();
    ASSERT_EQ(rates.size(), ids.size());
    for (size_t i = 0; i < rates.size(); ++i) {
      expect_close("position " + std::to_string(i),
                   rates_apart(rates[i].as_number(), ours.at_position[i] / kSamples, samples, kSamples));
    }
    const double mean = ours.predicted / kSamples;
    const double expected_mean = result.find("mean_count")->as_number();
    expect_close("count", errors_apart(expected_mean, mean, ours.squares / kSamples - mean * mean, samples, kSamples));
    const double draws = expected_mean * samples;
    const auto share = [&](const char* key, double ours_count) {
      expect_close(key, rates_apart(result.find(key)->as_number(), ours_count / ours.predicted, draws, ours.predicted));
    };
    share("fraction_mask", ours.masked);
    share("fraction_same", ours.same);
    share("fraction_other", ours.other);
    if (kSamples < samples) continue;  // fewer samples have other extremes
    // The smallest of 10,000 counts is one rare event.
    EXPECT_NEAR(static_cast<double>(ours.fewest), result.find("min_count")->as_number(), 1) << list;
    EXPECT_EQ(ours.most, static_cast<size_t>(result.find("max_count")->as_integer())) << list;
  }
  RecordProperty("compared", std::to_string(compared));
  RecordProperty("worst_standard_errors", std::to_string(worst));
  EXPECT_GT(compared, 5000u);
}

// ---- rules

TEST(Masking, EightyTenTenOverAllPiecesOfTheVocabulary) {
  const Pieces pieces = make_pieces(6, 2);
  const Masker masker(pieces, {}, 1);
  const Ids ids = make_sequence(128, 6, 2);
  std::map<int32_t, double> replaced_by;
  double predicted = 0, masked = 0, same = 0;
  for (uint64_t sample = 0; sample < 20000; ++sample) {
    const Masked result = mask(masker, ids, {sample});
    for (size_t i = 0; i < result.predictions.positions.size(); ++i) {
      const auto at = static_cast<size_t>(result.predictions.positions[i]);
      EXPECT_EQ(result.predictions.labels[i], ids[at]);
      ++predicted;
      masked += result.ids[at] == pieces.special.mask;
      same += result.ids[at] == ids[at];
      ++replaced_by[result.ids[at]];
    }
  }
  const auto vocabulary = static_cast<double>(pieces.size());
  const auto expect_share = [&](double share, double expected, const char* what) {
    EXPECT_NEAR(share, expected, 5 * std::sqrt(expected / predicted)) << what;
  };
  expect_share(masked / predicted, 0.8 + 0.1 / vocabulary, "[MASK]");
  expect_share(same / predicted, 0.1 + 0.1 / vocabulary, "unchanged");
  for (int32_t id = 0; id < 4; ++id) expect_share(replaced_by[id] / predicted, 0.1 / vocabulary, "a special piece");
}

TEST(Masking, SpecialPiecesAreNeverPredicted) {
  const Pieces pieces = make_pieces(5, 1);
  Ids ids = make_sequence(40, 5, 1);
  ids[7] = 3;
  ids[8] = pieces.special.mask;
  ids[20] = 2;
  const Masker masker(pieces, {}, 2);
  for (uint64_t sample = 0; sample < 2000; ++sample) {
    const Masked result = mask(masker, ids, {sample});
    for (const int32_t position : result.predictions.positions)
      EXPECT_EQ(pieces.is_special_V[static_cast<size_t>(ids[static_cast<size_t>(position)])], 0) << position;
  }
}

TEST(Masking, WholeWordsAreTakenAndOnlyThere) {
  const Pieces pieces = make_pieces(5, 3);
  const Ids ids = make_sequence(100, 5, 3);
  size_t torn = 0;
  const auto count_torn = [&](const MaskOptions& options) {
    const Masker masker(pieces, options, 3);
    torn = 0;
    for (uint64_t sample = 0; sample < 500; ++sample) {
      const Masked result = mask(masker, ids, {sample});
      const std::set<int32_t> chosen(result.predictions.positions.begin(), result.predictions.positions.end());
      for (int32_t i = 2; i + 1 < static_cast<int32_t>(ids.size()); ++i) {
        const bool continues = pieces.continues_word_V[static_cast<size_t>(ids[static_cast<size_t>(i)])] != 0;
        if (continues && chosen.contains(i) != chosen.contains(i - 1)) ++torn;
      }
    }
    return torn;
  };
  EXPECT_EQ(count_torn({.max_gram = 3}), 0u);
  EXPECT_EQ(count_torn({.max_gram = 2}), 0u);
  EXPECT_GT(count_torn({.max_gram = 1}), 1000u);
  EXPECT_GT(count_torn(masks_for_replaced_tokens()), 1000u) << "replaced-token detection masks pieces";
}

TEST(Masking, ReplacedTokenDetectionPutsMaskEverywhere) {
  const Pieces pieces = make_pieces(9, 3);
  const Masker masker(pieces, masks_for_replaced_tokens(), 4);
  for (uint64_t sample = 0; sample < 300; ++sample) {
    const Masked result = mask(masker, make_sequence(128, 9, 3), {sample});
    EXPECT_EQ(result.predictions.positions.size(), 19u);  // round(128 * 0.15)
    for (const int32_t position : result.predictions.positions)
      EXPECT_EQ(result.ids[static_cast<size_t>(position)], pieces.special.mask);
  }
}

// The share of predicted pieces among the last `tail` positions of a full sequence.
double rate_of_tail(const MaskOptions& options, size_t tail) {
  const Pieces pieces = make_pieces(50, 1);
  const Masker masker(pieces, options, 5);
  const Ids ids = make_sequence(512, 50, 1);
  double hits = 0;
  for (uint64_t sample = 0; sample < 1000; ++sample) {
    for (const int32_t position : mask(masker, ids, {sample}).predictions.positions)
      hits += static_cast<size_t>(position) + 1 + tail >= ids.size() ? 1 : 0;
  }
  return hits / static_cast<double>(1000 * tail);
}

TEST(Masking, TheTailOfAFullSequenceIsNeverPredictedUnlessWanted) {
  EXPECT_LT(rate_of_tail({.max_gram = 1}, 20), 0.01);
  EXPECT_NEAR(rate_of_tail({.max_gram = 1, .has_uniform_tail = true}, 40), 0.15, 0.02);
}

// Stretches of marked units in a sequence of single words, of which the quota is not used up.
TEST(Masking, WindowsHoldAUnitForEachSixAndLongGramsAreRarer) {
  const Pieces pieces = make_pieces(50, 1);
  const Masker masker(pieces, {.max_predictions = 400, .max_gram = 3}, 9);
  Ids ids{1};
  while (ids.size() < 301) ids.push_back(4 + static_cast<int32_t>(ids.size() % 50));
  ids.push_back(2);
  double first = 0;
  double first_two = 0;
  constexpr uint64_t kSamples = 20000;
  for (uint64_t sample = 0; sample < kSamples; ++sample) {
    const Ids positions = mask(masker, ids, {sample}).predictions.positions;
    const auto has = [&](int32_t at) { return std::find(positions.begin(), positions.end(), at) != positions.end(); };
    first += has(1);
    first_two += has(1) && has(2);
  }
  // The first unit is marked if the first window, 6n units, begins with its gram: 1/(6n), n with weight 1/n.
  const double weights = 1 + 1.0 / 2 + 1.0 / 3;
  const double first_rate = (1.0 / 6 + 1.0 / 2 / 12 + 1.0 / 3 / 18) / weights;
  const double two_rate = (1.0 / 2 / 12 + 1.0 / 3 / 18) / weights;
  const auto error = [&](double rate) { return 5 * std::sqrt(rate * (1 - rate) / kSamples); };
  EXPECT_NEAR(first / kSamples, first_rate, error(first_rate));
  EXPECT_NEAR(first_two / kSamples, two_rate, error(two_rate));
}

TEST(Masking, QuotaRoundsHalfToEvenAndEndsWithAUnit) {
  const Pieces pieces = make_pieces(60, 1);
  const auto predicted = [&](size_t tokens, MaskOptions options) {
    std::set<size_t> counts;
    const Masker masker(pieces, options, 6);
    Ids ids{1};
    while (ids.size() + 1 < tokens) ids.push_back(4 + static_cast<int32_t>(ids.size() % 60));
    ids.push_back(2);
    for (uint64_t sample = 0; sample < 200; ++sample)
      counts.insert(mask(masker, ids, {sample}).predictions.positions.size());
    return counts;
  };
  const MaskOptions pieces_alone{.max_gram = 1};
  EXPECT_EQ(predicted(3, pieces_alone), std::set<size_t>{1});  // at least one
  EXPECT_EQ(*predicted(10, pieces_alone).rbegin(), 2u);        // 1.5
  EXPECT_EQ(*predicted(30, pieces_alone).rbegin(), 4u);        // 4.5
  EXPECT_EQ(predicted(512, pieces_alone), std::set<size_t>{77});
  EXPECT_EQ(predicted(600, pieces_alone), std::set<size_t>{80}) << "max_predictions";
  EXPECT_EQ(predicted(2, pieces_alone), std::set<size_t>{0}) << "[CLS] [SEP]";
}

TEST(Masking, IsAFunctionOfSeedSampleAndPart) {
  const Pieces pieces = make_pieces(50, 10);
  const Ids ids = make_sequence(128, 50, 10);
  const Masker masker(pieces, {}, 7);
  const Masked first = mask(masker, ids, {11});
  const auto equal = [&](const Masked& other) {
    return first.ids == other.ids && first.predictions.positions == other.predictions.positions;
  };
  mask(masker, ids, {99});
  EXPECT_TRUE(equal(mask(masker, ids, {11}))) << "whatever was masked before";
  EXPECT_TRUE(equal(mask(Masker(pieces, {}, 7), ids, {11})));
  EXPECT_FALSE(equal(mask(masker, ids, {12}))) << "another sample, or another epoch";
  EXPECT_FALSE(equal(mask(masker, ids, {11 + (uint64_t{1} << 32)})));
  EXPECT_FALSE(equal(mask(masker, ids, {11, 1}))) << "another part of the sample";
  EXPECT_FALSE(equal(mask(Masker(pieces, {}, 8), ids, {11}))) << "another seed";
}

TEST(Masking, PositionsAscend) {
  const Pieces pieces = make_pieces(50, 10);
  for (const bool is_uniform : {false, true}) {
    const Masker masker(pieces, {.has_uniform_tail = is_uniform}, 8);
    for (uint64_t sample = 0; sample < 100; ++sample) {
      const Ids positions = mask(masker, make_sequence(256, 50, 10), {sample}).predictions.positions;
      EXPECT_TRUE(std::is_sorted(positions.begin(), positions.end()));
      EXPECT_EQ(std::set<int32_t>(positions.begin(), positions.end()).size(), positions.size());
    }
  }
}

TEST(Masking, ImpossibleOptionsAreNamed) {
  EXPECT_ERROR(check_mask_options({.rate = 0}), kUsage, "mlm_probability");
  EXPECT_ERROR(check_mask_options({.rate = std::nan("")}), kUsage, "mlm_probability");
  EXPECT_ERROR(check_mask_options({.max_gram = 0}), kUsage, "max_gram");
  EXPECT_ERROR(check_mask_options({.mask_share = 1.1}), kUsage, "mask_share");
  EXPECT_ERROR(check_mask_options({.mask_share = 0.8, .keep_share = 0.3}), kUsage, "keep_share");
  EXPECT_ERROR(check_mask_options({.max_predictions = 0}), kUsage, "max_predictions");
}

}  // namespace
}  // namespace deberta::train::masking_test
