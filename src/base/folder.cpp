// Names, creation, renaming and removal. Only folders that a StagedFolder created are ever removed.
#include "base/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <new>
#include <utility>

#include "base/descriptor.h"
#include "base/temporary.h"
#include "deberta/error.h"

namespace deberta {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& path, std::string_view what, int error) {
  throw Error(ErrorCode::kFileWrite, path, fmt::format("{}: {}", what, std::strerror(error)));
}

std::string without_slashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

// Where a link leads; a folder that does not exist yet, as it is named.
std::string place_of(const std::string& target) {
  std::error_code error;
  const fs::path path = without_slashes(target);
  return is_directory(path.string()) ? fs::canonical(path, error).string() : path.string();
}

bool is_folder_itself(const std::string& path) {
  return !is_link(path) && is_directory(path);
}

// The contents of a folder, by path; the contents of each folder come before it.
void list_contents(const std::string& folder, const std::string& within, std::vector<std::string>& paths) {
  for (const std::string& name : names_in(fmt::format("{}/{}", folder, within))) {
    const std::string path = within + name;
    if (is_folder_itself(fmt::format("{}/{}", folder, path))) list_contents(folder, path + "/", paths);
    paths.push_back(path);
  }
}

// A folder that is open, and listed: its removal asks for no memory, which could fail in the middle.
class OpenFolder {
 public:
  explicit OpenFolder(const std::string& path) : fd_(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (fd_.get() < 0) refuse(path, "cannot open", errno);
    list_contents(path, "", contents_);
  }

  // While this object lives, no other process removes the folder as a leftover.
  void lock() const { try_lock(fd_.get()); }

  // `path`: where it is by now.
  void remove(const std::string& path) const {
    for (const std::string& inner : contents_) {
      if (::unlinkat(fd_.get(), inner.c_str(), 0) == 0) continue;
      if (errno != EISDIR || ::unlinkat(fd_.get(), inner.c_str(), AT_REMOVEDIR) != 0)
        refuse(fmt::format("{}/{}", path, inner), "cannot remove", errno);
    }
    if (::rmdir(path.c_str()) != 0) refuse(path, "cannot remove", errno);
  }

 private:
  Descriptor fd_;
  std::vector<std::string> contents_;
};

// A file or link; or a folder with all that is in it.
void remove_all(const std::string& path) {
  if (is_folder_itself(path)) return OpenFolder(path).remove(path);
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) refuse(path, "cannot remove", errno);
}

// A file or a folder of a killed process: one that no process has locked. It stays locked until it is removed, so that
// who has just created it, and has not locked it yet, takes another name; and it is still there, not renamed since.
bool remove_left_over(const std::string& path) {
  const Descriptor fd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
  if (fd.get() < 0 || !try_lock(fd.get()) || !leads_to(path, fd.get())) return false;
  remove_all(path);
  return true;
}

int make_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0777) != 0) return -1;
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd >= 0) return fd;
  const int error = errno == ENOENT ? EEXIST : errno;  // another process took it for a leftover: the next name
  ::rmdir(path.c_str());
  errno = error;
  return -1;
}

}  // namespace

std::optional<std::vector<std::string>> read_names(const std::string& folder, size_t most) {
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(folder.c_str()), ::closedir);
  if (directory == nullptr && errno == ENOMEM) throw std::bad_alloc();
  if (directory == nullptr) return std::nullopt;
  std::vector<std::string> names;
  errno = 0;
  for (const dirent* entry; names.size() < most && (entry = ::readdir(directory.get())) != nullptr; errno = 0) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  if (errno != 0) return std::nullopt;
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> names_in(const std::string& folder, size_t most) {
  return read_names(folder, most).value_or(std::vector<std::string>());
}

std::vector<std::string> files_of_pattern(const std::string& pattern) {
  glob_t matches{};
  const int result = ::glob(pattern.c_str(), 0, nullptr, &matches);
  const std::unique_ptr<glob_t, void (*)(glob_t*)> owner(&matches, ::globfree);
  if (result == GLOB_NOSPACE) throw Error(ErrorCode::kOutOfMemory, pattern, "no memory for the names");
  std::vector<std::string> files;
  for (size_t i = 0; result == 0 && i < matches.gl_pathc; ++i) {
    if (is_regular_file(matches.gl_pathv[i])) files.emplace_back(matches.gl_pathv[i]);
  }
  std::sort(files.begin(), files.end());  // glob(3) sorts by the locale
  return files;
}

