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
constexpr size_t kMaxTemporaryName = 200;  // of a name; the rest is the mark

enum class Kind { kNew, kRegular, kStraight, kDescriptor };

struct Place {
  Kind kind = Kind::kNew;
  std::string path;         // without links
  struct stat status = {};  // of what is there
  int descriptor = -1;      // of this process
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

// Throws kFileWrite for a place that nobody can write to.
Place find_place(const std::string& named) {
  Place place{.path = named};
  for (int links = 0; links <= kMaxLinks; ++links) {
    if (const auto descriptor = own_descriptor(place.path)) {
      place.kind = Kind::kDescriptor;
      place.descriptor = *descriptor;
      return place;
    }
    if (::lstat(place.path.c_str(), &place.status) != 0) {
      if (errno != ENOENT) refuse(named, fmt::format("cannot open: {}", system_message()));
      if (place.path.empty() || place.path.back() == '/') refuse(named, "expected a file, got the name of a folder");
      return place;
    }
    const mode_t mode = place.status.st_mode;
    if (S_ISDIR(mode)) refuse(named, "expected a file, got a folder");
    if (S_ISSOCK(mode)) refuse(named, "expected a file, got a socket");
    if (!S_ISLNK(mode)) {
      place.kind = S_ISREG(mode) ? Kind::kRegular : Kind::kStraight;
      return place;
    }
    place.path = target_of(place.path, named);
  }
  errno = ELOOP;
  refuse(named, fmt::format("cannot open: {}", system_message()));
}

void check_access(const std::string& path, int mode, const std::string& named, const std::string& what) {
  if (::faccessat(AT_FDCWD, path.c_str(), mode, AT_EACCESS) == 0) return;
  refuse(named, fmt::format("{}: {}", what, system_message()));
}

void check_place(const Place& place, const std::string& named) {
  if (place.kind == Kind::kDescriptor) {
    const int flags = ::fcntl(place.descriptor, F_GETFL);
    if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY)
      refuse(named, fmt::format("descriptor {} is not open for writing", place.descriptor));
    return;
  }
  if (place.kind != Kind::kNew) check_access(place.path, W_OK, named, "cannot write");
  if (place.kind == Kind::kStraight) return;
  const std::string folder = parent_folder(place.path);
  if (!is_directory(folder)) refuse(named, fmt::format("cannot create: no folder {}", folder));
  check_access(folder, W_OK | X_OK, named, fmt::format("cannot create a file in the folder {}", folder));
}

// A new file gets mode 0666 less the umask, like any program's. A replacement is never open to more users than the file
// that it replaces.
int create_temporary(const Place& place, std::string& temporary) {
  const mode_t mode = place.kind == Kind::kNew ? 0666 : place.status.st_mode & 0600;
  const std::string name = place.path.substr(place.path.rfind('/') + 1).substr(0, kMaxTemporaryName);
  return make_temporary(fmt::format("{}/{}", parent_folder(place.path), name), temporary, [&](const std::string& path) {
    return ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  });
}

// The owner first: changing it clears mode bits.
void keep_owner_and_mode(int fd, const Place& place, const std::string& named) {
  const struct stat& old = place.status;
  const bool is_kept = ::fchown(fd, old.st_uid, old.st_gid) == 0;
  if (::fchmod(fd, old.st_mode & (is_kept ? 07777u : 0777u)) != 0) refuse_write(named, "fchmod");
}

void replace(const Place& place, const std::string& named, const std::function<void(FileWriter&)>& fill) {
  std::string temporary;
  Descriptor fd(create_temporary(place, temporary));
  if (fd.get() < 0) refuse(named, fmt::format("cannot create: {}", system_message()));
  try {
    if (place.kind == Kind::kRegular) keep_owner_and_mode(fd.get(), place, named);
    fill_and_close(fd, named, fill);
    if (::rename(temporary.c_str(), place.path.c_str()) != 0) refuse_write(named, "rename");
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
  sync_folder(parent_folder(place.path));
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
void write_straight(const Place& place, const std::string& named, const std::function<void(FileWriter&)>& fill) {
  Descriptor fd(place.kind == Kind::kDescriptor ? ::fcntl(place.descriptor, F_DUPFD_CLOEXEC, 0)
                                                : ::open(place.path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
  if (fd.get() < 0) refuse(named, fmt::format("cannot open: {}", system_message()));
  StraightWriter writer(fd.get(), named);
  fill(writer);
  close_checked(fd, named);
}

}  // namespace

void check_output_file(const std::string& path) {
  check_place(find_place(path), path);
}

bool is_replaced_whole(const std::string& path) {
  const Kind kind = find_place(path).kind;
  return kind == Kind::kNew || kind == Kind::kRegular;
}

void write_output_file(const std::string& path, const std::function<void(FileWriter&)>& fill) {
  const Place place = find_place(path);
  check_place(place, path);
  const bool is_whole = place.kind == Kind::kNew || place.kind == Kind::kRegular;
  is_whole ? replace(place, path, fill) : write_straight(place, path, fill);
}

}  // namespace deberta
