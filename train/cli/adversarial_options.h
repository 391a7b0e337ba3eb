// From the options of adversarial fine-tuning to its settings.
#pragma once
#include <optional>
#include <string>

#include "deberta/error.h"
#include "options/verb_options.h"
#include "train/objectives/divergence.h"
#include "train/objectives/perturbation.h"

namespace deberta::train {

inline DivergenceKind divergence_kind(VatLossChoice choice) {
  if (choice == VatLossChoice::kKl) return DivergenceKind::kKl;
  return choice == VatLossChoice::kMse ? DivergenceKind::kSquared : DivergenceKind::kSymmetricKl;
}

// Nothing for plain fine-tuning. Throws kUsage for options about what is not there.
inline std::optional<AdversarialOptions> adversarial_options(const AdversarialSettings& given) {
  if (given.adversarial == AdversarialChoice::kNone) {
    const auto refuse = [](const auto&... settings) {
      for (const OptionRow* row : {(settings.is_given() ? settings.row : nullptr)...}) {
        if (row != nullptr)
          throw Error(ErrorCode::kUsage, "--" + std::string(row->name), "expected --adversarial sift or vat as well");
      }
    };
    refuse(given.vat_lambda, given.vat_learning_rate, given.vat_init_perturbation, given.vat_loss_fn,
           given.sift_compat);
    return std::nullopt;
  }
  return AdversarialOptions{.lambda = given.vat_lambda.value,
                            .learning_rate = given.vat_learning_rate.value,
                            .deviation = given.vat_init_perturbation.value,
                            .kind = divergence_kind(given.vat_loss_fn.value),
                            .normalises_inputs = given.adversarial == AdversarialChoice::kSift,
                            .is_original = given.sift_compat.value == SiftCompat::kOriginal};
}

}  // namespace deberta::train
