// The bytes of a file or of standard input as UTF-8, decompressed and converted on the fly: the basis of every reader
// of rows. All positions and limits of those readers count these bytes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/decompressor.h"
#include "data/utf16.h"

namespace deberta {

class ByteSource {
 public:
  // A file, or "-": standard input. Compression is detected by the first bytes, else by the extension; UTF-16 by its
  // byte order mark; marks are dropped. `is_stopped` is polled before and during each wait for bytes; once it returns
  // true, the source is at its end. Throws kFileNotFound, kFileType for a folder.
  explicit ByteSource(const std::string& path, std::function<bool()> is_stopped = {});
  // Bytes in memory, which must outlive the source.
  ByteSource(Bytes bytes, std::string name, Compression compression = Compression::kNone);
  ~ByteSource();
  ByteSource(ByteSource&&) noexcept;
  ByteSource& operator=(ByteSource&&) = delete;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  // Fills the front of `out` and returns the number of bytes; 0 at the end. Waits for some bytes, not for all.
  // Throws kFileRead, also for a compressed stream that is damaged or ends early, kTooLarge for one whose decoder
  // would need more memory than Decompressor allows, and kInput for what is not text (magic.h).
  size_t read(std::span<char> out);

  // The first line that is not blank among those that read() has not returned, without its end, or its first
  // `max_bytes`; empty where all of these are blank. Waits for it. Throws what read() throws.
  std::string_view peek_line(size_t max_bytes);

  bool is_ready() const;    // read() would not wait
  bool is_stopped() const;  // the end came because `is_stopped` returned true

  std::optional<uint64_t> total_bytes() const { return total_bytes_; }  // stored size of a regular file
  uint64_t read_bytes() const { return read_bytes_; }                   // stored bytes read so far
  std::optional<double> fraction_read() const;                          // none where the total is not known, or is 0
  const std::string& name() const { return name_; }                     // the path, or "standard input"

 private:
  size_t read_stored(std::span<std::byte> out);
  size_t read_decoded(std::span<char> out);
  void begin();
  bool fill_ahead();
  size_t decompress(std::span<std::byte> out);
  void check(const Decompressor::Step& step) const;

  std::string name_;
  int fd_ = -1;
  Bytes memory_;  // when there is no file
  std::function<bool()> stop_;
  Compression compression_;
  std::unique_ptr<Decompressor> decompressor_;
  std::vector<std::byte> stored_;  // read and not yet decompressed: from stored_begin_ to stored_end_
  size_t stored_begin_ = 0;
  size_t stored_end_ = 0;
  std::optional<Utf16Decoder> utf16_;
  std::string ahead_;  // decoded and not yet returned: from ahead_begin_
  size_t ahead_begin_ = 0;
  bool is_begun_ = false;    // the first bytes have been looked at
  bool is_at_end_ = false;   // no stored bytes are left
  bool is_whole_ = false;    // the compressed stream may end here
  bool is_pending_ = false;  // the decoder may hold bytes that did not fit
  std::optional<uint64_t> total_bytes_;
  uint64_t read_bytes_ = 0;
};

// The rest of the source. Throws kTooLarge above `max_bytes`, and what read() throws.
std::string read_rest(ByteSource& source, size_t max_bytes);

}  // namespace deberta
