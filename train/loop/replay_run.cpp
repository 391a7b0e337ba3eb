#include "train/loop/replay_run.h"

#include <ATen/Parallel.h>

#include <cmath>
#include <deque>
#include <utility>

#include "base/thread_pool.h"
#include "checkpoint/tensor_table.h"
#include "deberta/checkpoint.h"
#include "deberta/error.h"
#include "deberta/pipeline.h"
#include "train/loop/trainer.h"
#include "train/objectives/language_model.h"

namespace deberta::train {
namespace {

[[noreturn]] void refuse(const std::string& where, std::string message) {
  throw Error(ErrorCode::kInput, where, std::move(message));
}

// Empty when the file has no such tensor.
std::vector<int32_t> integers(const Checkpoint& file, const std::string& path, const std::string& name,
                              const Shape& shape) {
  const TensorView* tensor = file.find(name);
  if (tensor == nullptr) return {};
  if (tensor->shape != shape) refuse(path, name + ": expected the shape of input_ids");
  std::vector<int32_t> values;
  for (const int64_t value : to_int64(*tensor)) {
    if (!std::in_range<int32_t>(value)) refuse(path, name + ": " + std::to_string(value) + " is out of range");
    values.push_back(static_cast<int32_t>(value));
  }
  return values;
}

// Of a step that has input_ids. Padding at both ends is left out; a hole stays as a masked token.
TrainBatch read_step(const Checkpoint& file, const std::string& path, const std::string& step) {
  const Shape& shape = file.find(step + ".input_ids")->shape;
  if (shape.size() != 2) refuse(path, step + ".input_ids: expected the shape [B, L]");
  const auto values = [&](const char* name) { return integers(file, path, step + "." + name, shape); };
  if (file.find(step + ".labels") == nullptr) refuse(path, "expected a tensor " + step + ".labels, got none");
  const std::vector<int32_t> ids_BL = values("input_ids"), labels_BL = values("labels"),
                             type_ids_BL = values("token_type_ids"), position_ids_BL = values("position_ids");
  std::vector<uint8_t> mask_BL;
  for (const int32_t value : values("attention_mask")) mask_BL.push_back(value != 0);
  PackedRows packed = pack({.sequences = static_cast<size_t>(shape[0]),
                            .length = static_cast<size_t>(shape[1]),
                            .ids_BL = ids_BL,
                            .mask_BL = mask_BL,
                            .type_ids_BL = type_ids_BL,
                            .position_ids_BL = position_ids_BL});
  TrainBatch batch;
  batch.ids_T = std::move(packed.batch.ids_T);
  batch.starts = std::move(packed.batch.starts);
  batch.type_ids_T = std::move(packed.batch.type_ids_T);
  batch.position_ids_T = std::move(packed.batch.position_ids_T);
  batch.mask_T = std::move(packed.batch.mask_T);
  batch.longest = packed.batch.longest;
  for (size_t t = 0; t < packed.rows_T.size(); ++t) {
    const int32_t label = labels_BL[static_cast<size_t>(packed.rows_T[t])];
    if (label < 0) continue;
    batch.rows_P.push_back(static_cast<int32_t>(t));
    batch.labels_P.push_back(label);
  }
  return batch;
}

// What a step leaves, with memory of its own.
class Results {
 public:
  void add(const std::string& name, Shape shape, std::span<const float> values) {
    const std::vector<float>& kept = values_.emplace_back(values.begin(), values.end());
    views_.push_back({name, DType::kF32, std::move(shape), std::as_bytes(std::span(kept))});
  }
  void write(const std::string& path) const { write_safetensors(path, views_); }

 private:
  std::deque<std::vector<float>> values_;
  std::vector<TensorView> views_;
};

void replay_step(Trainer& trainer, const ReplaySettings& settings, const std::function<Loss()>& loss,
                 const std::string& step, Results& results) {
  const StepResult result = trainer.step({&loss, 1}, {.rate = settings.learning_rate, .max_norm = settings.max_norm},
                                         [&](const FlatBuffer& gradients, double count) {
                                           std::vector<float> mean;
                                           for (const ParameterSlot& slot : trainer.layout().slots) {
                                             mean.clear();
                                             for (const float value : gradients.of(slot))
                                               mean.push_back(static_cast<float>(static_cast<double>(value) / count));
                                             results.add(step + ".grad." + slot.name, slot.shape, mean);
                                           }
                                         });
  const float mean_loss = static_cast<float>(result.loss / static_cast<double>(std::max<int64_t>(1, result.count)));
  const float norm = static_cast<float>(result.norm);
  results.add(step + ".loss", {1}, {&mean_loss, 1});
  results.add(step + ".norm", {1}, {&norm, 1});
  for (const ParameterSlot& slot : trainer.layout().slots)
    results.add(step + ".weight." + slot.name, slot.shape, trainer.weights().of(slot));
}

}  // namespace

int64_t replay(const ReplaySettings& settings, const RunHooks& hooks) {
  at::set_num_threads(1);
  ThreadPool pool(settings.threads > 0 ? settings.threads : usable_processors());
  const Compute compute{.kernels = select_kernels(settings.kernels), .parallel = pool.parallel()};
  ModelConfig config = load_model_config(settings.model_folder + "/config.json");
  const Checkpoint weights = Checkpoint::open(settings.model_folder);
  config.layout = find_layout(config, weights);
  config.is_causal = settings.objective == Objective::kCausal;
  if (settings.decoder_passes) config.mask_decoder_passes = *settings.decoder_passes;
  Model model = make_model({.config = config, .head = Head::kMaskedLm});
  load_parameters(model, weights);
  Trainer trainer(std::move(model), settings.adam, pool.parallel());
  const Checkpoint file = Checkpoint::open_file(settings.batches);
  Results results;
  int64_t step = 0;
  for (; file.find(std::to_string(step) + ".input_ids") != nullptr; ++step) {
    if (hooks.stop() == StopRequest::kStop) return step;
    const std::string name = std::to_string(step);
    const TrainBatch batch = read_step(file, settings.batches, name);
    const std::function<Loss()> loss = [&] { return language_model_loss(trainer.model(), compute, batch, {}); };
    replay_step(trainer, settings, loss, name, results);
  }
  if (step == 0) refuse(settings.batches, "expected tensors 0.input_ids and 0.labels, got none");
  results.write(settings.output);
  return step;
}

}  // namespace deberta::train
