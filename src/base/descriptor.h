// File descriptors that close themselves, and writing to them. Internal to this room.
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "base/file.h"

namespace deberta {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor();
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  int release();

 private:
  int fd_;
};

std::string system_message();  // the system's text for errno

// Throws kFileWrite: "CALL failed: " and errno's message.
[[noreturn]] void refuse_write(const std::string& path, std::string_view call);

// `path` is for messages. Throws kFileWrite.
void write_all(int fd, const std::string& path, Bytes bytes);
void close_checked(Descriptor& fd, const std::string& path);

// Everything that `fill` writes is on the disk when this returns. Throws kFileWrite.
void fill_and_close(Descriptor& fd, const std::string& path, const std::function<void(FileWriter&)>& fill);

}  // namespace deberta
