#include "train/state/run_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

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

// A run that has not come to its first checkpoint leaves its log at most: it begins anew.
bool holds_only_a_log(const std::string& path) {
  const std::vector<std::string> names = names_in(path, 2);
  return names.empty() || (names.size() == 1 && names.front() == kMetricsName);
}

}  // namespace

RunFolder::RunFolder(const std::string& path, bool may_resume) : path_(path), fd_(open_folder(path)) {
  try {
    remove_checkpoint_leftovers(path_);
    for (const char* name : {"model", kResultsName}) remove_leftovers(file(name), Leftovers::kAlsoOwn);
    found_ = find_checkpoint(path_);
    if (!found_ && !holds_only_a_log(path_))
      refuse(path_, "expected a new or empty folder, or one with checkpoints of a run, got one with other files");
    if (found_ && !may_resume) {
      throw Error(ErrorCode::kUsage,
                  {{.where = path_,
                    .message = fmt::format("holds {} of an earlier run", checkpoint_name(found_->state.step)),
                    .remedies = {{"go on from it with {}", "resume", "auto"}, {"name another folder"}}}});
    }
  } catch (...) {
    ::close(fd_);
    throw;
  }
}

RunFolder::~RunFolder() {
  ::close(fd_);  // and unlocked
}

}  // namespace deberta::train
