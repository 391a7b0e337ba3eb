// Wraps the progress hook, and looks once, after the first step, which operations the reference computed.
#include "train/cli/fallback_note.h"

#include <memory>
#include <set>
#include <utility>

#include "kernels/dispatch.h"

namespace deberta::train {
namespace {

std::string operations_on_reference(const KernelSet& chosen) {
  std::set<std::string> names;
  for (const KernelCount& count : kernel_counts()) {
    const bool has_fast = chosen.level_of(count.operation, count.precision) != KernelLevel::kReference;
    if (count.level == KernelLevel::kReference && count.calls > 0 && has_fast)
      names.emplace(to_string(count.operation));
  }
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace

RunHooks with_fallback_note(RunHooks hooks, const std::string& kernels) {
  const KernelSet chosen = select_kernels(kernels);
  if (chosen.check != nullptr) return hooks;  // runs the reference too
  hooks.on_progress = [chosen, has_looked = std::make_shared<bool>(false), before = hooks.on_progress,
                       note = hooks.on_note](const RunProgress& now) {
    if (now.phase == Phase::kTraining && now.done > 0 && !std::exchange(*has_looked, true)) {
      if (const std::string names = operations_on_reference(chosen); !names.empty())
        note(names +
             ": no fast kernel supports a model of this shape, so the slow reference runs; head sizes that are "
             "multiples of 16 are fast");
    }
    before(now);
  };
  return hooks;
}

}  // namespace deberta::train
