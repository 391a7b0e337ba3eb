// Names, creation, renaming and removal. Only folders that a StagedFolder made are ever removed.
#include "base/folder.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <random>

#include "deberta/error.h"

namespace deberta {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMark = ".tmp-";
constexpr size_t kRandomDigits = 8;

[[noreturn]] void refuse(const std::string& path, std::string_view what, int error) {
  throw Error(ErrorCode::kFileWrite, path, fmt::format("{}: {}", what, std::strerror(error)));
}

std::string without_slashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

std::string parent_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

void check_target(const std::string& target) {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(target, error);
  if (status.type() == fs::file_type::not_found) return;
  if (status.type() == fs::file_type::directory && fs::is_empty(target, error) && !error) return;
  throw Error(ErrorCode::kFileWrite, target,
              "expected a new or an empty folder, got something that would be replaced; name another or remove it");
}

// The process that made a folder of this name; 0: no StagedFolder of `target` did.
pid_t maker_of(std::string_view name, std::string_view target) {
  const std::string begin = fmt::format("{}{}", target, kMark);
  if (!name.starts_with(begin)) return 0;
  name.remove_prefix(begin.size());
  const size_t dash = name.find('-');
  if (dash == std::string_view::npos || name.size() - dash - 1 != kRandomDigits) return 0;
  if (name.find_first_not_of("0123456789abcdef", dash + 1) != std::string_view::npos) return 0;
  const auto pid = parse_number<pid_t>(name.substr(0, dash));
  return pid && *pid > 0 ? *pid : 0;
}

bool is_running(pid_t pid) {
  return ::kill(pid, 0) == 0 || errno != ESRCH;
}

}  // namespace

StagedFolder::StagedFolder(const std::string& target) : target_(without_slashes(target)) {
  check_target(target_);
  std::random_device random;
  for (int attempt = 0; attempt < 100; ++attempt) {
    path_ = fmt::format("{}{}{}-{:08x}", target_, kMark, ::getpid(), random());
    if (::mkdir(path_.c_str(), 0777) == 0) return;
    if (errno != EEXIST) break;
  }
  refuse(target_, "cannot create", errno);
}

StagedFolder::~StagedFolder() {
  if (is_published_) return;
  for (const std::string& file : files_) ::unlink(file.c_str());
  ::rmdir(path_.c_str());
}

void StagedFolder::write_file(const std::string& name, const std::function<void(FileWriter&)>& fill) {
  files_.push_back(fmt::format("{}/{}", path_, name));
  write_new_file(files_.back(), fill);
}

void StagedFolder::publish() {
  sync_folder(path_);
  if (::rename(path_.c_str(), target_.c_str()) != 0) refuse(target_, "rename failed", errno);
  is_published_ = true;
  sync_folder(parent_of(target_));
}

std::vector<std::string> remove_leftovers(const std::string& target) {
  const std::string path = without_slashes(target);
  const std::string parent = parent_of(path);
  const std::string name = path.substr(path.rfind('/') == std::string::npos ? 0 : path.rfind('/') + 1);
  std::vector<std::string> dead;
  std::error_code error;
  for (fs::directory_iterator at(parent, error), end; !error && at != end; at.increment(error)) {
    const pid_t maker = maker_of(at->path().filename().string(), name);
    if (maker > 0 && !is_running(maker) && at->symlink_status(error).type() == fs::file_type::directory)
      dead.push_back(at->path().string());
  }
  std::sort(dead.begin(), dead.end());
  for (const std::string& folder : dead) {
    fs::remove_all(folder, error);
    if (error) refuse(folder, "cannot remove what a killed run left", error.value());
  }
  return dead;
}

bool is_inside(const std::string& path, const std::string& folder) {
  std::error_code error;
  const fs::path inner = fs::weakly_canonical(fs::absolute(without_slashes(path)), error);
  const fs::path outer = fs::weakly_canonical(fs::absolute(without_slashes(folder)), error);
  return std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end()).first == outer.end();
}

}  // namespace deberta
