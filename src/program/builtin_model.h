// Which of the models that ship (models/) a verb takes when none is given.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "deberta/find_model.h"

namespace deberta::program {

// The built-in models that are there.
std::vector<FoundModel> builtin_models();

// The built-in model that fits `verb`, or `task` of `eval`: "builtin:NAME"; empty when none does.
std::string builtin_model_of(std::string_view verb, std::string_view task = "");

// `name`; for none, and for "builtin" alone, the built-in model that fits, which a note names. Throws kUsage when none
// fits, or when it is not where built-in models are.
std::string name_or_builtin(const std::string& name, std::string_view verb, std::string_view task = "");

// What the built-in model cannot do, as a note, where `verb` answers with it.
void note_limits(const std::string& name, std::string_view verb);

}  // namespace deberta::program
