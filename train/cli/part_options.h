// What of the training files is held out to be evaluated on: a share of them (--validation-split), or one of several
// folds (--fold).
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "options/verb_options.h"
#include "train/finetune/settings.h"

namespace deberta::train {

struct Fold {
  size_t number = 1, of = 1;  // number counts from 1
};
std::optional<Fold> fold_of(const FinetuneVerb& options);

bool holds_out(const FinetuneVerb& options);

// Throws kUsage for files that cannot be parted, and for two ways to part them.
void check_part(const FinetuneVerb& options);
void part_training(const FinetuneVerb& options, TaskFiles& files);

// The run of a fold is a folder of the one that was named.
std::string folder_of_run(const FinetuneVerb& options);

void refuse_streams(const std::string& option, const std::string& what, const std::vector<std::string>& files);

}  // namespace deberta::train
