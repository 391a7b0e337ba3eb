// Sums over the texts of a sample.
#include "metrics/piece_evaluation.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "base/philox.h"
#include "deberta/error.h"

namespace deberta {
namespace {

constexpr uint32_t kMaskStream = 1;  // separate from the bootstrap's numbers

class PieceEvaluation final : public Evaluation {
 public:
  PieceEvaluation(std::vector<PieceOutcome> outcomes, std::vector<std::string> metrics, PredictedPieces predicted)
      : outcomes_(std::move(outcomes)), metrics_(std::move(metrics)), predicted_(predicted) {}

  size_t units() const override { return outcomes_.size(); }

  std::vector<Metric> metrics(std::span<const uint32_t> units) const override {
    PieceOutcome all;
    for (const uint32_t unit : units) {
      all.log_probability += outcomes_[unit].log_probability;
      all.pieces += outcomes_[unit].pieces;
      all.right += outcomes_[unit].right;
      all.words += outcomes_[unit].words;
    }
    const bool is_masked = predicted_ == PredictedPieces::kMasked;
    std::vector<Metric> results;
    for (const std::string& name : metrics_)
      results.push_back({name, value_of(name, all),
                         all.pieces > 0 ? ""
                         : is_masked    ? "no masked pieces"
                                        : "no pieces"});
    const auto count = [&](const char* name, size_t value) {
      results.push_back({.name = name, .value = static_cast<double>(value), .is_sampled = false});
    };
    count(is_masked ? "masked_pieces" : "pieces", all.pieces);
    if (!is_masked) count("words", all.words);
    return results;
  }

 private:
  static std::optional<double> value_of(const std::string& name, const PieceOutcome& all) {
    const auto per = [&](size_t count) { return std::exp(-all.log_probability / static_cast<double>(count)); };
    if (all.pieces == 0) return std::nullopt;
    if (name == "accuracy") return static_cast<double>(all.right) / static_cast<double>(all.pieces);
    if (name == "perplexity") return per(all.pieces);
    if (name == "word_perplexity") return per(all.words);
    throw Error(ErrorCode::kInternal, "metrics", fmt::format("unknown metric {}", name));
  }

  std::vector<PieceOutcome> outcomes_;
  std::vector<std::string> metrics_;
  PredictedPieces predicted_;
};

}  // namespace

std::vector<size_t> draw_masks(const Encoding& text, double share, uint64_t seed, uint64_t number) {
  const PhiloxKey key{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)};
  const auto bits_of = [&](size_t position) {
    return philox({static_cast<uint32_t>(position / 4), static_cast<uint32_t>(number),
                   static_cast<uint32_t>(number >> 32), kMaskStream},
                  key)[position % 4];
  };
  std::vector<size_t> places, masks;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.is_special[i] == 0) places.push_back(i);
  }
  for (const size_t position : places) {
    if (static_cast<double>(bits_of(position)) < share * 4294967296.0) masks.push_back(position);
  }
  if (masks.empty() && !places.empty()) masks.push_back(places[uint64_t{bits_of(0)} * places.size() >> 32]);
  return masks;
}

std::unique_ptr<Evaluation> make_evaluation(std::vector<PieceOutcome> outcomes, std::vector<std::string> metrics,
                                            PredictedPieces predicted) {
  return std::make_unique<PieceEvaluation>(std::move(outcomes), std::move(metrics), predicted);
}

}  // namespace deberta
