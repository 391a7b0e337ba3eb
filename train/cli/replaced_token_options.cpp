// Checks which of these options the objective reads; one that nothing would read is a usage error.
#include "train/cli/replaced_token_options.h"

#include <string>

#include "deberta/error.h"

namespace deberta::train {

Objective objective_of(ObjectiveChoice choice) {
  if (choice == ObjectiveChoice::kCausal) return Objective::kCausal;
  return choice == ObjectiveChoice::kRtd ? Objective::kReplaced : Objective::kMasked;
}

PairOptions pair_options(const ReplacedTokenOptions& given) {
  const SharingChoice sharing = given.sharing.value;
  return {.sharing = sharing == SharingChoice::kGdes ? TableSharing::kDisentangled
                     : sharing == SharingChoice::kEs ? TableSharing::kSame
                                                     : TableSharing::kNone,
          .is_joint = given.mode.value == RtdModeChoice::kJoint,
          .lambda = given.lambda.value};
}

void check_objective(bool is_given, const OptionRow& option, Objective objective) {
  if (!is_given || objective == Objective::kReplaced) return;
  throw Error(ErrorCode::kUsage, "--" + std::string(option.name),
              "expected --objective rtd, to which alone it means something");
}

void check_replaced_tokens(const ReplacedTokenOptions& given, Objective objective) {
  check_objective(given.mode.is_given(), *given.mode.row, objective);
  check_objective(given.lambda.is_given(), *given.lambda.row, objective);
  check_objective(given.sharing.is_given(), *given.sharing.row, objective);
  check_objective(given.discriminator_rate.is_given(), *given.discriminator_rate.row, objective);
  check_objective(given.generator_model.is_given(), *given.generator_model.row, objective);
  const bool is_joint = given.mode.value == RtdModeChoice::kJoint;
  if (given.sharing.value == SharingChoice::kEs && !is_joint) {
    throw Error(ErrorCode::kUsage, "--embedding-sharing",
                "expected gdes or nes, since two optimisers cannot move one table, got es; give --rtd-mode joint with "
                "it");
  }
  if (given.discriminator_rate.is_given() && is_joint)
    throw Error(ErrorCode::kUsage, "--discriminator-learning-rate",
                "expected --rtd-mode decoupled, in which the discriminator has an optimiser of its own");
}

}  // namespace deberta::train
