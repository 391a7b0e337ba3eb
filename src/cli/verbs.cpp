// The table of verbs and their functions.
#include "cli/verbs.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "cli/kernel_facts.h"
#include "deberta/error.h"
#include "program/help.h"
#include "program/model_options.h"

namespace deberta::cli {
namespace {

constexpr std::pair<std::string_view, int (*)(const Options&)> kRuns[] = {
    {"classify", run_classify},
    {"nli", run_nli},
    {"zero-shot", run_zero_shot},
    {"ner", run_ner},
    {"qa", run_qa},
    {"choose", run_choose},
    {"rerank", run_rerank},
    {"embed", run_embed},
    {"detect", run_detect},
    {"fill", run_fill},
    {"score", run_score},
    {"eval", run_eval},
    {"tokenize", run_tokenize},
    {"forward", run_forward},
    {"inspect", run_inspect},
    {"check", run_check},
    {"convert", run_convert},
    {"bench", run_bench},
    {"info", run_info},
    {"completion", run_completion},
    {"help", run_help},
};

}  // namespace

int run_verb(const Options& options) {
  note_of_precision(options);
  const auto* run =
      std::find_if(std::begin(kRuns), std::end(kRuns), [&](const auto& row) { return row.first == options.verb(); });
  if (run == std::end(kRuns)) throw Error(ErrorCode::kInternal, options.verb(), "the verb has no code");
  return run->second(with_folder_limits(options));
}

}  // namespace deberta::cli
