#include "train/loop/replay_run.h"

#include <ATen/Parallel.h>

#include <cmath>
#include <deque>
#include <utility>

#include "base/thread_pool.h"
#include "deberta/checkpoint.h"
#include "deberta/error.h"
#include "train/loop/trainer.h"
#include "train/objectives/language_model.h"

namespace deberta::train {
namespace {

// Rows of B sequences of L tokens.
struct PaddedRows {
  size_t sequences = 0, length = 0;
  std::vector<int64_t> ids_BL = {}, labels_BL = {}, mask_BL = {};
};

[[noreturn]] void refuse(const std::string& where, std::string message) {
  throw Error(ErrorCode::kInput, where, std::move(message));
}

PaddedRows read_step(const Checkpoint& file, const std::string& path, const std::string& step) {
  const auto values = [&](const char* name, bool is_required) {
    const TensorView* tensor = file.find(step + "." + name);
    if (tensor == nullptr && is_required) refuse(path, "expected a tensor " + step + "." + name + ", got none");
    return tensor;
  };
  const TensorView* ids = values("input_ids", true);
  if (ids->shape.size() != 2) refuse(path, step + ".input_ids: expected the shape [B, L]");
  PaddedRows rows{.sequences = static_cast<size_t>(ids->shape[0]), .length = static_cast<size_t>(ids->shape[1])};
  rows.ids_BL = to_int64(*ids);
  for (const auto& [name, target] :
       {std::pair{"labels", &rows.labels_BL}, std::pair{"attention_mask", &rows.mask_BL}}) {
    const TensorView* tensor = values(name, target == &rows.labels_BL);
    if (tensor == nullptr) continue;
    if (tensor->shape != ids->shape) refuse(path, step + "." + name + ": expected the shape of input_ids");
    *target = to_int64(*tensor);
  }
  if (rows.mask_BL.empty()) rows.mask_BL.assign(rows.ids_BL.size(), 1);
  return rows;
}

// Padding at both ends is left out; a hole stays as a masked token.
TrainBatch to_batch(const PaddedRows& rows) {
  TrainBatch batch;
  batch.starts.push_back(0);
  for (size_t b = 0; b < rows.sequences; ++b) {
    size_t begin = b * rows.length, end = begin + rows.length;
    while (begin < end && rows.mask_BL[begin] == 0) ++begin;
    while (begin < end && rows.mask_BL[end - 1] == 0) --end;
    for (size_t t = begin; t < end; ++t) {
      if (rows.labels_BL[t] >= 0) {
        batch.rows_P.push_back(static_cast<int32_t>(batch.ids_T.size()));
        batch.labels_P.push_back(static_cast<int32_t>(rows.labels_BL[t]));
      }
      batch.ids_T.push_back(static_cast<int32_t>(rows.ids_BL[t]));
      batch.position_ids_T.push_back(static_cast<int32_t>(t - b * rows.length));
      batch.mask_T.push_back(rows.mask_BL[t] != 0);
    }
    batch.starts.push_back(static_cast<int32_t>(batch.ids_T.size()));
    batch.longest = std::max(batch.longest, static_cast<int32_t>(end - begin));
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
  config.is_causal = settings.objective == Objective::kCausal;
  if (settings.decoder_passes) config.mask_decoder_passes = *settings.decoder_passes;
  Model model = make_model({.config = config, .head = Head::kMaskedLm});
  load_parameters(model, Checkpoint::open(settings.model_folder));
  Trainer trainer(std::move(model), settings.adam, pool.parallel());
  const Checkpoint file = Checkpoint::open_file(settings.batches);
  Results results;
  int64_t step = 0;
  for (; file.find(std::to_string(step) + ".input_ids") != nullptr; ++step) {
    if (hooks.stop() == StopRequest::kStop) return step;
    const std::string name = std::to_string(step);
    const TrainBatch batch = to_batch(read_step(file, settings.batches, name));
    const std::function<Loss()> loss = [&] { return language_model_loss(trainer.model(), compute, batch, {}); };
    replay_step(trainer, settings, loss, name, results);
  }
  if (step == 0) refuse(settings.batches, "expected tensors 0.input_ids and 0.labels, got none");
  results.write(settings.output);
  return step;
}

}  // namespace deberta::train
