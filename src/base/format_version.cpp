// One sentence for all formats.
#include "base/format_version.h"

#include <fmt/format.h>

#include "deberta/error.h"

namespace deberta {

void check_format_version(int64_t got, int64_t newest, const std::string& where) {
  if (got > newest) {
    throw Error(
        ErrorCode::kUnsupported, where,
        fmt::format("format: expected at most {}, got {}; a newer version of deberta wrote it: use that version",
                    newest, got));
  }
}

}  // namespace deberta
