// Loading (checks, packing, tables) and the entry of a forward pass.
#include "deberta/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "base/arena.h"
#include "base/log.h"
#include "base/memory_limit.h"
#include "base/shared_pages.h"
#include "base/thread_pool.h"
#include "config/extraction_config.h"
#include "deberta/error.h"
#include "engine/batch_check.h"
#include "engine/calibration.h"
#include "engine/computation.h"
#include "engine/forward.h"
#include "engine/memory_check.h"
#include "engine/model_access.h"
#include "engine/variant.h"
#include "engine/weights.h"
#include "kernels/devices.h"
#include "kernels/rel_lut.h"

namespace deberta {
namespace {

constexpr int64_t kFirstLength = 512;  // tokens that the first table of rows covers

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

// The activations of some models have channels that int8 cannot hold along with the others: only a calibration shows
// whether a model is one of them.
Calibration find_calibration(const Checkpoint& checkpoint, const ModelConfig& config, const ModelOptions& options) {
  if (options.precision != Precision::kInt8) return {};
  if (has_calibration(checkpoint)) return read_calibration(calibration_path(checkpoint), checkpoint, config);
  const std::string where = checkpoint.paths().front();
  if (!options.allows_uncalibrated) {
    throw Error(ErrorCode::kUncalibrated, {{.where = where,
                                            .message = "int8 needs a calibration of the activations, and there is none",
                                            .argument = "precision",
                                            .remedies = {{"make one", "calibrate"},
                                                         {"use bf16", "precision", "bf16"},
                                                         {"allow it uncalibrated", "allows_uncalibrated"}}}});
  }
  warn(where + ": int8 without a calibration: answers of models with outlier channels may be wrong");
  return {};
}

void check_ranges(const Batch& batch, const ModelWeights& weights) {
  if (weights.precision != Precision::kFp32)
    throw Error(ErrorCode::kInput, "ranges",
                fmt::format("expected a model in fp32, got {}", to_string(weights.precision)));
  if (!batch.mask_T.empty() || !batch.masks_B.empty())
    throw Error(ErrorCode::kInput, "ranges", "expected a batch without masks: every token counts");
}

// Empties it, but keeps the memory for the next results.
void clear(ForwardResult& result) {
  for (Hidden& hidden : result.hidden) hidden.rows_TD.clear();
  result.pooled_BD.clear();
  result.logits.clear();
  result.logits_rows = result.logits_columns = 0;
  result.scores.clear();
  result.decoder_scores.clear();
}

bool has_relative_term(const ModelConfig& config) {
  return config.relative_attention && (config.has_c2p || config.has_p2c);
}

class EngineComputation : public Computation {
 public:
  EngineComputation(const Checkpoint& from, const Variant& of, const ModelOptions& options, Calibration calibration,
                    const KernelSet& kernels)
      : variant_(of),
        checkpoint_(from),
        kernels_(kernels),
        empty_rows_(options.empty_rows),
        lut_params_{of.config.position_buckets, of.config.max_relative_positions,
                    distance_rule(of.config, options.distance) == DistanceRule::kOriginal, kFirstLength},
        pool_(options.threads > 0 ? options.threads : usable_processors()),
        weights_(load_weights(from, of, {options.precision, std::move(calibration)}, kernels_, pool_.parallel())) {
    if (has_relative_term(of.config)) lut_.emplace(lut_params_);
    if (options.shares_weights) shared_ = SharedPages(weights_.store.paged_blocks(), SharedPages::usual_folders());
  }

  void forward(const Batch& batch, const ForwardOptions& options, ActivationRanges* ranges,
               ForwardResult& result) override;
  int64_t labels() const { return weights_.labels; }
  uint64_t memory_bytes() const override { return weights_.store.size_bytes(); }
  std::string check_report() const override;

 private:
  // Rows for every distance of the batch; at least doubled when it is longer than any before.
  const RelLut* reach(int64_t length) {
    if (!lut_) return nullptr;
    if (length > lut_->max_length()) {
      lut_params_.max_length = std::max(length, 2 * lut_->max_length());
      lut_.emplace(lut_params_);
    }
    return &*lut_;
  }

