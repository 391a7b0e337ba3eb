// From argv to a verb; from an exception to an exit code.
#include "program/program.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <sstream>
#include <string>
#include <vector>

#include "deberta/error.h"
#include "deberta/library.h"
#include "options/error_options.h"
#include "options/options.h"
#include "options/other_trainers.h"
#include "options/verb_options.h"
#include "pipeline/parameters.h"
#include "program/command_line.h"
#include "program/config_file.h"
#include "program/help.h"
#include "program/interrupt.h"
#include "program/note.h"
#include "program/output.h"
#include "program/read_places.h"

namespace deberta::program {
namespace {

std::terminate_handler g_ends_otherwise = nullptr;

// What a function throws that may not, as LibTorch's destructors do when memory is short, reaches no catch.
[[noreturn]] void end_without_memory() {
  try {
    if (const std::exception_ptr error = std::current_exception()) std::rethrow_exception(error);
  } catch (const std::bad_alloc&) {
    std::fputs("out of memory\n", stderr);
    std::_Exit(1);
  } catch (...) {
  }
  g_ends_otherwise();
  std::abort();
}

int run_words(const std::vector<std::string>& words, RunVerb run_verb) {
  const bool wants_help = words.empty() || words.front() == "-h" || words.front() == "--help";
  if (words.size() > 1 && (wants_help || words.front() == "--version")) {
    throw Error(
        ErrorCode::kUsage, words.front(),
        fmt::format("expected nothing after it, got {}; `deberta VERB --help` shows the options of a verb", words[1]));
  }
  if (wants_help) {
    print(overview());
    return 0;
  }
  if (words.front() == "--version") {
    print(fmt::format("deberta {}\n", version()));
    return 0;
  }
  const CommandLine line = parse_command_line(words);
  if (line.wants_help) {
    print(help_of(words.front()));
    return 0;
  }
  const AnyVerb general(line.options);
  set_quiet(general.quiet);
  for (const std::string& text : line.notes) note(text);
  if (general.print_config) {
    check_keeps_inputs(line.options, {{"standard output", "-"}});
    note(line.options.describe());
    print(config_text(line.options));
    return 0;
  }
  if (!general.quiet) {
    set_warning_sink(
        [](void*, std::string_view message) { std::fputs(fmt::format("warning: {}\n", message).c_str(), stderr); });
  }
  check_outputs(line.options);
  return run_verb(line.options);
}

}  // namespace

int run_program(int argc, char** argv, RunVerb run_verb) {
  keep_standard_streams();
  install_signal_handlers();
  g_ends_otherwise = std::set_terminate(end_without_memory);
  try {
    const int code = run_words(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc), run_verb);
    return interrupted() != 0 ? interrupted() : code;
  } catch (const Interrupted&) {
    return interrupted();
  } catch (const ReaderGone&) {  // answers are no longer wanted, but some were not written
  } catch (const Error& error) {
    const Error named = with_options(error);
    std::fputs(fmt::format("{}\n", named.what()).c_str(), stderr);
    return interrupted() != 0 ? interrupted() : error.exit_code();
  } catch (const std::bad_alloc&) {
    std::fputs("out of memory\n", stderr);
  } catch (const std::exception& error) {
    std::fputs(fmt::format("internal: {}\n", error.what()).c_str(), stderr);
  }
  return 1;
}

std::vector<std::pair<std::string, std::string>> option_kinds(std::string_view verb) {
  std::vector<std::pair<std::string, std::string>> kinds;
  for (const OptionRow& row : option_table()) {
    if (applies_to(row, verb)) kinds.emplace_back(row.name, row.type == OptionType::kFlag ? "flag" : row.range);
  }
  for (const OptionAlias& alias : option_aliases()) {
    if (find_alias(verb, alias.name) == &alias) kinds.emplace_back(alias.name, alias.value.empty() ? "" : "flag");
  }
  for (const OtherTrainersOption& row : other_trainers_options()) {
    if (!names_word(row.verbs, verb)) continue;
    std::istringstream names{std::string(row.names)};
    names.exceptions(std::ios::badbit);
    for (std::string name; names >> name;) kinds.emplace_back(name, "of others");
  }
  return kinds;
}

}  // namespace deberta::program
