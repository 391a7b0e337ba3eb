// What each verb of deberta-train does: one function per verb. They return the exit code and throw Error.
#pragma once
#include "options/options.h"

namespace deberta::train {

int run_pretrain(const Options& options);
int run_finetune(const Options& options);
int run_replay(const Options& options);
int run_report(const Options& options);
int run_bench(const Options& options);
int run_ablate(const Options& options);

// Runs the verb of the options.
int run_verb(const Options& options);

}  // namespace deberta::train
