// The verbs of the training half. Another program runs them, deberta-train, which links LibTorch; this one starts it
// with the same command line.
#include "cli/training.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "base/file.h"
#include "cli/verbs.h"
#include "deberta/error.h"
#include "program/command_line.h"

namespace deberta::cli {
namespace {

constexpr const char* kProgram = "deberta-train";

// Without room to be loaded, LibTorch ends its process before any code of ours can say why.
void check_address_space(const std::string& verb) {
  constexpr rlim_t kLeast = 512, kMebibyte = 1 << 20;
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= kLeast * kMebibyte)
    return;
  throw Error(ErrorCode::kOutOfMemory, verb,
              "expected an address space of at least " + std::to_string(kLeast) + " MiB, which LibTorch fills, got " +
                  std::to_string(limit.rlim_cur / kMebibyte) + "; raise the limit (ulimit -v)");
}

}  // namespace

void start_training_program(const std::vector<std::string>& words) {
  check_address_space(words.front());
  std::vector<char*> arguments{const_cast<char*>(kProgram)};
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::setenv(program::kNotesPrinted, "1", 1);
  std::error_code none;
  const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe", none);
  const std::string beside = (own.parent_path() / kProgram).string();
  if (is_regular_file(beside)) {
    ::execv(beside.c_str(), arguments.data());
  } else {
    ::execvp(kProgram, arguments.data());
  }
  throw Error(ErrorCode::kFileNotFound, kProgram,
              "not found beside deberta nor in PATH; in a checkout `./run " + words.front() +
                  " ...` builds it, elsewhere docs/start/install.md says how");
}

int run(const PretrainVerb& options) {
  start_training_program(options.words);
}

int run(const FinetuneVerb& options) {
  start_training_program(options.words);
}

int run(const AblateVerb& options) {
  start_training_program(options.words);
}

int run(const ReplayVerb& options) {
  start_training_program(options.words);
}

int run(const ReportVerb& options) {
  start_training_program(options.words);
}

}  // namespace deberta::cli
