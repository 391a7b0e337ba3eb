// From argv to a verb; from an exception to an exit code.
#include "cli/program.h"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "cli/answers.h"
#include "cli/command_line.h"
#include "cli/config_file.h"
#include "cli/help.h"
#include "cli/interrupt.h"
#include "cli/kernel_facts.h"
#include "cli/model_options.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "deberta/error.h"
#include "deberta/library.h"
#include "options/error_options.h"
#include "options/options.h"

namespace deberta::cli {
namespace {

using Run = int (*)(const Options&);
constexpr std::array<std::pair<std::string_view, Run>, 21> kRuns = {{{"classify", run_classify},
                                                                     {"nli", run_nli},
                                                                     {"zero-shot", run_zero_shot},
                                                                     {"ner", run_ner},
                                                                     {"qa", run_qa},
                                                                     {"choose", run_choose},
                                                                     {"rerank", run_rerank},
                                                                     {"embed", run_embed},
                                                                     {"detect", run_detect},
                                                                     {"fill", run_fill},
                                                                     {"score", run_score},
                                                                     {"eval", run_eval},
                                                                     {"tokenize", run_tokenize},
                                                                     {"forward", run_forward},
                                                                     {"inspect", run_inspect},
                                                                     {"check", run_check},
                                                                     {"convert", run_convert},
                                                                     {"bench", run_bench},
                                                                     {"info", run_info},
                                                                     {"completion", run_completion},
                                                                     {"help", run_help}}};

int run_words(const std::vector<std::string>& words) {
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
  if (!line.note.empty()) note(line.options, line.note);
  if (line.options.flag("print-config")) {
    note(line.options, line.options.describe());
    print(config_text(line.options));
    return 0;
  }
  if (!line.options.flag("quiet")) {
    set_warning_sink(
        [](void*, std::string_view message) { std::fputs(fmt::format("warning: {}\n", message).c_str(), stderr); });
  }
  check_outputs(line.options);
  note_of_precision(line.options);
  for (const auto& [name, run] : kRuns) {
    if (name == words.front()) return run(with_folder_limits(line.options));
  }
  throw Error(ErrorCode::kInternal, words.front(), "the verb has no code");
}

}  // namespace

int run_program(int argc, char** argv) {
  keep_standard_streams();
  install_signal_handlers();
  try {
    const int code = run_words(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc));
    return interrupted() != 0 ? interrupted() : code;
  } catch (const Interrupted&) {
    return interrupted();
  } catch (const ReaderGone&) {  // the right answers are no longer wanted, but not all are given
  } catch (const Error& error) {
    const Error named = with_options(error, argc > 1 ? argv[1] : "");
    std::fputs(fmt::format("{}\n", named.what()).c_str(), stderr);
    return interrupted() != 0 ? interrupted() : error.exit_code();
  } catch (const std::bad_alloc&) {
    std::fputs("out of memory\n", stderr);
  } catch (const std::exception& error) {
    std::fputs(fmt::format("internal: {}\n", error.what()).c_str(), stderr);
  }
  return 1;
}

}  // namespace deberta::cli