  Variant variant_;
  Checkpoint checkpoint_;  // embedding tables point into its files
  KernelSet kernels_;
  EmptyRows empty_rows_;
  RelLutParams lut_params_;
  ThreadPool pool_;
  ModelWeights weights_;
  SharedPages shared_;  // of the weights, to which it gives their pages back
  PassMemory memory_{kernels_.memory};
  std::optional<RelLut> lut_;
};

void EngineComputation::forward(const Batch& batch, const ForwardOptions& options, ActivationRanges* ranges,
                                ForwardResult& result) {
  std::optional<RangeCollector> collector;
  if (ranges != nullptr) {
    check_ranges(batch, weights_);
    collector.emplace(weights_, variant_.config, *ranges);
  }
  const Pass pass{.config = variant_.config,
                  .weights = weights_,
                  .kernels = kernels_,
                  .parallel = pool_.parallel(),
                  .head = variant_.head,
                  .lut = reach(longest_sequence(batch)),
                  .batch = batch,
                  .options = options,
                  .empty_rows = empty_rows_,
                  .ranges = collector ? &*collector : nullptr};
  run_forward(pass, memory_, result);
}

std::string EngineComputation::check_report() const {
  const std::shared_ptr<KernelCheck>& check = kernels_.check;
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

}  // namespace

struct __attribute__((visibility("hidden"))) Model::State {
  Variant variant;
  int64_t labels = 0;
  std::unique_ptr<Computation> computation;
  std::mutex mutex;  // one pass at a time: it owns the pool, the arena and the table of rows

  static Model make(const Variant& variant, int64_t labels, std::unique_ptr<Computation> computation) {
    return Model(new State{.variant = variant, .labels = labels, .computation = std::move(computation), .mutex = {}});
  }
  static State& of(const Model& model) { return *model.state_; }
  void forward(const Batch& batch, const ForwardOptions& options, ActivationRanges* ranges, ForwardResult& result);
};

void Model::State::forward(const Batch& batch, const ForwardOptions& options, ActivationRanges* ranges,
                           ForwardResult& result) {
  clear(result);
  check_batch(batch, variant, options);
  check_options(options, batch, variant);
  const std::lock_guard lock(mutex);
  computation->forward(batch, options, ranges, result);
  check_finite(result, as_size(variant.config.hidden_size));
}

Model::Model(State* state) : state_(state) {}
Model::~Model() {
  delete state_;
}
Model::Model(Model&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
Model& Model::operator=(Model&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}

Model load_engine_model(const Checkpoint& checkpoint, const Variant& variant, const ModelOptions& options,
                        std::shared_ptr<DeviceMemory> memory) {
  if (memory == nullptr) check_memory(checkpoint, variant, memory_limit_bytes());  // a device's memory ends by itself
  KernelSet kernels = select_kernels(options.kernels);
  kernels.memory = std::move(memory);
  auto engine = std::make_unique<EngineComputation>(checkpoint, variant, options,
                                                    find_calibration(checkpoint, variant.config, options), kernels);
  const int64_t labels = engine->labels();
  return make_model(variant, labels, std::move(engine));
}

Model Model::load(const Checkpoint& checkpoint, const ModelConfig& config, const ModelOptions& options) {
  return load_engine_model(checkpoint, find_variant(checkpoint, config, options.mask_decoder), options,
                           open_device(options.device));
}

Model make_model(const Variant& variant, int64_t labels, std::unique_ptr<Computation> computation) {
  return Model::State::make(variant, labels, std::move(computation));
}

void Model::forward(const Batch& batch, const ForwardOptions& options, ForwardResult& result) const {
  state_->forward(batch, options, nullptr, result);
}

void forward_with_ranges(const Model& model, const Batch& batch, const ForwardOptions& options,
                         ActivationRanges& ranges, ForwardResult& result) {
  Model::State::of(model).forward(batch, options, &ranges, result);
}

const ModelConfig& Model::config() const {
  return state_->variant.config;
}
Head Model::head() const {
  return state_->variant.head.facts->head;
}
bool Model::has_mask_decoder() const {
  return state_->variant.has_mask_decoder;
}
int64_t Model::labels() const {
  return state_->labels;
}
uint64_t Model::memory_bytes() const {
  return state_->computation->memory_bytes();
}
std::string Model::check_report() const {
  return state_->computation->check_report();
}

}  // namespace deberta
