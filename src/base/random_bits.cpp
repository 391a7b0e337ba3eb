// getrandom(2), which gives so few bytes whole.
#include "base/random_bits.h"

#include <sys/random.h>

#include "deberta/error.h"

namespace deberta {

uint32_t random_bits() {
  uint32_t bits = 0;
  if (::getrandom(&bits, sizeof bits, 0) != ssize_t{sizeof bits})
    throw Error(ErrorCode::kInternal, "random bits", "the system gave none");
  return bits;
}

}  // namespace deberta
