// The page of `analyze` that shows what the heads of a model do with a text.
#pragma once
#include <string>

#include "deberta/pipeline.h"
#include "options/verb_options.h"
#include "rows/row.h"

namespace deberta::cli {

// Throws kInput for a text without a token, kTextTooLong for one that no page can hold.
std::string heads_page(const AnalyzeVerb& options, const Pipeline& pipeline, const Row& row);

}  // namespace deberta::cli
