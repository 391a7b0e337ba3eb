#include "train/loop/pair_trainer.h"

#include <ATen/TensorOperators.h>

#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "deberta/error.h"

namespace deberta::train {
namespace {

bool is_table(const std::string& name) {
  return name == "embeddings.word_embeddings.weight" || name == "embeddings.position_embeddings.weight";
}

void append_parameters(std::vector<NamedParameter>& parameters, Model& model, const std::string& prefix,
                       bool has_tables) {
  for (NamedParameter& parameter : trained_parameters(model)) {
    if (!has_tables && is_table(parameter.name)) continue;
    parameters.push_back({prefix + parameter.name, parameter.tensor});
  }
}

int64_t count_labels(std::span<const TrainBatch> batches) {
  size_t count = 0;
  for (const TrainBatch& batch : batches) count += batch.rows_P.size();
  return static_cast<int64_t>(count);
}

// One micro-batch's part of `factor` times the mean over the step's `result.count` labels.
void differentiate(const Loss& loss, double factor, StepResult& result) {
  if (loss.count == 0) return;
  (loss.sum * (factor / static_cast<double>(result.count))).backward();
  result.loss += loss.sum.item<double>();
  result.correct += loss.correct;
}

}  // namespace

PairTrainer::PairTrainer(Model generator, Model discriminator, const PairOptions& options, const AdamOptions& adam,
                         const Compute& compute)
    : generator_(std::move(generator)), discriminator_(std::move(discriminator)), options_(options), compute_(compute) {
  const bool has_own_tables = options_.sharing != TableSharing::kSame;
  if (!has_own_tables && !options_.is_joint) {
    throw Error(ErrorCode::kUsage, "replaced-token detection",
                "optimisers: expected one for both models, whose tables are the same, got two; train jointly, or share "
                "by differences");
  }
  check_pair(generator_.form, discriminator_.form, options_.sharing);
  std::vector<NamedParameter> of_generator, of_discriminator;
  append_parameters(of_generator, generator_, "generator.", true);
  append_parameters(options_.is_joint ? of_generator : of_discriminator, discriminator_, "discriminator.",
                    has_own_tables);
  groups_.emplace_back(of_generator, adam, compute.parallel);
  if (!options_.is_joint) groups_.emplace_back(of_discriminator, adam, compute.parallel);
  move_into_groups();
}

// A discriminator without tables of its own has the generator's.
void PairTrainer::move_into_groups() {
  if (options_.sharing == TableSharing::kSame) {
    discriminator_ = join_tables(discriminator_, generator_, options_.sharing);
  }
  std::map<std::string, ParameterMemory> places;
  for (ParameterGroup& group : groups_) {
    const std::vector<ParameterMemory> memory = group.memory();
    for (size_t n = 0; n < memory.size(); ++n) places[group.layout().slots[n].name] = memory[n];
  }
  for (const auto& [model, prefix] :
       {std::pair{&generator_, "generator."}, std::pair{&discriminator_, "discriminator."}}) {
    std::vector<ParameterMemory> memory;
    for (const NamedParameter& parameter : trained_parameters(*model)) {
      const auto own = places.find(prefix + parameter.name);
      memory.push_back(own != places.end() ? own->second : places.at("generator." + parameter.name));
    }
    move_parameters(*model, memory);
  }
}

std::vector<TrainBatch> PairTrainer::run_generator(std::span<const TrainBatch> batches, const DropoutPlace& place,
                                                   const PairStepExtras& extras, StepResult& result) {
  std::vector<TrainBatch> replaced;
  for (size_t n = 0; n < batches.size(); ++n) {
    const GeneratorLoss words = generator_loss(generator_, compute_, batches[n], place);
    differentiate(words.loss, 1, result);
    replaced.push_back(replace_tokens(batches[n], extras.given_ids_P.empty() ? words.ids_P : extras.given_ids_P[n]));
  }
  return replaced;
}

void PairTrainer::run_discriminator(std::span<const TrainBatch> replaced, const DropoutPlace& place, PairStep& result) {
  const Model joined = joined_discriminator();
  result.discriminator.count = count_labels(replaced);
  for (const TrainBatch& batch : replaced) {
    const DiscriminatorLoss tokens = discriminator_loss(joined, compute_, batch, place);
    differentiate(tokens.loss, options_.lambda, result.discriminator);
    result.replaced += tokens.replaced;
    result.flagged += tokens.flagged;
    result.found += tokens.found;
  }
}

// `results`: of the losses whose gradients the group holds.
void PairTrainer::update(ParameterGroup& group, double rate, const PairStepSettings& settings,
                         const PairStepExtras& extras, std::span<StepResult* const> results) {
  if (extras.see) extras.see(group);
  bool is_finite = true;
  for (const StepResult* result : results) is_finite = is_finite && std::isfinite(result->loss);
  const ParameterGroup::Update update =
      group.update({.rate = rate, .max_norm = settings.max_norm, .has_finite_loss = is_finite});
  for (StepResult* result : results) {
    result->norm = update.norm;
    result->is_finite = update.is_finite;
  }
}

PairStep PairTrainer::step(std::span<const TrainBatch> batches, const DropoutPlace& place,
                           const PairStepSettings& settings, const PairStepExtras& extras) {
  PairStep result;
  StepResult *of_generator = &result.generator, *of_discriminator = &result.discriminator;
  result.generator.count = count_labels(batches);
  if (result.generator.count == 0) return result;
  const std::vector<TrainBatch> replaced = run_generator(batches, place, extras, result.generator);
  if (options_.is_joint) {
    run_discriminator(replaced, place, result);
    update(groups_[0], settings.rate, settings, extras, std::vector{of_generator, of_discriminator});
    return result;
  }
  update(groups_[0], settings.rate, settings, extras, std::vector{of_generator});
  if (!result.generator.is_finite) return result;
  run_discriminator(replaced, place, result);
  update(groups_[1], settings.discriminator_rate, settings, extras, std::vector{of_discriminator});
  return result;
}

}  // namespace deberta::train
