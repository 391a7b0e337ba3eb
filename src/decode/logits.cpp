// One pass over the values: a NaN or an infinity is an error, since no answer could be trusted.
#include "decode/logits.h"

#include <algorithm>
#include <cmath>

#include "deberta/error.h"

namespace deberta {

void check_finite(std::span<const float> logits) {
  if (std::all_of(logits.begin(), logits.end(), [](float x) { return std::isfinite(x); })) return;
  throw Error(ErrorCode::kNotFinite, "logits", "a logit is NaN or infinite; check the weights");
}

}  // namespace deberta
