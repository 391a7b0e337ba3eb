// Rows of several places as those of one.
#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "cli/rows.h"

namespace deberta::cli {

// Standard input and pipes: opened with the first row, so that nobody waits for them who has something to do before
// (whoever fills them may wait for the output to be opened).
std::unique_ptr<RowSource> late_rows(std::function<std::unique_ptr<RowSource>()> open);

// One after the other.
std::unique_ptr<RowSource> chained_rows(std::vector<std::unique_ptr<RowSource>> files);

}  // namespace deberta::cli
