// Touches a file of its own, and reads what the file system wrote down.
#include "jobs/file_clock.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/temporary.h"
#include "deberta/error.h"
#include "jobs/file_state.h"

namespace deberta::jobs {
namespace {

int open_nameless(const std::string& folder) {
  std::string path;
  const int fd = make_temporary(folder + "/clock", path, [](const std::string& name) {
    return ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  });
  if (fd < 0) throw Error(ErrorCode::kFileWrite, folder, "cannot create a file in it: " + system_message());
  ::unlink(path.c_str());
  return fd;
}

}  // namespace

FileClock::FileClock(const std::string& folder) : folder_(folder), file_(open_nameless(folder)) {}

int64_t FileClock::now() const {
  struct stat status {};
  if (::futimens(file_.get(), nullptr) != 0 || ::fstat(file_.get(), &status) != 0)
    throw Error(ErrorCode::kFileWrite, folder_, "cannot read the time of its file system: " + system_message());
  return nanoseconds(status.st_mtim);
}

}  // namespace deberta::jobs
