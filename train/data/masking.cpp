// Groups pieces into units, chooses spans window by window, and replaces pieces, all by Philox draws.
#include "train/data/masking.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "base/philox.h"
#include "deberta/error.h"
#include "train/ops/random_domains.h"

namespace deberta::train {
namespace {

constexpr double kOne = 4294967296.0;  // 2^32

PhiloxCounter bits_at(uint64_t key, uint32_t index, SequenceNumber number) {
  return philox({index, number.part, static_cast<uint32_t>(number.sample), static_cast<uint32_t>(number.sample >> 32)},
                {static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32)});
}

size_t below(uint32_t bits, size_t count) {
  return static_cast<size_t>((static_cast<uint64_t>(bits) * count) >> 32);
}

// The draws of one sequence, in order.
class Draws {
 public:
  Draws(uint64_t key, SequenceNumber number) : key_(key), number_(number) {}

  uint32_t next() {
    if (used_ == bits_.size()) {
      bits_ = bits_at(key_, index_++, number_);
      used_ = 0;
    }
    return bits_[used_++];
  }

  // 1 .. most, n with weight 1/n.
  size_t gram(size_t most) {
    double total = 0;
    for (size_t n = 1; n <= most; ++n) total += 1.0 / static_cast<double>(n);
    double rest = next() / kOne * total;
    for (size_t n = 1; n < most; ++n) {
      rest -= 1.0 / static_cast<double>(n);
      if (rest < 0) return n;
    }
    return most;
  }

 private:
  uint64_t key_;
  SequenceNumber number_;
  PhiloxCounter bits_{};
  size_t used_ = 4;
  uint32_t index_ = 0;
};

[[noreturn]] void refuse(std::string argument, std::string expected, double got) {
  throw Error(ErrorCode::kUsage,
              {{.message = fmt::format("expected {}, got {}", expected, got), .argument = std::move(argument)}});
}

}  // namespace

void check_mask_options(const MaskOptions& options) {
  const auto is_share = [](double value) { return value >= 0 && value <= 1; };
  if (!(options.rate > 0 && options.rate < 1)) refuse("mlm_probability", "a number between 0 and 1", options.rate);
  if (options.max_gram < 1 || options.max_gram > 16)
    refuse("max_gram", "1 to 16", static_cast<double>(options.max_gram));
  if (options.max_predictions < 1) refuse("max_predictions", "at least 1", 0);
  if (!is_share(options.mask_share)) refuse("mask_share", "0 to 1", options.mask_share);
  if (!is_share(options.keep_share) || options.mask_share + options.keep_share > 1 + 1e-12)
    refuse("keep_share", "0 to 1 - mask_share", options.keep_share);
}

Masker::Masker(const Pieces& pieces, const MaskOptions& options, uint64_t seed)
    : pieces_(pieces),
      options_(options),
      choice_key_(random_key(seed, RandomDomain::kMask)),
      replacement_key_(random_key(seed, RandomDomain::kReplace)) {
  check_mask_options(options);
}

// The positions of each word, or of each piece. A piece that continues a word joins the unit before it, even where a
// special one lies between.
std::vector<std::vector<size_t>> Masker::units_of(std::span<const int32_t> ids) const {
  std::vector<std::vector<size_t>> units;
  for (size_t i = 0; i < ids.size(); ++i) {
    const auto id = static_cast<size_t>(ids[i]);
    if (pieces_.is_special_V[id] != 0) continue;
    const bool joins = options_.max_gram > 1 && !units.empty() && pieces_.continues_word_V[id] != 0;
    if (!joins) units.emplace_back();
    units.back().push_back(i);
  }
  return units;
}

// Half to even, as Python rounds: 2 of 10 tokens, 4 of 30.
size_t Masker::quota(size_t tokens) const {
  const auto share = static_cast<size_t>(std::nearbyint(static_cast<double>(tokens) * options_.rate));
  return std::min(options_.max_predictions, std::max<size_t>(1, share));
}

// From left to right, windows of 1 / rate units for each unit to mark, which begin anywhere in their window.
std::vector<Masker::Span> Masker::choose(size_t units, SequenceNumber number) const {
  const auto window = static_cast<size_t>(1 / options_.rate);
  Draws draws(choice_key_, number);
  std::vector<Span> spans;
  for (size_t at = 0; at < units;) {
    const size_t n = draws.gram(options_.max_gram);
    const size_t size = std::min(n * window, units - at);
    const size_t begin = at + below(draws.next(), size);
    const size_t end = std::min(begin + n, units);
    spans.push_back({begin, end});
    at = std::max(at + size, end);
  }
  for (size_t left = spans.size(); options_.has_uniform_tail && left > 1; --left)
    std::swap(spans[left - 1], spans[below(draws.next(), left)]);
  return spans;
}

int32_t Masker::replacement(int32_t id, size_t position, SequenceNumber number) const {
  const PhiloxCounter bits = bits_at(replacement_key_, static_cast<uint32_t>(position), number);
  const double share = bits[0] / kOne;
  if (share < options_.mask_share) return pieces_.special.mask;
  if (share < options_.mask_share + options_.keep_share) return id;
  return static_cast<int32_t>(below(bits[1], pieces_.size()));
}

void Masker::mask(std::span<int32_t> ids, SequenceNumber number, Predictions& predictions) const {
  const std::vector<std::vector<size_t>> units = units_of(ids);
  const size_t wanted = quota(ids.size());
  std::vector<size_t> positions;
  for (const Span& span : choose(units.size(), number)) {
    for (size_t unit = span.begin; unit < span.end && positions.size() < wanted; ++unit)
      positions.insert(positions.end(), units[unit].begin(), units[unit].end());
  }
  std::sort(positions.begin(), positions.end());  // permuted windows
  for (const size_t position : positions) {
    predictions.positions.push_back(static_cast<int32_t>(position));
    predictions.labels.push_back(ids[position]);
    ids[position] = replacement(ids[position], position, number);
  }
}

}  // namespace deberta::train
