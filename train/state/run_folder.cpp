#include "train/state/run_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

#include "base/descriptor.h"
#include "base/folder.h"
#include "deberta/error.h"

namespace deberta::train {
namespace {

[[noreturn]] void refuse(const std::string& path, std::string message) {
  throw Error(ErrorCode::kFileWrite, path, std::move(message));
}

// Opened and locked.
int open_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0777) != 0 && errno != EEXIST)
    refuse(path, fmt::format("cannot make the folder: {}", system_message()));
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) refuse(path, fmt::format("expected a folder: {}", system_message()));
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    const bool is_taken = errno == EWOULDBLOCK;
    const std::string message = is_taken ? "another run is writing to this folder" : system_message();
    ::close(fd);
    refuse(path, message);
  }
  return fd;
}

// A run that has not come to its first checkpoint leaves its logs at most: it begins anew.
bool holds_only_logs(const std::string& path) {
  constexpr std::array<std::string_view, 4> kLogs = {kMetricsName, kEventsName, kTensorBoardName, kPageName};
  const std::vector<std::string> names = names_in(path, kLogs.size() + 1);
  return std::all_of(names.begin(), names.end(), [&](const std::string& name) {
    return std::find(kLogs.begin(), kLogs.end(), name) != kLogs.end();
  });
}

}  // namespace

RunFolder::RunFolder(const std::string& path, bool may_resume) : path_(path), fd_(open_folder(path)) {
  try {
    remove_checkpoint_leftovers(path_);
    remove_leftovers(file(kPageName));
    found_ = find_checkpoint(path_);
    if (!found_ && !holds_only_logs(path_))
      refuse(path_, "expected a new or empty folder, or one with checkpoints of a run, got one with other files");
    if (found_ && !may_resume) {
      throw Error(ErrorCode::kUsage,
                  {{.where = path_,
                    .message = fmt::format("holds {} of an earlier run", checkpoint_name(found_->state.step)),
                    .remedies = {{"go on from it with {}", "resume", "auto"}, {"name another folder"}}}});
    }
    for (const char* folder : {"", "/generator", "/discriminator"}) remove_leftovers_in(path_ + folder);
  } catch (...) {
    ::close(fd_);
    throw;
  }
}

RunFolder::~RunFolder() {
  ::close(fd_);  // and unlocked
}

FolderLock::FolderLock(const std::string& path) {
  Descriptor fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.get() >= 0 && ::flock(fd.get(), LOCK_EX | LOCK_NB) == 0) fd_ = fd.release();
}

FolderLock::~FolderLock() {
  if (fd_ >= 0) ::close(fd_);
}

}  // namespace deberta::train
