// What stands on the last hidden states of a model, or on its mask decoder.
#pragma once
#include <string_view>

#include "deberta/error.h"

namespace deberta {

enum class Head { kNone, kSequence, kToken, kTokenOriginal, kSpan, kMaskedLm, kReplacedToken };

// A head is recognised by its tensors (the tensors win over `architectures`; a disagreement is a warning).
DEBERTA_API std::string_view to_string(Head head);

}  // namespace deberta
