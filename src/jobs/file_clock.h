// The time of a file system: the clocks of hosts may differ, that of what they share cannot.
#pragma once
#include <cstdint>
#include <string>

#include "base/descriptor.h"

namespace deberta::jobs {

class FileClock {
 public:
  // Of the file system of `folder`. Throws kFileWrite.
  explicit FileClock(const std::string& folder);
  // Nanoseconds since 1970, as files that are touched now get them. Throws kFileWrite.
  int64_t now() const;

 private:
  std::string folder_;
  Descriptor file_;  // has no name: nothing is left of it, however the process ends
};

}  // namespace deberta::jobs
