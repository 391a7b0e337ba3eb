// From the options of adversarial fine-tuning to its settings.
#pragma once
#include <optional>

#include "options/verb_options.h"
#include "train/objectives/divergence.h"
#include "train/objectives/perturbation.h"

namespace deberta::train {

inline DivergenceKind divergence_kind(VatLossChoice choice) {
  if (choice == VatLossChoice::kKl) return DivergenceKind::kKl;
  return choice == VatLossChoice::kMse ? DivergenceKind::kSquared : DivergenceKind::kSymmetricKl;
}

// Nothing for plain fine-tuning.
inline std::optional<AdversarialOptions> adversarial_options(const AdversarialSettings& given) {
  if (given.adversarial == AdversarialChoice::kNone) return std::nullopt;
  return AdversarialOptions{.lambda = given.vat_lambda.value,
                            .learning_rate = given.vat_learning_rate,
                            .deviation = given.vat_init_perturbation,
                            .kind = divergence_kind(given.vat_loss_fn),
                            .normalises_inputs = given.adversarial == AdversarialChoice::kSift,
                            .is_original = given.sift_compat == SiftCompat::kOriginal};
}

}  // namespace deberta::train
