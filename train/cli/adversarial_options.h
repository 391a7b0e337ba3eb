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
inline std::optional<AdversarialOptions> adversarial_options(const AdversarialSettings& requested) {
  if (requested.adversarial == AdversarialChoice::kNone) {
    const auto refuse = [](const auto&... settings) {
      for (const OptionRow* row : {(settings.is_given() ? settings.row : nullptr)...}) {
        if (row != nullptr)
          throw Error(ErrorCode::kUsage, "--" + std::string(row->name), "expected --adversarial sift or vat as well");
      }
    };
    refuse(requested.vat_lambda, requested.vat_learning_rate, requested.vat_init_perturbation, requested.vat_loss_fn,
           requested.sift_compat);
    return std::nullopt;
  }
  return AdversarialOptions{.lambda = requested.vat_lambda.value,
                            .learning_rate = requested.vat_learning_rate.value,
                            .deviation = requested.vat_init_perturbation.value,
                            .kind = divergence_kind(requested.vat_loss_fn.value),
                            .normalises_inputs = requested.adversarial == AdversarialChoice::kSift,
                            .is_original = requested.sift_compat.value == SiftCompat::kOriginal};
}

}  // namespace deberta::train
