// How a problem is put in words, whatever the arguments are called there.
#pragma once
#include <functional>
#include <string>

#include "deberta/error.h"

namespace deberta {

// The words for the argument of a remedy, or for a place that is an argument (a remedy without text). For a remedy
// whose text has no {}: what is appended to it.
using ArgumentWords = std::function<std::string(const Remedy& remedy)>;

// The source, then what is wrong there: a file, a key, an argument. Empty: no place.
std::string place_text(const Problem& problem, const ArgumentWords& words);

// The message and its remedies: "expected x, got y; do this or that".
std::string message_text(const Problem& problem, const ArgumentWords& words);

}  // namespace deberta
