// The check that every task runs before it reads logits.
#pragma once
#include <span>

namespace deberta {

// Throws kNotFinite for a NaN or an infinity.
void check_finite(std::span<const float> logits);

}  // namespace deberta
