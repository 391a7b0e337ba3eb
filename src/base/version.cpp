// The version that CMake passes in.
#include "deberta/library.h"

namespace deberta {
std::string_view version() {
  return DEBERTA_VERSION;
}
}  // namespace deberta
