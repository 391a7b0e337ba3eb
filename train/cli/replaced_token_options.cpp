// Checks which of these options the objective reads; one that nothing would read is a usage error.
#include "train/cli/replaced_token_options.h"

#include <string>

#include "deberta/error.h"

namespace deberta::train {

Objective objective_of(ObjectiveChoice choice) {
  if (choice == ObjectiveChoice::kCausal) return Objective::kCausal;
  return choice == ObjectiveChoice::kRtd ? Objective::kReplaced : Objective::kMasked;
}

PairOptions pair_options(const ReplacedTokenOptions& requested) {
  const SharingChoice sharing = requested.sharing.value;
  return {.sharing = sharing == SharingChoice::kGdes ? TableSharing::kDisentangled
                     : sharing == SharingChoice::kEs ? TableSharing::kSame
                                                     : TableSharing::kNone,
          .is_joint = requested.mode.value == RtdModeChoice::kJoint,
          .lambda = requested.lambda.value};
}

void check_objective(bool is_given, const OptionRow& option, Objective objective) {
  if (!is_given || objective == Objective::kReplaced) return;
  throw Error(ErrorCode::kUsage, "--" + std::string(option.name),
              "expected --objective rtd, the only objective that uses this option");
}

void check_replaced_tokens(const ReplacedTokenOptions& requested, Objective objective) {
  check_objective(requested.mode.is_given(), *requested.mode.row, objective);
  check_objective(requested.lambda.is_given(), *requested.lambda.row, objective);
  check_objective(requested.sharing.is_given(), *requested.sharing.row, objective);
  check_objective(requested.discriminator_rate.is_given(), *requested.discriminator_rate.row, objective);
  check_objective(requested.generator_model.is_given(), *requested.generator_model.row, objective);
  const bool is_joint = requested.mode.value == RtdModeChoice::kJoint;
  if (requested.sharing.value == SharingChoice::kEs && !is_joint) {
    throw Error(ErrorCode::kUsage, "--embedding-sharing",
                "expected gdes or nes, since two optimisers cannot move one table, got es; give --rtd-mode joint with "
                "it");
  }
  if (requested.discriminator_rate.is_given() && is_joint)
    throw Error(ErrorCode::kUsage, "--discriminator-learning-rate",
                "expected --rtd-mode decoupled, in which the discriminator has an optimiser of its own");
}

}  // namespace deberta::train