bool is_link(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISLNK(status.st_mode);
}

void check_new_folder(const std::string& target) {
  const std::string path = place_of(target), parent = parent_folder(path);
  struct stat status {};
  const bool is_there = ::lstat(path.c_str(), &status) == 0;
  const auto names = is_there && S_ISDIR(status.st_mode) ? read_names(path, 1) : std::nullopt;
  const bool is_free = is_there ? names && names->empty() : errno == ENOENT;
  if (!is_free)
    throw Error(ErrorCode::kFileWrite, target,
                "expected a new or empty folder, got existing content; choose another folder or remove it");
  if (!is_directory(parent))
    throw Error(ErrorCode::kFileWrite, target, fmt::format("cannot create: no folder {}", parent));
  if (::faccessat(AT_FDCWD, parent.c_str(), W_OK | X_OK, AT_EACCESS) != 0)
    refuse(target, fmt::format("cannot create a folder in {}", parent), errno);
}

StagedFolder::StagedFolder(const std::string& target) : target_(place_of(target)) {
  check_new_folder(target);
  struct stat status {};
  if (::stat(target_.c_str(), &status) == 0) mode_ = status.st_mode & 07777u;
  fd_ = make_temporary(target_, path_, make_folder);
  if (fd_ < 0) refuse(target_, "cannot create", errno);
}

StagedFolder::~StagedFolder() {
  const Descriptor lock(fd_);  // until all is removed
  if (is_published_) return;
  for (const std::string& file : files_) ::unlink(file.c_str());
  for (size_t i = folders_.size(); i-- > 0;) ::rmdir(folders_[i].c_str());
  ::rmdir(path_.c_str());
}

void StagedFolder::write_file(const std::string& name, const std::function<void(FileWriter&)>& fill) {
  for (size_t slash = name.find('/'); slash != std::string::npos; slash = name.find('/', slash + 1)) {
    const std::string folder = fmt::format("{}/{}", path_, name.substr(0, slash));
    if (is_directory(folder)) continue;
    folders_.push_back(folder);  // first: what cannot be noted is not created
    if (::mkdir(folder.c_str(), 0777) == 0) continue;
    const int error = errno;
    folders_.pop_back();
    refuse(folder, "cannot create", error);
  }
  files_.push_back(fmt::format("{}/{}", path_, name));
  write_new_file(files_.back(), fill);
}

void StagedFolder::publish() {
  if (mode_ != 0 && ::chmod(path_.c_str(), mode_) != 0) refuse(target_, "chmod failed", errno);
  for (const std::string& folder : folders_) sync_folder(folder);
  sync_folder(path_);
  if (::rename(path_.c_str(), target_.c_str()) != 0) refuse(target_, "rename failed", errno);
  const Descriptor unlocked(std::exchange(fd_, -1));
  is_published_ = true;
  sync_folder(parent_folder(target_));
}

std::vector<std::string> remove_leftovers(const std::string& target) {
  const std::string path = without_slashes(target);
  const std::string parent = parent_folder(path);
  const std::string name = path.substr(path.rfind('/') == std::string::npos ? 0 : path.rfind('/') + 1);
  std::vector<std::string> removed;
  for (const std::string& other : names_in(parent)) {
    if (!is_temporary_of(other, name)) continue;
    removed.push_back(fmt::format("{}/{}", parent, other));
    if (!remove_left_over(removed.back())) removed.pop_back();
  }
  return removed;
}

void remove_leftovers_in(const std::string& folder) {
  for (const std::string& name : names_in(folder)) {
    const size_t mark = name.find(kTemporaryMark);
    if (mark != std::string::npos && mark > 0) remove_leftovers(fmt::format("{}/{}", folder, name.substr(0, mark)));
  }
}

void remove_folder(const std::string& path) {
  const std::string clean_path = without_slashes(path), dead = temporary_name(clean_path),
                    parent = parent_folder(clean_path);
  const OpenFolder folder(clean_path);
  folder.lock();
  if (::rename(clean_path.c_str(), dead.c_str()) != 0) refuse(path, "rename failed", errno);
  sync_folder(parent);
  folder.remove(dead);
}

bool is_inside(const std::string& path, const std::string& folder) {
  std::error_code error;
  const fs::path inner = fs::weakly_canonical(fs::absolute(without_slashes(path)), error);
  const fs::path outer = fs::weakly_canonical(fs::absolute(without_slashes(folder)), error);
  return std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end()).first == outer.end();
}

}  // namespace deberta
