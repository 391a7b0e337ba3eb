// Options in a file: {"model": "DIR", "qa": {"top-k": 3}}. A top-level option applies to every verb that has it; one
// under a verb's name applies to that verb alone, and wins.
#pragma once
#include <string>

#include "base/json.h"
#include "options/options.h"

namespace deberta::program {

// Sets what the file says for the verb of `options`; all of the file is checked. Returns the top-level names that only
// other verbs have, separated by commas. Throws kUsage, and what load_json throws.
std::string apply_config_file(const std::string& path, Options& options);

// The file that sets all options that differ from their defaults: one section, without --config and --print-config.
// Secret options are left out.
std::string config_text(const Options& options);

// The value of an option, as such a file has it.
Json option_value(const OptionRow& row, const Options& options);

}  // namespace deberta::program
