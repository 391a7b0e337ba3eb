// The output layers on the last hidden states of a model, or on its mask decoder.
#pragma once
#include <string_view>

#include "deberta/error.h"

namespace deberta {

enum class Head {
  kNone,           // the hidden states are the answer
  kSequence,       // classes of each sequence, or one number or several
  kToken,          // classes of each token
  kTokenOriginal,  // the same, as the original code has it: with a projection; of ReCoRD also of mentions
  kSpan,           // where an answer begins and ends
  kMaskedLm,       // words: masked ones, or what comes next (ModelConfig::is_causal)
  kReplacedToken,  // which tokens were replaced
  kEntitySpans,    // which labels of the caller's own each span of words has (GLiNER, markers)
  kEntityWords,    // the same from words: whether an entity of a label begins, ends or goes on there (token_level)
};

// A head is recognised by its tensors (the tensors win over `architectures`; a disagreement is a warning).
DEBERTA_API std::string_view to_string(Head head);

}  // namespace deberta
