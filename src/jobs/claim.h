// A claim on a file: NAME.claim beside the records of a job. Who makes it works on the file and touches the claim while
// it lives; others leave the file alone until the claim is gone or stale.
#pragma once
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "base/descriptor.h"
#include "jobs/file_clock.h"
#include "jobs/owner.h"

namespace deberta::jobs {

inline constexpr std::chrono::seconds kHeartbeat{5}, kStaleAfter{60};
// Of a claim that nobody has signed: its maker died at once.
inline constexpr std::chrono::seconds kStaleUnsignedAfter{10};

class Claim {
 public:
  // None when there is one. Throws kFileWrite.
  static std::unique_ptr<Claim> take(const std::string& path, const Owner& owner);
  ~Claim();  // removes it, if it is still held
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;

  // Whether the name still leads to this claim: a process that slept may have lost it.
  bool is_held() const;

 private:
  Claim(std::string path, int fd);
  void touch_until(const std::stop_token& stop) const;

  std::string path_;
  Descriptor file_;       // touched by this, so that nobody else's claim ever is
  std::jthread toucher_;  // last: it uses the others
};

// A claim as it was found.
struct FoundClaim {
  ino_t inode = 0;
  int64_t touched = 0;         // by the clock of the file system
  std::optional<Owner> owner;  // none: not written yet, or damaged
};
std::optional<FoundClaim> find_claim(const std::string& path);  // none where there is none

// Its owner has ended, or has not touched it for so long.
bool is_stale(const FoundClaim& found, const Owner& here, const FileClock& clock);

// Makes a claim in the place of one that is stale. Of all processes that try one succeeds, and none if the claim was
// touched since it was found. Throws kFileWrite.
std::unique_ptr<Claim> take_over(const std::string& path, const FoundClaim& found, const Owner& owner);

}  // namespace deberta::jobs
