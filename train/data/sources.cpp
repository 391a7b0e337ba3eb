// Deals blocks of samples out by share, shuffles each block, and walks every corpus in its own order.
#include "train/data/sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/refuse_argument.h"
#include "deberta/error.h"
#include "train/data/sample_order.h"
#include "train/ops/random_domains.h"

namespace deberta::train {
namespace {

void check_lengths(const std::vector<Source>& sources, const std::vector<LengthStage>& stages) {
  for (size_t i = 0; i < sources.size(); ++i) {
    for (const LengthStage& stage : stages) {
      if (sources[i].runs.count(stage.max_tokens) > 0) continue;
      throw Error(ErrorCode::kInput, {{.where = fmt::format("corpus {}", i + 1),
                                       .message = fmt::format("expected at least {} pieces for one sequence, got {}",
                                                              stage.max_tokens - 2, sources[i].runs.pieces()),
                                       .remedies = {{"lower {}", "max_seq_length"}}}});
    }
  }
}

}  // namespace

Sources::Sources(std::vector<Source> sources, double exponent, const std::vector<LengthStage>& stages, uint64_t seed)
    : sources_(std::move(sources)),
      stages_(stages),
      source_key_(random_key(seed, RandomDomain::kSource)),
      order_key_(random_key(seed, RandomDomain::kOrder)) {
  if (sources_.empty()) throw Error(ErrorCode::kInput, "corpus", "expected at least one corpus, got none");
  check_lengths(sources_, stages_);
  share_out(exponent);
}

// The largest remainders get what whole numbers leave.
void Sources::share_out(double exponent) {
  if (!(exponent >= 0 && exponent <= 1))
    refuse_argument("source_exponent", fmt::format("expected 0 to 1, got {}", exponent));
  std::vector<double> wanted;
  for (const Source& source : sources_) {
    if (!(source.weight > 0) || !std::isfinite(source.weight))
      refuse_argument("source_weight", fmt::format("expected a number above 0, got {}", source.weight));
    wanted.push_back(source.weight * std::pow(static_cast<double>(source.runs.pieces()), exponent));
  }
  const double total = std::accumulate(wanted.begin(), wanted.end(), 0.0);
  for (double& share : wanted) {
    share *= kBlock / total;
    shares_.push_back(static_cast<uint32_t>(share));
  }
  const auto remainder = [&](size_t source) { return wanted[source] - shares_[source]; };
  std::vector<size_t> order(sources_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return remainder(a) > remainder(b); });
  const uint32_t left = kBlock - std::accumulate(shares_.begin(), shares_.end(), uint32_t{0});
  for (size_t i = 0; i < left; ++i) ++shares_[order[i % order.size()]];
  if (const auto none = std::find(shares_.begin(), shares_.end(), 0u); none != shares_.end())
    refuse_argument("source_weight",
                    fmt::format("corpus {} would get less than one of {} samples", none - shares_.begin() + 1, kBlock));
}

void Sources::draw_block(uint64_t block, size_t stage) {
  if (block == block_ && stage == stage_ && !draws_.empty()) return;
  draws_.resize(kBlock);
  const SampleOrder order(kBlock, source_key_, static_cast<uint32_t>(block), static_cast<uint32_t>(stage));
  std::vector<uint32_t> counts(sources_.size());
  for (uint32_t i = 0; i < kBlock; ++i) {
    auto position = static_cast<uint32_t>(order(i));
    uint32_t source = 0;
    for (; position >= shares_[source]; ++source) position -= shares_[source];
    draws_[i] = {source, counts[source]++};
  }
  block_ = block;
  stage_ = stage;
}

SampleOrigin Sources::find(uint64_t number_in_stage, size_t stage) {
  const uint64_t block = number_in_stage / kBlock;
  draw_block(block, stage);
  const Draw draw = draws_[static_cast<size_t>(number_in_stage % kBlock)];
  const uint64_t rank = block * shares_[draw.source] + draw.rank;
  const uint64_t runs = sources_[draw.source].runs.count(stages_[stage].max_tokens);
  const uint64_t epoch = rank / runs;
  // One order for each source and stage: two stages of the same length do not repeat each other.
  const auto of_order = static_cast<uint32_t>(draw.source << 8 | stage);
  const SampleOrder order(runs, order_key_, static_cast<uint32_t>(epoch), of_order);
  return {draw.source, epoch, order(rank % runs)};
}

}  // namespace deberta::train
