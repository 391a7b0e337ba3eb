// One function a verb, each in the file of its name; they return the exit code and throw Error. `help` and
// `completion` are in program/.
#pragma once
#include "options/options.h"

namespace deberta::cli {

// The one that the options name.
int run_verb(const Options& options);

int run_classify(const Options& options);
int run_nli(const Options& options);
int run_zero_shot(const Options& options);
int run_ner(const Options& options);
int run_qa(const Options& options);
int run_choose(const Options& options);
int run_rerank(const Options& options);
int run_embed(const Options& options);
int run_detect(const Options& options);
int run_fill(const Options& options);
int run_score(const Options& options);
int run_eval(const Options& options);
int run_tokenize(const Options& options);
int run_forward(const Options& options);
int run_inspect(const Options& options);
int run_check(const Options& options);
int run_convert(const Options& options);
int run_bench(const Options& options);
int run_info(const Options& options);

}  // namespace deberta::cli
