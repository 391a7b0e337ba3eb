// The option table: one row an option, one row a verb. Parsing, help, completion, docs/options.md, environment names
// and
// --config files all follow from it.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "deberta/config.h"

namespace deberta {

struct VerbRow {
  std::string_view name;
  std::string_view summary;
  std::string_view arguments;  // positional ones, as in the usage line
  std::string_view example;    // the words after `deberta`
};

std::span<const VerbRow> verb_table();
const VerbRow* find_verb(std::string_view name);
bool applies_to(const OptionRow& row, std::string_view verb);
std::vector<const OptionRow*> options_of(std::string_view verb);
bool has_option(std::string_view verb, std::string_view name);
std::string environment_name(const OptionRow& row);  // "max-tokens" -> "DEBERTA_MAX_TOKENS"

// "16k" -> 16000, "2GiB" -> 2^31: a number with an optional k, M, G, KiB, MiB or GiB. Throws kUsage.
uint64_t parse_size(std::string_view text, std::string_view where);

}  // namespace deberta
