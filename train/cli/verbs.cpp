#include "train/cli/verbs.h"

#include "deberta/error.h"
#include "options/verb_options.h"

namespace deberta::train {

int run_verb(const Options& options) {
  if (options.verb() == PretrainVerb::kName) return run_pretrain(options);
  if (options.verb() == ReplayVerb::kName) return run_replay(options);
  throw Error(ErrorCode::kUsage, options.verb(),
              "expected pretrain or replay; `deberta " + options.verb() + "` runs the other verbs");
}

}  // namespace deberta::train
