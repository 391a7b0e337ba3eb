// Names that cannot leave the cache, revisions to commits, and links that stay inside.
#include "hub/hub_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/descriptor.h"
#include "base/file.h"
#include "base/folder.h"
#include "deberta/error.h"

namespace deberta {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFolderMark = "models--";
constexpr std::string_view kSeparator = "--";
constexpr size_t kMaxNameBytes = 96;  // ORG and NAME each, the hub's own limit
constexpr size_t kCommitDigits = 40;
constexpr size_t kMaxRefBytes = 1024;

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
}

// One part of a name: no path separator in it, nothing that climbs.
bool is_name_part(std::string_view text) {
  return !text.empty() && text.size() <= kMaxNameBytes && std::all_of(text.begin(), text.end(), is_name_character) &&
         text.front() != '.' && text.front() != '-' && text.back() != '.' && text.back() != '-' &&
         text.find("..") == std::string_view::npos && text.find(kSeparator) == std::string_view::npos;
}

// Branches may be called feature/x: parts between slashes, none of which climbs.
bool is_revision(std::string_view text) {
  for (size_t begin = 0;;) {
    const size_t end = std::min(text.find('/', begin), text.size());
    const std::string_view part = text.substr(begin, end - begin);
    const bool is_right = !part.empty() && part.size() <= 255 && part.front() != '.' &&
                          std::all_of(part.begin(), part.end(), is_name_character);
    if (!is_right) return false;
    if (end == text.size()) return true;
    begin = end + 1;
  }
}

bool is_commit(std::string_view text) {
  return text.size() == kCommitDigits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string join_first(const std::vector<std::string>& names) {
  if (names.empty()) return "none";
  const size_t shown = std::min(names.size(), kMaxShown);
  std::string text = fmt::format("{}", fmt::join(names.begin(), names.begin() + static_cast<ptrdiff_t>(shown), ", "));
  return shown < names.size() ? fmt::format("{} and {} more", text, names.size() - shown) : text;
}

bool is_below(const fs::path& path, const fs::path& root) {
  return std::mismatch(root.begin(), root.end(), path.begin(), path.end()).first == root.end();
}

// A cache may be shared by many: its links must stay inside, or a model could expose any file that this user can read.
void check_link(const fs::path& link, const fs::path& root) {
  std::error_code error;
  const fs::path target = fs::weakly_canonical(link, error);
  if (error || !is_below(target, root)) {
    throw Error(ErrorCode::kFileType,
                {{.where = link.string(),
                  .message = fmt::format("expected a link inside {}, got one to {}", root.string(),
                                         error ? error.message() : target.string()),
                  .remedies = {{"download the model again, or give its directory with {}", "model"}}}});
  }
  if (fs::is_directory(target, error)) {
    throw Error(ErrorCode::kFileType, {{.where = link.string(),
                                        .message = "expected a file or a link to one, got a link to a folder",
                                        .remedies = {{"give the directory itself with {}", "model"}}}});
  }
}

void check_snapshot(const fs::path& snapshot, const std::string& cache) {
  std::error_code error;
  const fs::path root = fs::canonical(cache, error);
  const fs::path folder = fs::canonical(snapshot, error);
  if (error || !is_below(folder, root)) {
    throw Error(ErrorCode::kFileType, {{.where = snapshot.string(),
                                        .message = fmt::format("expected a folder inside {}", cache),
                                        .remedies = {{"give the directory itself with {}", "model"}}}});
  }
  std::vector<std::string> folders{folder.string()};
  while (!folders.empty()) {
    const std::string here = std::move(folders.back());
    folders.pop_back();
    const auto names = read_names(here);
    if (!names) throw Error(ErrorCode::kFileRead, here, system_message());
    for (const std::string& name : *names) {
      const std::string path = fmt::format("{}/{}", here, name);
      if (is_link(path)) {
        check_link(path, root);
      } else if (is_directory(path)) {
        folders.push_back(path);
      }
    }
  }
}

std::string commit_of(const std::string& folder, const std::string& cache, const HubName& name) {
  if (is_commit(name.revision)) return name.revision;
  const std::string path = fmt::format("{}/refs/{}", folder, name.revision);
  if (!is_regular_file(path)) {
    throw Error(ErrorCode::kFileNotFound, fmt::format("{}@{}", name.repository, name.revision),
                fmt::format("no such revision; looked for {}; revisions there: {}; commits there: {}", path,
                            join_first(names_in(folder + "/refs")), join_first(names_in(folder + "/snapshots"))));
  }
  std::error_code error;
  if (fs::path root = fs::canonical(cache, error); fs::is_symlink(path, error)) check_link(path, root);
  std::string commit = read_file(path, kMaxRefBytes);
  while (!commit.empty() && (commit.back() == '\n' || commit.back() == '\r')) commit.pop_back();
  if (is_commit(commit)) return commit;
  throw Error(ErrorCode::kFileRead, path, "expected a commit of 40 hexadecimal digits; download the model again");
}

}  // namespace

std::optional<HubName> parse_hub_name(std::string_view name) {
  HubName result;
  const size_t at = name.find('@');
  if (at != std::string_view::npos) {
    if (!is_revision(name.substr(at + 1))) return std::nullopt;
    result.revision = name.substr(at + 1);
    name = name.substr(0, at);
  }
  const size_t slash = name.find('/');
  if (slash == std::string_view::npos || !is_name_part(name.substr(0, slash)) || !is_name_part(name.substr(slash + 1)))
    return std::nullopt;
  result.repository = name;
  return result;
}

std::string repository_folder(const std::string& cache, const std::string& repository) {
  const size_t slash = repository.find('/');
  return fmt::format("{}/{}{}{}{}", cache, kFolderMark, repository.substr(0, slash), kSeparator,
                     repository.substr(slash + 1));
}

std::vector<std::string> list_repositories(const std::string& cache) {
  std::vector<std::string> repositories;
  if (cache.empty()) return repositories;
  for (const std::string& folder : names_in(cache)) {
    if (!folder.starts_with(kFolderMark)) continue;
    std::string name = folder.substr(kFolderMark.size());
    const size_t separator = name.find(kSeparator);
    if (separator == std::string::npos) continue;
    name.replace(separator, kSeparator.size(), "/");
    if (parse_hub_name(name)) repositories.push_back(name);
  }
  std::sort(repositories.begin(), repositories.end());
  return repositories;
}

std::string find_snapshot(const std::string& cache, const HubName& name) {
  const std::string folder = repository_folder(cache, name.repository);
  std::string snapshot = fmt::format("{}/snapshots/{}", folder, commit_of(folder, cache, name));
  if (!is_directory(snapshot)) {
    throw Error(ErrorCode::kFileNotFound, fmt::format("{}@{}", name.repository, name.revision),
                fmt::format("no snapshot of this revision; looked for {}; commits there: {}; download it again",
                            snapshot, join_first(names_in(folder + "/snapshots"))));
  }
  check_snapshot(snapshot, cache);
  return snapshot;
}

}  // namespace deberta
