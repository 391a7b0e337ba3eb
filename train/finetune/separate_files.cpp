// Compares files by size and bytes, so that a copy under another name is found as well.
#include "train/finetune/separate_files.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/file.h"
#include "deberta/error.h"
#include "eval/example_files.h"

namespace deberta::train {
namespace {

bool have_same_bytes(const std::string& a, const std::string& b) {
  std::error_code error;
  if (!is_regular_file(a) || !is_regular_file(b)) return false;
  if (std::filesystem::equivalent(a, b, error)) return true;
  const auto size = std::filesystem::file_size(a, error);
  if (error || size == 0 || size != std::filesystem::file_size(b, error)) return false;
  const MappedFile first(a), second(b);
  return std::ranges::equal(first.bytes(), second.bytes());
}

}  // namespace

void check_separate(const std::vector<std::string>& training, const std::vector<std::string>& evaluation) {
  if (evaluation.empty()) return;
  const std::vector<std::string> trained = find_labelled_files(training);
  for (const std::string& path : find_labelled_files(evaluation)) {
    const auto same = std::ranges::find_if(trained, [&](const auto& file) { return have_same_bytes(file, path); });
    if (same == trained.end()) continue;
    throw Error(ErrorCode::kUsage, {{.message = "expected a file that is not a training file, got " + path +
                                                (*same == path ? "" : ", which has the same bytes as " + *same) +
                                                "; name another file, or leave this one out",
                                     .argument = "validation_file"}});
  }
}

}  // namespace deberta::train
