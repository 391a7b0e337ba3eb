// The explorer's page (src/web/explorer.html) as one file that needs no server.
#pragma once
#include <string>

#include "base/json.h"

namespace deberta::cli {

// `data` has what explorer-source.js reads in a page: model, text, about, values, heads, thumbnails. The page loads
// nothing, and may not.
std::string explorer_page(const Json& data);

}  // namespace deberta::cli
