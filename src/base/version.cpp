// The version that CMake passes in.
#include "base/version.h"

namespace deberta {
std::string_view version() {
  return DEBERTA_VERSION;
}
}  // namespace deberta
