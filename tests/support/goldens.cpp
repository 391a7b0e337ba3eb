// Comparison of golden models with the engine: packing, forward, and packed rows back to their positions in [B, L].
#include "support/goldens.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/checked.h"
#include "deberta/checkpoint.h"
#include "deberta/error.h"
#include "deberta/model.h"
#include "support/implementations.h"
#include "support/test_device.h"

namespace deberta::test {
namespace {

std::vector<double> to_doubles(const TensorView& tensor) {
  if (tensor.dtype == DType::kF64) {
    std::vector<double> values(tensor.count());
    std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
    return values;
  }
  const std::vector<float> values = to_fp32(tensor);
  return {values.begin(), values.end()};
}

// An input as integers; empty if the golden has none of that name.
template <class Integer>
std::vector<Integer> integers(const Golden& golden, const std::string& name) {
  const auto entry = golden.inputs.find(name);
  std::vector<Integer> result;
  if (entry == golden.inputs.end()) return result;
  for (const int64_t value : to_int64(entry->second)) result.push_back(static_cast<Integer>(value));
  return result;
}

// The inputs as the engine takes them, and the way back: which row of [B * L] each packed row is.
struct Packed {
  size_t length = 0;             // L
  std::vector<uint8_t> mask_BL;  // all 1 without a mask
  PackedRows pack;

  size_t padded_row(size_t packed_row) const { return static_cast<size_t>(pack.rows_T[packed_row]); }
  bool is_real(size_t packed_row) const { return mask_BL[padded_row(packed_row)] != 0; }
};

Packed pack_inputs(const Golden& golden) {
  const auto ids = integers<int32_t>(golden, "input_ids");
  const auto types = integers<int32_t>(golden, "token_type_ids");
  const auto positions = integers<int32_t>(golden, "position_ids");
  Packed packed;
  packed.length = static_cast<size_t>(golden.inputs.at("input_ids").shape.back());
  const auto mask = integers<uint8_t>(golden, "attention_mask");
  const auto buckets = integers<int32_t>(golden, "relative_pos");
  const bool is_3d = mask.size() > ids.size();
  if (!is_3d) packed.mask_BL = mask;
  packed.pack = pack({.sequences = ids.size() / packed.length,
                      .length = packed.length,
                      .ids_BL = ids,
                      .mask_BL = packed.mask_BL,
                      .type_ids_BL = types,
                      .position_ids_BL = positions,
                      .mask_BLL = is_3d ? mask : std::vector<uint8_t>{},
                      .buckets_LL = buckets});
  if (packed.mask_BL.empty()) packed.mask_BL.assign(ids.size(), 1);
  return packed;
}

// The positions to predict as indices into [B * L]: the input `rows`, else those with a label.
std::vector<int32_t> predicted_positions(const Golden& golden) {
  std::vector<int32_t> positions = integers<int32_t>(golden, "rows");
  if (!positions.empty()) return positions;
  const auto labels = integers<int32_t>(golden, "labels");
  for (size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] > 0) positions.push_back(static_cast<int32_t>(i));
  }
  return positions;
}

int32_t packed_row(const Packed& packed, size_t padded_row) {
  const auto& rows_T = packed.pack.rows_T;
  return static_cast<int32_t>(std::find(rows_T.begin(), rows_T.end(), static_cast<int32_t>(padded_row)) -
                              rows_T.begin());
}

std::vector<TokenGroup> make_mentions(const Golden& golden, const Packed& packed) {
  std::vector<TokenGroup> mentions;
  const auto indices = integers<int32_t>(golden, "entity_indices");
  if (indices.empty()) return mentions;
  const auto& shape = golden.inputs.at("entity_indices").shape;  // [B, mentions, pieces]
  const auto each = static_cast<size_t>(shape[1]), pieces = static_cast<size_t>(shape[2]);
  for (size_t n = 0; n < indices.size() / pieces; ++n) {
    const size_t sequence = n / each;
    mentions.push_back({static_cast<int32_t>(sequence), {}});
    for (size_t at = n * pieces; at < (n + 1) * pieces; ++at) {
      const auto token = static_cast<size_t>(indices[at]);
      if (token > 0) mentions.back().rows.push_back(packed_row(packed, sequence * packed.length + token));
    }
  }
  return mentions;
}

bool is_score(const std::string& output) {
  return output.ends_with(".1") && !output.starts_with("hidden.");
}

