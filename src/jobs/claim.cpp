// Everything rests on two operations that only one process can win: making a name that is not there, and renaming.
#include "jobs/claim.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <cstdio>
#include <ctime>
#include <mutex>
#include <system_error>
#include <utility>

#include "base/file.h"
#include "base/file_id.h"
#include "base/temporary.h"
#include "deberta/error.h"
#include "jobs/file_state.h"

namespace deberta::jobs {
namespace {

constexpr uint64_t kMaxClaimBytes = 1 << 16;

// Opened anew: network file systems then ask the server.
std::optional<struct stat> status_now(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  struct stat status {};
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0) return std::nullopt;
  return status;
}

std::string text_of(const Owner& owner) {
  Json claim = to_json(owner);
  claim.as_object().emplace_back("begun", int64_t{std::time(nullptr)});
  return claim.dump() + "\n";
}

// A claim that was made since in the same place stays; its maker sees that it has lost.
void put_back(const std::string& moved, const std::string& path) {
  [[maybe_unused]] const int result = ::link(moved.c_str(), path.c_str());
  ::unlink(moved.c_str());
}

}  // namespace

Claim::Claim(std::string path, int fd) : path_(std::move(path)), file_(fd) {}

std::unique_ptr<Claim> Claim::take(const std::string& path, const Owner& owner) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0 && errno == EEXIST) return nullptr;
  if (fd < 0) throw Error(ErrorCode::kFileWrite, path, "cannot create: " + system_message());
  std::unique_ptr<Claim> claim(new Claim(path, fd));
  write_all(fd, path, to_bytes(text_of(owner)));
  try {
    claim->toucher_ = std::jthread([claim = claim.get()](const std::stop_token& stop) { claim->touch_until(stop); });
  } catch (const std::system_error& error) {
    throw Error(ErrorCode::kOutOfMemory, path,
                fmt::format("cannot start a thread: {}; end other programs", error.code().message()));
  }
  return claim;
}

Claim::~Claim() {
  toucher_ = {};
  if (is_held()) ::unlink(path_.c_str());
}

bool Claim::is_held() const {
  struct stat own {};
  const auto named = status_now(path_);
  return named && ::fstat(file_.get(), &own) == 0 && id_of(*named) == id_of(own);
}

// What cannot be touched goes stale, and its owner sees that it has lost it.
void Claim::touch_until(const std::stop_token& stop) const {
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::unique_lock lock(mutex);
  while (!stopped.wait_for(lock, stop, kHeartbeat, [&] { return stop.stop_requested(); }))
    ::futimens(file_.get(), nullptr);
}

std::optional<FoundClaim> find_claim(const std::string& path) {
  const auto status = status_now(path);
  if (!status) return std::nullopt;
  FoundClaim found{.inode = status->st_ino, .touched = nanoseconds(status->st_mtim), .owner = {}};
  try {
    found.owner = owner_from(parse_json(read_file(path, kMaxClaimBytes), path));
  } catch (const Error&) {
  }
  return found;
}

bool is_stale(const FoundClaim& found, const Owner& here, const FileClock& clock) {
  if (found.owner && has_ended(*found.owner, here)) return true;
  const std::chrono::nanoseconds most = found.owner ? kStaleAfter : kStaleUnsignedAfter;
  return clock.now() - found.touched > most.count();
}

std::unique_ptr<Claim> take_over(const std::string& path, const FoundClaim& found, const Owner& owner) {
  const std::string moved = temporary_name(path);
  if (::rename(path.c_str(), moved.c_str()) != 0) {
    if (errno == ENOENT) return nullptr;
    throw Error(ErrorCode::kFileWrite, path, "cannot rename: " + system_message());
  }
  const auto status = status_now(moved);
  if (!status || status->st_ino != found.inode || nanoseconds(status->st_mtim) != found.touched) {
    put_back(moved, path);
    return nullptr;
  }
  ::unlink(moved.c_str());
  return Claim::take(path, owner);
}

}  // namespace deberta::jobs
