// Errors of the library in the program's words. The library names its own arguments; only this file says which options
// they are.
#pragma once
#include "deberta/error.h"

namespace deberta {

// For printing: the same problems with options in place of arguments ("max_tokens" is --max-tokens), all in `where` and
// `message`. Which of several inputs was at fault is left to the source, which the row reader sets.
Error with_options(const Error& error);

}  // namespace deberta
