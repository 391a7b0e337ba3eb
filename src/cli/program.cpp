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

#include "cli/command_line.h"
#include "cli/help.h"
#include "cli/interrupt.h"
#include "cli/verbs.h"
#include "deberta/error.h"
#include "deberta/library.h"

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

// The part of stdout that is still buffered may meet a full disk or a closed pipe.
int finish(int code) {
  if (std::fflush(stdout) == 0) return code;
  std::fputs("standard output: write failed\n", stderr);
  return code == 0 ? 1 : code;
}

int run_words(const std::vector<std::string>& words) {
  if (words.empty() || words.front() == "-h" || words.front() == "--help") {
    std::fputs(overview().c_str(), stdout);
    return 0;
  }
  if (words.front() == "--version") {
    std::fputs(fmt::format("deberta {}\n", version()).c_str(), stdout);
    return 0;
  }
  const CommandLine line = parse_command_line(words);
  if (line.wants_help) {
    std::fputs(help_of(words.front()).c_str(), stdout);
    return 0;
  }
  if (line.options.flag("print-config")) {
    std::fputs(line.options.describe().c_str(), stdout);
    return 0;
  }
  if (!line.options.flag("quiet")) {
    set_warning_sink(
        [](void*, std::string_view message) { std::fputs(fmt::format("warning: {}\n", message).c_str(), stderr); });
  }
  for (const auto& [name, run] : kRuns) {
    if (name == words.front()) return run(line.options);
  }
  throw Error(ErrorCode::kInternal, words.front(), "the verb has no code");
}

}  // namespace

int run_program(int argc, char** argv) {
  install_signal_handlers();
  try {
    return finish(run_words(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc)));
  } catch (const Error& error) {
    std::fflush(stdout);
    std::fputs(fmt::format("{}\n", error.what()).c_str(), stderr);
    return error.exit_code();
  } catch (const std::bad_alloc&) {
    std::fputs("out of memory\n", stderr);
  } catch (const std::exception& error) {
    std::fputs(fmt::format("internal: {}\n", error.what()).c_str(), stderr);
  }
  return 1;
}

}  // namespace deberta::cli
