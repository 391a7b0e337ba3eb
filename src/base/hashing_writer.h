// Passes bytes on to a file, and counts and hashes them on the way.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "base/file.h"
#include "base/sha256.h"

namespace deberta {

class HashingWriter final : public FileWriter {
 public:
  explicit HashingWriter(
      FileWriter& file, std::function<void(uint64_t)> on_bytes = [](uint64_t) {})
      : file_(file), on_bytes_(std::move(on_bytes)) {}
  void write(Bytes bytes) override {
    file_.write(bytes);
    hash_.update(bytes);
    size_ += bytes.size();
    on_bytes_(bytes.size());
  }
  uint64_t size() const { return size_; }
  // The SHA-256 of what was written. Nothing may be written afterwards.
  std::string finish() { return hash_.finish(); }

 private:
  FileWriter& file_;
  std::function<void(uint64_t)> on_bytes_;
  Sha256 hash_;
  uint64_t size_ = 0;
};

}  // namespace deberta
