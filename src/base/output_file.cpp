// Links are followed here and not by the system: the temporary file stands beside the file that a link leads to, and
// what a link of /proc/PID/fd leads to is open already and must be neither replaced nor reopened.
#include "base/output_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>

#include "base/checked.h"
#include "base/descriptor.h"
#include "base/temporary.h"
#include "deberta/error.h"

namespace deberta {
namespace {

constexpr int kMaxLinks = 40;              // as the system's
constexpr size_t kMaxTemporaryName = 200;  // bytes taken from the name; the rest is the mark

enum class Kind { kNew, kRegular, kStraight, kDescriptor };

struct Destination {
  Kind kind = Kind::kNew;
  std::string path;         // without links
  struct stat status = {};  // of the existing file
  int descriptor = -1;      // an open descriptor of this process
};

[[noreturn]] void refuse(const std::string& path, const std::string& what) {
  throw Error(ErrorCode::kFileWrite, path, what);
}

// The number of a name in /proc/self/fd, however that folder is written (/dev/fd).
std::optional<int> own_descriptor(const std::string& path) {
  const auto number = parse_number<int>(path.substr(path.rfind('/') + 1));
  std::array<char, PATH_MAX> folder;
  if (!number || ::realpath(parent_folder(path).c_str(), folder.data()) == nullptr) return std::nullopt;
  if (folder.data() != fmt::format("/proc/{}/fd", ::getpid())) return std::nullopt;
  return number;
}

std::string target_of(const std::string& link, const std::string& named) {
  std::array<char, PATH_MAX> target;
  const ssize_t size = ::readlink(link.c_str(), target.data(), target.size());
  if (size < 0) refuse(named, fmt::format("cannot follow the link: {}", system_message()));
  const std::string text(target.data(), static_cast<size_t>(size));
  return text.starts_with('/') ? text : fmt::format("{}/{}", parent_folder(link), text);
}

// Resolves links. Throws kFileWrite for a target that cannot be written to.
Destination find_destination(const std::string& named) {
  Destination destination{.path = named};
  for (int links = 0; links <= kMaxLinks; ++links) {
    if (const auto descriptor = own_descriptor(destination.path)) {
      destination.kind = Kind::kDescriptor;
      destination.descriptor = *descriptor;
      return destination;
    }
    if (::lstat(destination.path.c_str(), &destination.status) != 0) {
      if (errno != ENOENT) refuse(named, fmt::format("cannot open: {}", system_message()));
      if (destination.path.empty() || destination.path.back() == '/')
        refuse(named, "expected a file, got the name of a folder");
      return destination;
    }
    const mode_t mode = destination.status.st_mode;
    if (S_ISDIR(mode)) refuse(named, "expected a file, got a folder");
    if (S_ISSOCK(mode)) refuse(named, "expected a file, got a socket");
    if (!S_ISLNK(mode)) {
      destination.kind = S_ISREG(mode) ? Kind::kRegular : Kind::kStraight;
      return destination;
    }
    destination.path = target_of(destination.path, named);
  }
  errno = ELOOP;
  refuse(named, fmt::format("cannot open: {}", system_message()));
}

void check_access(const std::string& path, int mode, const std::string& named, const std::string& what) {
  if (::faccessat(AT_FDCWD, path.c_str(), mode, AT_EACCESS) == 0) return;
  refuse(named, fmt::format("{}: {}", what, system_message()));
}

void check_destination(const Destination& destination, const std::string& named) {
  if (destination.kind == Kind::kDescriptor) {
    const int flags = ::fcntl(destination.descriptor, F_GETFL);
    if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY)
      refuse(named, fmt::format("descriptor {} is not open for writing", destination.descriptor));
    return;
  }
  if (destination.kind != Kind::kNew) check_access(destination.path, W_OK, named, "cannot write");
  if (destination.kind == Kind::kStraight) return;
  const std::string folder = parent_folder(destination.path);
  if (!is_directory(folder)) refuse(named, fmt::format("cannot create: no folder {}", folder));
  check_access(folder, W_OK | X_OK, named, fmt::format("cannot create a file in the folder {}", folder));
}

// A new file gets mode 0666 less the umask, like any program's. A replacement is never open to more users than the file
// that it replaces.
int create_temporary(const Destination& destination, std::string& temporary) {
  const mode_t mode = destination.kind == Kind::kNew ? 0666 : destination.status.st_mode & 0600;
  const std::string name = destination.path.substr(destination.path.rfind('/') + 1).substr(0, kMaxTemporaryName);
  return make_temporary(
      fmt::format("{}/{}", parent_folder(destination.path), name), temporary,
      [&](const std::string& path) { return ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode); });
}

// The owner first: changing it clears mode bits.
void keep_owner_and_mode(int fd, const Destination& destination, const std::string& named) {
  const struct stat& old = destination.status;
  const bool is_kept = ::fchown(fd, old.st_uid, old.st_gid) == 0;
  if (::fchmod(fd, old.st_mode & (is_kept ? 07777u : 0777u)) != 0) refuse_write(named, "fchmod");
}

void replace(const Destination& destination, const std::string& named, const std::function<void(FileWriter&)>& fill) {
  std::string temporary;
  Descriptor fd(create_temporary(destination, temporary));
  if (fd.get() < 0) refuse(named, fmt::format("cannot create: {}", system_message()));
  const Descriptor lock(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 0));  // until the rename: without a lock it is a leftover
  try {
    if (destination.kind == Kind::kRegular) keep_owner_and_mode(fd.get(), destination, named);
    fill_and_close(fd, named, fill);
    if (::rename(temporary.c_str(), destination.path.c_str()) != 0) refuse_write(named, "rename");
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
  sync_folder(parent_folder(destination.path));
}

class StraightWriter final : public FileWriter {
 public:
  StraightWriter(int fd, const std::string& path) : fd_(fd), path_(path) {}
  void write(Bytes bytes) override { write_all(fd_, path_, bytes); }

 private:
  int fd_;
  const std::string& path_;
};

// A pipe opens when it has a reader. No sync: it fails where nothing is stored.
void write_straight(const Destination& destination, const std::string& named,
                    const std::function<void(FileWriter&)>& fill) {
  Descriptor fd(destination.kind == Kind::kDescriptor
                    ? ::fcntl(destination.descriptor, F_DUPFD_CLOEXEC, 0)
                    : ::open(destination.path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
  if (fd.get() < 0) refuse(named, fmt::format("cannot open: {}", system_message()));
  StraightWriter writer(fd.get(), named);
  fill(writer);
  close_checked(fd, named);
}

}  // namespace

void check_output_file(const std::string& path) {
  check_destination(find_destination(path), path);
}

bool is_replaced_whole(const std::string& path) {
  const Kind kind = find_destination(path).kind;
  return kind == Kind::kNew || kind == Kind::kRegular;
}

void write_output_file(const std::string& path, const std::function<void(FileWriter&)>& fill) {
  const Destination destination = find_destination(path);
  check_destination(destination, path);
  const bool is_whole = destination.kind == Kind::kNew || destination.kind == Kind::kRegular;
  is_whole ? replace(destination, path, fill) : write_straight(destination, path, fill);
}

}  // namespace deberta
