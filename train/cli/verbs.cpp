// Calls the function of a verb, and shortens LibTorch's message when memory runs out.
#include "train/cli/verbs.h"

#include <c10/util/Exception.h>

#include <new>
#include <string_view>

#include "deberta/error.h"
#include "options/verb_options.h"

namespace deberta::train {

namespace {

int run(const Options& options) {
  if (options.verb() == PretrainVerb::kName) return run_pretrain(options);
  if (options.verb() == FinetuneVerb::kName) return run_finetune(options);
  if (options.verb() == ReplayVerb::kName) return run_replay(options);
  if (options.verb() == ReportVerb::kName) return run_report(options);
  if (options.verb() == BenchVerb::kName) return run_bench(options);
  if (options.verb() == AblateVerb::kName) return run_ablate(options);
  throw Error(ErrorCode::kUsage, options.verb(),
              "expected pretrain, finetune, ablate, replay, report or bench; `deberta " + options.verb() +
                  "` runs the other verbs");
}

}  // namespace

int run_verb(const Options& options) {
  try {
    return run(options);
  } catch (const c10::Error& error) {
    // LibTorch's own error for it comes with a list of its frames.
    if (std::string_view(error.what_without_backtrace()).find("can't allocate memory") == std::string_view::npos) throw;
    throw std::bad_alloc();
  }
}

}  // namespace deberta::train