ForwardOptions make_options(const Golden& golden, const Packed& packed, Head head, bool wants_scores) {
  ForwardOptions options;
  options.wants_scores = wants_scores;
  for (const auto& [name, tensor] : golden.outputs) {
    if (name.starts_with("hidden.")) options.layers.push_back(parse_number<int32_t>(name.substr(7)).value());
  }
  std::sort(options.layers.begin(), options.layers.end());
  options.wants_logits = golden.outputs.contains("logits") || golden.outputs.contains("pooled");
  if (head == Head::kMaskedLm && options.wants_logits) {
    for (const int32_t position : predicted_positions(golden)) {
      options.rows.push_back(packed_row(packed, static_cast<size_t>(position)));
    }
  }
  options.groups = make_mentions(golden, packed);
  return options;
}

// The largest difference seen; a NaN or a shape that does not fit counts as infinite.
class Difference {
 public:
  void add(double expected, double got) {
    const double difference = std::abs(expected - got);
    worst_ = std::isnan(difference) ? kInfinite : std::max(worst_, difference);
  }
  void add_misfit() { worst_ = kInfinite; }
  double worst() const { return worst_; }

 private:
  static constexpr double kInfinite = std::numeric_limits<double>::infinity();
  double worst_ = 0;
};

Difference compare_flat(const std::vector<double>& expected, const std::vector<float>& got) {
  Difference difference;
  if (expected.size() != got.size()) difference.add_misfit();
  for (size_t i = 0; i < std::min(expected.size(), got.size()); ++i) difference.add(expected[i], double{got[i]});
  return difference;
}

// A mention without pieces has a sentinel as its logit: it must match exactly, and no other logit may equal it.
Difference compare_mentions(const std::vector<double>& expected, const std::vector<float>& got) {
  constexpr float kNoMention = -10000;
  Difference difference = compare_flat(expected, got);
  for (size_t i = 0; i < std::min(expected.size(), got.size()); ++i) {
    if ((expected[i] < kNoMention / 2 || got[i] == kNoMention) && expected[i] != double{got[i]})
      difference.add_misfit();
  }
  return difference;
}

// Expected [B * L, columns], got [T, width]; fewer columns than the width are evenly spaced.
Difference compare_rows(const std::vector<double>& expected_BLC, const std::vector<float>& got_TW,
                        const Packed& packed) {
  const size_t rows = packed.pack.rows_T.size();
  const size_t columns = expected_BLC.size() / packed.mask_BL.size(), width = rows > 0 ? got_TW.size() / rows : 0;
  Difference difference;
  if (columns == 0 || width % columns != 0 || got_TW.size() != rows * width) {
    difference.add_misfit();
    return difference;
  }
  for (size_t row = 0; row < rows; ++row) {
    if (!packed.is_real(row)) continue;
    const double* expected = &expected_BLC[packed.padded_row(row) * columns];
    for (size_t i = 0; i < columns; ++i)
      difference.add(expected[i], double{got_TW[row * width + i * (width / columns)]});
  }
  return difference;
}

const std::vector<float>& score_by_name(const AttentionScores& scores, const std::string& name) {
  if (name == "c2c.1") return scores.c2c_HLL;
  if (name == "c2p.1") return scores.c2p_HLL;
  if (name == "p2c.1") return scores.p2c_HLL;
  return scores.probabilities_HLL;
}

// One sequence of the first layer against [B, H, L, L]. Terms of masked keys have no meaning; their probability is 0.
void compare_scores(const TensorView& expected, const std::string& name, const AttentionScores& scores,
                    const Packed& packed, Difference& difference) {
  const std::vector<double> expected_BHLL = to_doubles(expected);
  const std::vector<float>& got_HLL = score_by_name(scores, name);
  const auto sequence = static_cast<size_t>(scores.sequence);
  const auto heads = static_cast<size_t>(expected.shape[1]);
  const auto first = static_cast<size_t>(packed.pack.batch.starts[sequence]);
  const size_t tokens = static_cast<size_t>(packed.pack.batch.starts[sequence + 1]) - first;
  if (got_HLL.size() != heads * tokens * tokens) return difference.add_misfit();
  for (size_t at = 0; at < got_HLL.size(); ++at) {
    const size_t head = at / (tokens * tokens), i = first + at / tokens % tokens, j = first + at % tokens;
    if (!packed.is_real(i) || (!packed.is_real(j) && name != "probabilities.1")) continue;
    const size_t query = packed.padded_row(i) % packed.length, key = packed.padded_row(j) % packed.length;
    const size_t index = ((sequence * heads + head) * packed.length + query) * packed.length + key;
    difference.add(expected_BHLL[index], double{got_HLL[at]});
  }
}

Difference compare_first_layer(const TensorView& expected, const std::string& name, const ForwardResult& result,
                               const Packed& packed) {
  Difference difference;
  size_t seen = 0;
  for (const AttentionScores& scores : result.scores) {
    if (scores.layer != result.scores.front().layer) continue;
    compare_scores(expected, name, scores, packed, difference);
    ++seen;
  }
  if (seen == 0) difference.add_misfit();
  return difference;
}

