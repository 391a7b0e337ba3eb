// Loading (checks, packing, tables) and the entry of a forward pass.
#include "engine/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "base/thread_pool.h"
#include "checkpoint/tensor_table.h"
#include "engine/batch_check.h"
#include "engine/forward.h"
#include "engine/weights.h"
#include "kernels/rel_lut.h"

namespace deberta {
namespace {

constexpr int64_t kFirstLength = 512;  // tokens that the first table of rows reaches

void check_supported(const ModelConfig& config, const std::string& where) {
  std::vector<Problem> problems;
  if (config.layout == Layout::kV1)
    problems.push_back(
        {where, "the fused projections of version 1 (model_type deberta) are not computed by this version"});
  if (config.conv_kernel_size > 0)
    problems.push_back({where, fmt::format("conv_kernel_size {}: the convolution is not computed by this version",
                                           config.conv_kernel_size)});
  if (config.talking_head) problems.push_back({where, "talking_head: not computed by this version"});
  if (!problems.empty()) throw Error(ErrorCode::kUnsupported, std::move(problems));
}

void check_tensors(const Checkpoint& checkpoint, const ModelConfig& config, Head head, const std::string& where) {
  TensorReport report = compare_tensors(checkpoint, config, head, where);
  for (const Problem& problem : report.warnings) warn(problem.where + ": " + problem.message);
  if (!report.errors.empty()) throw Error(ErrorCode::kTensors, std::move(report.errors));
}

std::string place_of(const Checkpoint& checkpoint) {
  const std::vector<std::string> paths = checkpoint.paths();
  return paths.empty() ? "checkpoint" : paths.front();
}

int64_t longest_sequence(const Batch& batch) {
  int64_t longest = 0;
  for (size_t b = 0; b < batch.sequences(); ++b)
    longest = std::max<int64_t>(longest, batch.starts[b + 1] - batch.starts[b]);
  return longest;
}

void check_finite(const std::vector<float>& values, size_t columns, const char* what) {
  const auto at = std::find_if(values.begin(), values.end(), [](float x) { return !std::isfinite(x); });
  if (at == values.end()) return;
  const auto index = static_cast<size_t>(at - values.begin());
  throw Error(
      ErrorCode::kNotFinite, what,
      fmt::format("row {}, column {}: expected a finite number, got {}", index / columns, index % columns, *at));
}

void check_finite(const ForwardResult& result, size_t hidden_size) {
  for (const Hidden& hidden : result.hidden) check_finite(hidden.rows_TD, hidden_size, "hidden states");
  check_finite(result.pooled_BD, hidden_size, "pooler");
  check_finite(result.logits, result.logits_columns, "logits");
}

}  // namespace

struct Model::State {
  ModelConfig config;
  Checkpoint checkpoint;  // embedding tables point into its files
  Head head;
  KernelSet kernels;
  RelLutParams lut_params;
  ThreadPool pool;
  ModelWeights weights;

  std::mutex mutex;  // one pass at a time: it owns the pool, the arena and the table of rows
  Arena arena;
  std::optional<RelLut> lut;

  State(const Checkpoint& from, const ModelConfig& of, Head head_of, const ModelOptions& options)
      : config(of),
        checkpoint(from),
        head(head_of),
        kernels(select_kernels(options.kernels)),
        lut_params{of.position_buckets, of.max_relative_positions, options.distance == DistanceRule::kOriginal,
                   kFirstLength},
        pool(options.threads > 0 ? options.threads : usable_processors()),
        weights(load_weights(from, of, head_of, kernels, pool.parallel())) {
    if (has_relative_term()) lut.emplace(lut_params);
  }

  bool has_relative_term() const { return config.relative_attention && (config.has_c2p || config.has_p2c); }

  // Rows for every distance of the batch; doubled when it is longer than any before.
  const RelLut* reach(int64_t length) {
    if (!lut) return nullptr;
    if (length > lut->max_length()) {
      lut_params.max_length = std::max(length, 2 * lut->max_length());
      lut.emplace(lut_params);
    }
    return &*lut;
  }
};

Model::Model(std::unique_ptr<State> state) : state_(std::move(state)) {}
Model::~Model() = default;
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;

Model Model::load(const Checkpoint& checkpoint, const ModelConfig& config, const ModelOptions& options) {
  const std::string where = place_of(checkpoint);
  const Head head = detect_head(checkpoint);
  check_tensors(checkpoint, config, head, where);
  check_supported(config, where);
  return Model(std::make_unique<State>(checkpoint, config, head, options));
}

void Model::forward(const Batch& batch, const ForwardOptions& options, ForwardResult& result) const {
  State& s = *state_;
  result = {};
  check_batch(batch, s.config);
  check_options(options, batch, s.config);
  const std::lock_guard lock(s.mutex);
  run_forward(
      {s.config, s.weights, s.kernels, s.pool.parallel(), s.head, s.reach(longest_sequence(batch)), batch, options},
      s.arena, result);
  check_finite(result, static_cast<size_t>(s.config.hidden_size));
}

const ModelConfig& Model::config() const {
  return state_->config;
}
Head Model::head() const {
  return state_->head;
}
int64_t Model::labels() const {
  return state_->weights.labels;
}
uint64_t Model::memory_bytes() const {
  return state_->weights.store.size_bytes();
}

std::string Model::check_report() const {
  const std::shared_ptr<KernelCheck>& check = state_->kernels.check;
  std::string report;
  for (size_t i = 0; check != nullptr && i < kOperations; ++i) {
    const auto operation = static_cast<Operation>(i);
    const KernelCheck::Difference worst = check->worst(operation);
    if (worst.calls == 0) continue;
    report += fmt::format("check: {}: {} calls compared with the reference, worst difference {:.3g} ({})\n",
                          to_string(operation), worst.calls, worst.worst, worst.where);
  }
  return report;
}

}  // namespace deberta
