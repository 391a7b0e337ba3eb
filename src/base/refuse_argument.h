// The error for an argument that cannot be: `argument` is its name, which a program turns into its option.
#pragma once
#include <string>
#include <utility>

#include "deberta/error.h"

namespace deberta {

[[noreturn]] inline void refuse_argument(std::string argument, std::string message) {
  throw Error(ErrorCode::kUsage, {{.message = std::move(message), .argument = std::move(argument)}});
}

}  // namespace deberta
