// Tells a file from a missing folder, and suggests the sibling whose name is nearest.
#include "hub/model_folder.h"

#include <fmt/format.h>

#include <filesystem>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/folder.h"
#include "base/nearest.h"
#include "deberta/error.h"

namespace deberta {
namespace {

// The folder beside `path` whose name is nearest, as a path; empty when none is near.
std::string nearest_sibling(const std::string& path) {
  namespace fs = std::filesystem;
  constexpr size_t kMaxNames = 1000;
  const fs::path wanted = fs::path(path).has_filename() ? fs::path(path) : fs::path(path).parent_path();
  std::vector<std::string> names;
  const std::string parent = wanted.has_parent_path() ? wanted.parent_path().string() : ".";
  for (const std::string& name : names_in(parent, kMaxNames)) {
    if (is_directory(fmt::format("{}/{}", parent, name))) names.push_back(name);
  }
  const std::vector<std::string_view> candidates(names.begin(), names.end());
  const std::string_view near = nearest_match(wanted.filename().string(), candidates);
  return near.empty() ? std::string() : (wanted.parent_path() / near).string();
}

}  // namespace

void check_model_directory(const std::string& path) {
  if (is_directory(path)) return;
  if (is_regular_file(path))
    throw Error(ErrorCode::kFileNotFound,
                {{.where = path,
                  .message = "expected a model folder, got a file",
                  .remedies = {{"give the folder of the file: {}", "model", parent_folder(path)}}}});
  const std::string near = nearest_sibling(path);
  throw Error(ErrorCode::kFileNotFound, path,
              fmt::format("no such model directory; expected a folder with config.json, weights and a tokenizer{}",
                          near.empty() ? "" : fmt::format("; did you mean {}?", near)));
}

}  // namespace deberta
