// Encodings put together token by token.
#pragma once
#include <cstdint>

#include "deberta/tokenizer.h"

namespace deberta {

// A token of the template: without a place in a text.
void append_special(int32_t id, int32_t type_id, Encoding& out);

}  // namespace deberta