Difference compare_logits(const TensorView& expected, const ForwardResult& result, const Golden& golden, Head head,
                          const Packed& packed) {
  if (golden.inputs.contains("entity_indices")) return compare_mentions(to_doubles(expected), result.logits);
  // Either per token and padded, or as the engine returns them: a row for each sequence or position to predict.
  const bool is_per_token = result.logits_rows == packed.pack.rows_T.size() && head != Head::kMaskedLm;
  return is_per_token ? compare_rows(to_doubles(expected), result.logits, packed)
                      : compare_flat(to_doubles(expected), result.logits);
}

Difference compare_output(const std::string& name, const ForwardResult& result, const Golden& golden, Head head,
                          const Packed& packed) {
  const TensorView& expected = golden.outputs.at(name);
  if (is_score(name)) return compare_first_layer(expected, name, result, packed);
  if (name == "pooled") return compare_flat(to_doubles(expected), result.pooled_BD);
  if (name == "logits") return compare_logits(expected, result, golden, head, packed);
  for (const Hidden& hidden : result.hidden) {
    if (name != fmt::format("hidden.{}", hidden.layer)) continue;
    return compare_rows(to_doubles(expected), hidden.rows_TD, packed);
  }
  Difference missing;
  missing.add_misfit();
  return missing;
}

// Every token that the mask lets through must be in the pack.
void check_packing(const Packed& packed, const std::string& where, GoldenReport& report) {
  size_t real = 0, packed_rows = 0;
  for (const uint8_t allowed : packed.mask_BL) real += allowed;
  for (size_t row = 0; row < packed.pack.rows_T.size(); ++row) {
    if (packed.is_real(row)) ++packed_rows;
  }
  if (packed_rows != real)
    report.failures.push_back(fmt::format("{}: {} real tokens, {} packed", where, real, packed_rows));
}

std::map<std::string_view, uint64_t> attention_calls() {
  std::map<std::string_view, uint64_t> calls;
  for (const KernelCount& count : kernel_counts()) {
    if (count.operation == Operation::kAttention) calls[to_string(count.level)] += count.calls;
  }
  return calls;
}

// One call of the model: compares all outputs with scores, or all but the scores without them.
void run_once(const Golden& golden, const Model& model, const Packed& packed, bool wants_scores,
              const std::string& where, GoldenReport& report) {
  ForwardResult result;
  model.forward(packed.pack.batch, make_options(golden, packed, model.head(), wants_scores), result);
  for (const auto& [name, tensor] : golden.outputs) {
    if (is_score(name) && !wants_scores) continue;
    const double error = compare_output(name, result, golden, model.head(), packed).worst();
    const double bound = golden.bounds.at(name);
    if (!wants_scores) report.errors[name] = error;
    if (!(error <= bound)) {
      report.failures.push_back(fmt::format("{}: {}: error {:.3e}, bound {:.3e}", where, name, error, bound));
    }
    ++report.compared;
  }
}

void run(const Golden& golden, const std::string& kernels, Precision precision, GoldenReport& report) {
  const auto config = load_model_config(golden.model_folder + "/config.json");
  const auto checkpoint = Checkpoint::open(golden.model_folder);
  const ModelOptions options = {.precision = precision, .threads = 1, .kernels = kernels, .distance = golden.distance};
  const Model model = load_model(checkpoint, config, options);
  const Packed packed = pack_inputs(golden);
  const std::string where = golden.name + ", " + kernels;
  check_packing(packed, where, report);
  const auto before = attention_calls();
  run_once(golden, model, packed, false, where, report);
  for (const auto& [level, calls] : attention_calls()) {
    const auto earlier = before.find(level);
    const uint64_t new_calls = calls - (earlier != before.end() ? earlier->second : 0);
    if (new_calls > 0) report.attention_calls[level] = new_calls;
  }
  const bool has_scores = std::any_of(golden.outputs.begin(), golden.outputs.end(),
                                      [](const auto& output) { return is_score(output.first); });
  if (has_scores) run_once(golden, model, packed, true, where + ", with scores", report);
}

}  // namespace

GoldenReport compare_with_engine(const Golden& golden, const std::string& kernels, Precision precision) {
  GoldenReport report;
  if (!golden.inputs.contains("input_ids")) {
    report.unsupported = "a layer alone (tests/kernels)";
    return report;
  }
  try {
    run(golden, kernels, precision, report);
  } catch (const Error& error) {
    report.failures.push_back(fmt::format("{}, {}: {}", golden.name, kernels, error.what()));
  }
  return report;
}

std::vector<std::string> usable_kernels() {
  std::vector<std::string> names{"auto"};
  for (const KernelLevel level : levels_of(Operation::kGemm)) names.emplace_back(to_string(level));
  return names;
}

}  // namespace deberta::test
