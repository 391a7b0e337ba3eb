// The tokens of a corpus in a mapped file. Written once from front to back in bounded memory, and checked as a whole
// when it is opened: after that every id is known to be below the vocabulary's size.
//
//   ids         uint16 where the vocabulary has less than 65536 pieces, else uint32; zeros up to a multiple of 8 bytes
//   documents   uint64 for each document: its first token
//   checksums   uint32 for each MiB of the above, CRC-32
//   end         64 bytes: "DBTOKENS", endian mark, version, bytes of an id, counts of tokens and documents, the key (28
//               bytes), CRC-32 of the 60 bytes before. It stands at the end because it is known last
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"

namespace deberta::train {

// What the tokens were made from: the front of a SHA-256 (token_cache.h).
using TokenKey = std::array<std::byte, 28>;

// Fills `out` with such a file.
class TokenFileWriter {
 public:
  // `vocabulary`: ids are below it. `path` is for messages. Both must outlive this object, as `out` must.
  TokenFileWriter(FileWriter& out, size_t vocabulary, const std::string& path);

  // The tokens that follow belong to a new document. One without tokens does not count.
  void begin_document() { begins_document_ = true; }
  void add(std::span<const int32_t> ids);  // throws kTokenId for an id outside the vocabulary, kFileWrite
  void finish(const TokenKey& key);

  uint64_t tokens() const { return tokens_; }
  uint64_t documents() const { return documents_; }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  void write(Bytes bytes);
  void copy_documents();

  FileWriter& out_;
  size_t vocabulary_;
  const std::string& path_;
  // Starts of documents, until their offset in the file is known: a temporary file without a name.
  std::unique_ptr<std::FILE, Close> starts_;
  std::vector<std::byte> buffer_;
  std::vector<uint32_t> checksums_;
  uint32_t checksum_ = 0;  // checksum of the block being written
  uint64_t written_ = 0;
  uint64_t tokens_ = 0;
  uint64_t documents_ = 0;
  bool begins_document_ = true;
};

class TokenFile {
 public:
  // Reads and checks all of it. Throws kInput when it is damaged, of another version or byte order, or has ids outside
  // the vocabulary, and what MappedFile throws. `is_stopped` is polled; once it returns true, the rest is not checked.
  TokenFile(const std::string& path, size_t vocabulary, const std::function<bool()>& is_stopped = {});

  uint64_t tokens() const { return tokens_; }
  uint64_t documents() const { return documents_; }
  const TokenKey& key() const { return key_; }
  const std::string& path() const { return file_.path(); }

  // Tokens first .. first + out.size() - 1, all below tokens().
  void read(uint64_t first, std::span<int32_t> out) const;
  uint64_t document_start(uint64_t document) const;  // tokens() for documents()
  uint64_t document_of(uint64_t token) const;        // the one that it lies in; token < tokens()

 private:
  void read_end();
  void check_blocks(const std::function<bool()>& is_stopped) const;
  void check_ids(size_t vocabulary, const std::function<bool()>& is_stopped) const;
  void check_documents() const;
  [[noreturn]] void refuse(const std::string& what) const;
  size_t body_bytes() const { return documents_begin_ + static_cast<size_t>(documents_) * sizeof(uint64_t); }

  MappedFile file_;
  size_t id_bytes_ = 0;
  uint64_t tokens_ = 0;
  uint64_t documents_ = 0;
  size_t documents_begin_ = 0;  // byte of the file
  TokenKey key_{};
};

}  // namespace deberta::train
