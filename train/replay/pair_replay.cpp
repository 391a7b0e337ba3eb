// Loads both models, reads the words put in by another program, and records losses and gradients of each.
#include "train/replay/pair_replay.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "checkpoint/tensor.h"
#include "checkpoint/tensor_table.h"
#include "config/model_config.h"
#include "deberta/checkpoint.h"
#include "deberta/error.h"
#include "train/model/parameters.h"
#include "train/replay/replay_files.h"
#include "train/step/generator_files.h"
#include "train/step/pair_trainer.h"
#include "train/step/workplace.h"

namespace deberta::train {
namespace {

Model load_model(ModelConfig config, Head head, const Checkpoint& weights) {
  Model model = make_model({.config = std::move(config), .head = head});
  load_parameters(model, weights);
  return model;
}

Model load_generator(const ReplaySettings& settings) {
  OpenedFiles files = open_generator(settings.generator_folder);
  if (settings.decoder_passes) files.config.mask_decoder_passes = *settings.decoder_passes;
  return load_model(files.config, Head::kMaskedLm, files.weights);
}

Model load_discriminator(const ReplaySettings& settings) {
  const Checkpoint weights = Checkpoint::open(settings.model_folder);
  ModelConfig config = load_model_config(settings.model_folder + "/config.json");
  config.layout = find_layout(config, weights);
  return load_model(std::move(config), Head::kReplacedToken, weights);
}

PairTrainer load_pair(const ReplaySettings& settings, const Compute& compute) {
  if (settings.generator_folder.empty()) {
    throw Error(ErrorCode::kUsage,
                {{.message = "expected the folder of a generator, got none", .argument = "generator_model"}});
  }
  Model generator = load_generator(settings), discriminator = load_discriminator(settings);
  check_pair(generator.form, discriminator.form, settings.pair.sharing);
  if (settings.pair.sharing == TableSharing::kDisentangled) hold_difference(discriminator, generator);
  return PairTrainer(std::move(generator), std::move(discriminator), settings.pair, settings.optimizer, compute);
}

// For the rows to predict.
std::vector<int32_t> read_new_ids(const Checkpoint& file, const ReplaySettings& settings, const std::string& step,
                                  const ReplayBatch& read) {
  const std::vector<int32_t> ids_BL = read_integers(file, settings.batches, step, "new_ids");
  if (ids_BL.empty())
    throw Error(ErrorCode::kInput, settings.batches, "expected a tensor " + step + ".new_ids, got none");
  std::vector<int32_t> ids_P;
  for (const int32_t row : read.batch.rows_P)
    ids_P.push_back(ids_BL[static_cast<size_t>(read.rows_T[static_cast<size_t>(row)])]);
  return ids_P;
}

double rate_of(const Checkpoint& file, const ReplaySettings& settings, const std::string& step) {
  const TensorView* rate = file.find(step + ".learning_rate");
  if (rate == nullptr) return settings.learning_rate;
  if (rate->count() != 1) throw Error(ErrorCode::kInput, settings.batches, rate->name + ": expected one number");
  return double{to_fp32(*rate).front()};
}

void add_results(const std::string& name, const StepResult& result, ReplayResults& results) {
  results.add(name + "loss", result.loss / static_cast<double>(std::max<int64_t>(1, result.count)));
  results.add(name + "norm", result.norm);
}

void replay_step(PairTrainer& pair, const Checkpoint& file, const ReplaySettings& settings, const std::string& step,
                 ReplayResults& results) {
  const ReplayBatch read = read_step(file, settings.batches, step);
  const std::vector<std::vector<int32_t>> ids = {read_new_ids(file, settings, step, read)};
  const double rate = rate_of(file, settings, step);
  const PairStepSettings step_settings{
      .rate = rate,
      .discriminator_rate = settings.discriminator_rate > 0 ? settings.discriminator_rate : rate,
      .max_norm = settings.max_norm};
  const auto see = [&](const ParameterGroup& group) {
    for (const ParameterSlot& slot : group.layout().slots)
      results.add(step + ".grad." + slot.name, slot.shape, group.gradients().of(slot));
  };
  const PairStep result = pair.step({&read.batch, 1}, {}, step_settings, {.given_ids_P = ids, .see = see});
  add_results(step + ".generator.", result.generator, results);
  add_results(step + ".discriminator.", result.discriminator, results);
  for (ParameterGroup& group : pair.groups()) {
    for (const ParameterSlot& slot : group.layout().slots)
      results.add(step + ".weight." + slot.name, slot.shape, group.weights().of(slot));
  }
}

}  // namespace

int64_t replay_pair(const ReplaySettings& settings, const RunHooks& hooks) {
  const Workplace workplace(settings.workplace);
  PairTrainer pair = load_pair(settings, workplace.compute);
  const Checkpoint file = Checkpoint::open_file(settings.batches);
  ReplayResults results;
  int64_t step = 0;
  for (; file.find(std::to_string(step) + ".input_ids") != nullptr; ++step) {
    if (hooks.stop() == StopRequest::kStop) return step;
    replay_step(pair, file, settings, std::to_string(step), results);
  }
  if (step == 0)
    throw Error(ErrorCode::kInput, settings.batches, "expected tensors 0.input_ids and 0.labels, got none");
  results.write(settings.output);
  return step;
}

}  // namespace deberta::train
