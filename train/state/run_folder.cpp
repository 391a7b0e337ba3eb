// Locks the folder, refuses links and strangers' files, and finds the checkpoint to go on from.
#include "train/state/run_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <string_view>

#include "base/descriptor.h"
#include "base/folder.h"
#include "deberta/error.h"
#include "train/state/event_log.h"

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

constexpr std::array<std::string_view, 4> kLogs = {kMetricsName, kEventsName, kTensorBoardName, kPageName};

// Writing through a link would overwrite a file elsewhere.
void check_are_no_links(const std::string& folder) {
  for (const std::string_view name : kLogs) {
    const std::string path = fmt::format("{}/{}", folder, name);
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0) continue;
    if (S_ISLNK(status.st_mode) || (S_ISREG(status.st_mode) && status.st_nlink > 1))
      refuse(path, "expected a file of this run, got a link; choose another folder or remove the link");
  }
}

// Reads up to the end of the first line, of a file that may not belong to a run.
std::string first_line(const std::string& path) {
  constexpr size_t kMost = 4096;
  std::ifstream file(path, std::ios::binary);
  std::string text(kMost, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  return text.substr(0, text.find('\n'));
}

// A run that has not come to its first checkpoint leaves its logs at most, and begins anew. Files of these names that
// no run has written belong to the user: every run notes an event before it measures anything.
bool holds_only_logs(const std::string& path) {
  const std::vector<std::string> names = names_in(path, kLogs.size() + 1);
  if (!std::ranges::all_of(names,
                           [&](const std::string& name) { return std::ranges::find(kLogs, name) != kLogs.end(); }))
    return false;
  const std::string event = first_line(path + "/" + kEventsName);
  if (!event.empty()) return parse_event(event).has_value();
  return std::ranges::all_of(names, [&](const std::string& name) {
    return name == kTensorBoardName || first_line(path + "/" + name).empty();
  });
}

}  // namespace

RunFolder::RunFolder(const std::string& path, bool may_resume) : path_(path), fd_(open_folder(path)) {
  try {
    remove_checkpoint_leftovers(path_);
    remove_leftovers(file(kPageName));
    check_are_no_links(path_);
    checkpoint_ = find_checkpoint(path_);
    if (!checkpoint_ && !holds_only_logs(path_))
      refuse(path_, "expected a new or empty folder, or one with checkpoints of a run, got one with other files");
    if (checkpoint_ && !may_resume) {
      throw Error(ErrorCode::kUsage,
                  {{.where = path_,
                    .message = fmt::format("holds {} of an earlier run", checkpoint_name(checkpoint_->state.step)),
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
