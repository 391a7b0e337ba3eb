// Runs generator and discriminator over the micro-batches of a step, with one optimiser or one after the other.
#include "train/step/pair_trainer.h"

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

StepResult labels_of(std::span<const TrainBatch> batches) {
  StepResult result;
  for (const TrainBatch& batch : batches) result.count += static_cast<int64_t>(batch.rows_P.size());
  result.divisor = static_cast<double>(result.count);
  return result;
}

void take(const ParameterGroup::Update& update, std::span<StepResult* const> results) {
  for (StepResult* result : results) {
    result->norm = update.norm;
    result->is_finite = update.is_finite;
    result->loss_scale = update.loss_scale;
  }
}

// One micro-batch's part of `factor` times the mean over the step's `result.count` labels.
void differentiate(const Loss& loss, double factor, StepResult& result) {
  if (loss.count == 0) return;
  (loss.sum * (factor / result.divisor)).backward();
  result.loss += loss.sum.item<double>();
  result.correct += loss.correct;
}

}  // namespace

PairTrainer::PairTrainer(Model generator, Model discriminator, const PairOptions& options,
                         const OptimizerOptions& optimizer, const Compute& compute)
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
  groups_.emplace_back(of_generator, optimizer, compute.parallel);
  if (!options_.is_joint) groups_.emplace_back(of_discriminator, optimizer, compute.parallel);
  move_into_groups();
}

// A discriminator without tables of its own has the generator's.
void PairTrainer::move_into_groups() {
  if (options_.sharing == TableSharing::kSame) {
    discriminator_ = join_tables(discriminator_, generator_, options_.sharing);
  }
  std::map<std::string, ParameterMemory> memories;
  for (ParameterGroup& group : groups_) {
    const std::vector<ParameterMemory> memory = group.memory();
    for (size_t n = 0; n < memory.size(); ++n) memories[group.layout().slots[n].name] = memory[n];
  }
  for (const auto& [model, prefix] :
       {std::pair{&generator_, "generator."}, std::pair{&discriminator_, "discriminator."}}) {
    std::vector<ParameterMemory> memory;
    for (const NamedParameter& parameter : trained_parameters(*model)) {
      const auto own = memories.find(prefix + parameter.name);
      memory.push_back(own != memories.end() ? own->second : memories.at("generator." + parameter.name));
    }
    move_parameters(*model, memory);
  }
}

struct PairTrainer::StepInput {
  std::span<const TrainBatch> batches;
  const DropoutStream& dropout;
  const PairStepSettings& settings;
  const PairStepExtras& extras;
};

PackedStore* PairTrainer::store_for(const StepInput& input) const {
  return input.batches.size() > 1 ? compute_.store : nullptr;
}

std::vector<TrainBatch> PairTrainer::run_generator(const StepInput& input, double scale, StepResult& result) {
  result = labels_of(input.batches);
  std::vector<TrainBatch> replaced;
  for (size_t n = 0; n < input.batches.size(); ++n) {
    input.extras.check_stop();
    const GeneratorLoss words = generator_loss(generator_, compute_, input.batches[n], input.dropout);
    differentiate(words.loss, scale, result);
    const auto& chosen = input.extras.given_ids_P;
    replaced.push_back(replace_tokens(input.batches[n], chosen.empty() ? words.ids_P : chosen[n]));
  }
  return replaced;
}

void PairTrainer::run_discriminator(const StepInput& input, std::span<const TrainBatch> replaced, double scale,
                                    PairStep& result) {
  const Model joined = joined_discriminator();
  result.discriminator = labels_of(replaced);
  result.replaced = result.flagged = result.detected = 0;
  for (const TrainBatch& batch : replaced) {
    if (options_.is_joint) input.extras.check_stop();
    const DiscriminatorLoss tokens = discriminator_loss(joined, compute_, batch, input.dropout);
    differentiate(tokens.loss, options_.lambda * scale, result.discriminator);
    result.replaced += tokens.replaced;
    result.flagged += tokens.flagged;
    result.detected += tokens.detected;
  }
}

void PairTrainer::step_jointly(const StepInput& input, PairStep& result) {
  ParameterGroup& group = groups_[0];
  const auto both = [&](double scale) -> ParameterGroup::Differentiated {
    run_discriminator(input, run_generator(input, scale, result.generator), scale, result);
    if (input.extras.see) input.extras.see(group);
    return {.has_finite_loss = std::isfinite(result.generator.loss) && std::isfinite(result.discriminator.loss)};
  };
  take(group.step(both, {input.settings.rate, input.settings.max_norm, store_for(input)}),
       std::vector{&result.generator, &result.discriminator});
}

// The step cannot be left once the generator's weights have moved.
void PairTrainer::step_in_turn(const StepInput& input, PairStep& result) {
  const PairStepSettings& settings = input.settings;
  std::vector<TrainBatch> replaced;
  const auto of_generator = [&](double scale) -> ParameterGroup::Differentiated {
    replaced = run_generator(input, scale, result.generator);
    if (input.extras.see) input.extras.see(groups_[0]);
    return {.has_finite_loss = std::isfinite(result.generator.loss)};
  };
  take(groups_[0].step(of_generator, {settings.rate, settings.max_norm, store_for(input)}),
       std::vector{&result.generator});
  if (!result.generator.is_finite) return;
  const auto of_discriminator = [&](double scale) -> ParameterGroup::Differentiated {
    run_discriminator(input, replaced, scale, result);
    if (input.extras.see) input.extras.see(groups_[1]);
    return {.has_finite_loss = std::isfinite(result.discriminator.loss)};
  };
  take(groups_[1].step(of_discriminator, {settings.discriminator_rate, settings.max_norm, store_for(input)}),
       std::vector{&result.discriminator});
}

PairStep PairTrainer::step(std::span<const TrainBatch> batches, const DropoutStream& dropout,
                           const PairStepSettings& settings, const PairStepExtras& extras) {
  PairStep result;
  if (labels_of(batches).count == 0) return result;
  const StepInput input{batches, dropout, settings, extras};
  options_.is_joint ? step_jointly(input, result) : step_in_turn(input, result);
  return result;
}

}  // namespace deberta::train
