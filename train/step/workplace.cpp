// Selects the kernels and starts the pool; ATen itself is held to one thread.
#include "train/step/workplace.h"

#include <ATen/Parallel.h>

#include "kernels/choice.h"

namespace deberta::train {

Precision faster_precision(const std::string& kernels) {
  const ChosenLevels levels = select_kernels(kernels).levels;
  return gains_speed(levels, automatic_choice().peaks, Precision::kBf16) ? Precision::kBf16 : Precision::kFp32;
}

Workplace::Workplace(const WorkplaceSettings& settings)
    : pool(settings.threads > 0 ? settings.threads : usable_processors()), kernels(settings.kernels) {
  at::set_num_threads(1);
  compute = {.kernels = select_kernels(kernels),
             .parallel = pool.parallel(),
             .precision = settings.precision,
             .store = &store,
             .recomputes_layers = settings.recomputes_layers};
}

}  // namespace deberta::train
