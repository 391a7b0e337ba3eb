// Options in a file: {"model": "DIR", "qa": {"top-k": 3}}. What stands outside counts for every verb that has it, what
// stands under a verb's name for that verb alone, and wins.
#pragma once
#include <string>

#include "options/options.h"

namespace deberta::cli {

// Sets what the file says of the verb of `options`; all of the file is checked. Returns the names outside of sections
// that only other verbs have, with commas between. Throws kUsage, and what load_json throws.
std::string apply_config_file(const std::string& path, Options& options);

// The file that sets what is not the default here: one section, without --config and --print-config. Options that are
// secret are left out.
std::string config_text(const Options& options);

}  // namespace deberta::cli
