// Writes ids, documents and checksums in order with a trailer last, and verifies all of them on opening.
#include "train/data/token_file.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "base/checked.h"
#include "deberta/error.h"

namespace deberta::train {
namespace {

constexpr size_t kBlockBytes = size_t{1} << 20;
constexpr size_t kAlignment = 8;
constexpr uint32_t kEndianMark = 0x01020304;
constexpr uint16_t kVersion = 1;

struct End {
  std::array<char, 8> magic = {'D', 'B', 'T', 'O', 'K', 'E', 'N', 'S'};
  uint32_t endian_mark = kEndianMark;
  uint16_t version = kVersion;
  uint16_t id_bytes = 0;
  uint64_t tokens = 0;
  uint64_t documents = 0;
  TokenKey key{};
  uint32_t checksum = 0;  // checksum of all bytes before it
};
static_assert(sizeof(End) == 64);

uint32_t checksum_of(Bytes bytes, uint32_t before = 0) {
  return static_cast<uint32_t>(
      ::crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<z_size_t>(bytes.size())));
}

template <class Value>
Bytes bytes_of(const Value& value) {
  return std::as_bytes(std::span(&value, 1));
}

uint32_t checksum_of(const End& end) {
  return checksum_of(bytes_of(end).first(offsetof(End, checksum)));
}

constexpr size_t kNarrowVocabulary = 65536;
size_t id_bytes_for(size_t vocabulary) {
  return vocabulary < kNarrowVocabulary ? sizeof(uint16_t) : sizeof(uint32_t);
}

uint64_t padding_after(uint64_t bytes) {
  return (kAlignment - bytes % kAlignment) % kAlignment;
}

}  // namespace

// ---- writing

TokenFileWriter::TokenFileWriter(FileWriter& out, size_t vocabulary, const std::string& path)
    : out_(out), vocabulary_(vocabulary), path_(path), starts_(std::tmpfile()) {
  if (starts_ == nullptr)
    throw Error(ErrorCode::kFileWrite, path_, fmt::format("cannot create a temporary file: {}", std::strerror(errno)));
}

// Also sums each MiB.
void TokenFileWriter::write(Bytes bytes) {
  while (!bytes.empty()) {
    const Bytes part = bytes.first(std::min(bytes.size(), kBlockBytes - static_cast<size_t>(written_ % kBlockBytes)));
    checksum_ = checksum_of(part, checksum_);
    out_.write(part);
    written_ += part.size();
    bytes = bytes.subspan(part.size());
    if (written_ % kBlockBytes == 0) checksums_.push_back(std::exchange(checksum_, 0));
  }
}

void TokenFileWriter::add(std::span<const int32_t> ids) {
  if (ids.empty()) return;
  for (const int32_t id : ids) {
    if (id < 0 || static_cast<size_t>(id) >= vocabulary_)
      throw Error(ErrorCode::kTokenId, path_, fmt::format("expected ids 0..{}, got {}", vocabulary_ - 1, id));
  }
  if (std::exchange(begins_document_, false)) {
    if (std::fwrite(&tokens_, sizeof(tokens_), 1, starts_.get()) != 1)
      throw Error(ErrorCode::kFileWrite, path_, fmt::format("temporary file: {}", std::strerror(errno)));
    ++documents_;
  }
  const size_t id_bytes = id_bytes_for(vocabulary_);
  buffer_.resize(ids.size() * id_bytes);
  for (size_t i = 0; i < ids.size(); ++i) std::memcpy(&buffer_[i * id_bytes], &ids[i], id_bytes);  // little-endian
  write(buffer_);
  tokens_ += ids.size();
}

void TokenFileWriter::copy_documents() {
  std::rewind(starts_.get());
  std::array<uint64_t, 4096> part;
  for (uint64_t done = 0; done < documents_;) {
    const size_t wanted = static_cast<size_t>(std::min<uint64_t>(part.size(), documents_ - done));
    if (std::fread(part.data(), sizeof(uint64_t), wanted, starts_.get()) != wanted)
      throw Error(ErrorCode::kFileWrite, path_, fmt::format("temporary file: {}", std::strerror(errno)));
    write(std::as_bytes(std::span(part).first(wanted)));
    done += wanted;
  }
}

void TokenFileWriter::finish(const TokenKey& key) {
  constexpr std::array<std::byte, kAlignment> kZeros{};
  write(Bytes(kZeros).first(static_cast<size_t>(padding_after(written_))));
  copy_documents();
  if (written_ % kBlockBytes != 0) checksums_.push_back(checksum_);
  out_.write(std::as_bytes(std::span(checksums_)));
  End end;
  end.id_bytes = static_cast<uint16_t>(id_bytes_for(vocabulary_));
  end.tokens = tokens_;
  end.documents = documents_;
  end.key = key;
  end.checksum = checksum_of(end);
  out_.write(bytes_of(end));
}

// ---- reading

TokenFile::TokenFile(const std::string& path, size_t vocabulary, const std::function<bool()>& is_stopped)
    : file_(path) {
  read_end();
  check_blocks(is_stopped);
  check_documents();
  check_ids(vocabulary, is_stopped);
}

void TokenFile::refuse(const std::string& what) const {
  throw Error(ErrorCode::kInput, path(), "damaged token file: " + what);
}

void TokenFile::read_end() {
  const Bytes all = file_.bytes();
  if (all.size() < sizeof(End)) refuse(fmt::format("expected at least {} bytes, got {}", sizeof(End), all.size()));
  End end;
  std::memcpy(&end, &all[all.size() - sizeof(End)], sizeof(End));
  if (end.magic != End().magic) refuse("expected DBTOKENS 64 bytes before its end");
  if (end.endian_mark != kEndianMark) refuse("it was written on a machine of the other byte order");
  if (end.version != kVersion) refuse(fmt::format("expected version {}, got {}", kVersion, end.version));
  if (end.checksum != checksum_of(end)) refuse("its last 64 bytes do not have their checksum");
  if (end.id_bytes != sizeof(uint16_t) && end.id_bytes != sizeof(uint32_t))
    refuse(fmt::format("expected ids of 2 or 4 bytes, got {}", end.id_bytes));
  const auto ids = checked_mul(end.tokens, end.id_bytes);
  const auto starts = checked_mul(end.documents, sizeof(uint64_t));
  const auto padded = ids ? checked_add(*ids, padding_after(*ids)) : std::nullopt;
  const auto body = padded && starts ? checked_add(*padded, *starts) : std::nullopt;
  if (!body || *body > all.size()) refuse("it has fewer bytes than its counts need");
  const uint64_t blocks = (*body + kBlockBytes - 1) / kBlockBytes;
  const uint64_t size = *body + blocks * sizeof(uint32_t) + sizeof(End);
  if (size != all.size()) refuse(fmt::format("expected {} bytes, got {}", size, all.size()));
  id_bytes_ = end.id_bytes;
  tokens_ = end.tokens;
  documents_ = end.documents;
  documents_begin_ = static_cast<size_t>(*padded);
  key_ = end.key;
}

void TokenFile::check_blocks(const std::function<bool()>& is_stopped) const {
  const Bytes body = file_.bytes().first(body_bytes());
  for (size_t begin = 0, block = 0; begin < body.size(); begin += kBlockBytes, ++block) {
    if (is_stopped && is_stopped()) return;
    const Bytes part = body.subspan(begin, std::min(kBlockBytes, body.size() - begin));
    uint32_t expected = 0;
    std::memcpy(&expected, &file_.bytes()[body.size() + block * sizeof(uint32_t)], sizeof(uint32_t));
    if (checksum_of(part) != expected) refuse(fmt::format("the MiB at byte {} does not have its checksum", begin));
    release_pages(part);
  }
}

void TokenFile::check_documents() const {
  if ((documents_ == 0) != (tokens_ == 0)) refuse("expected a document if there are tokens");
  if (documents_ > 0 && document_start(0) != 0) refuse("expected document 0 to begin at token 0");
  for (uint64_t i = 0; i < documents_; ++i) {
    const bool is_last = i + 1 == documents_;
    if (document_start(i) >= (is_last ? tokens_ : document_start(i + 1)))
      refuse(fmt::format("document {} does not end after its begin", i));
  }
}

void TokenFile::check_ids(size_t vocabulary, const std::function<bool()>& is_stopped) const {
  std::array<int32_t, 16384> part;
  for (uint64_t begin = 0; begin < tokens_; begin += part.size()) {
    if (is_stopped && is_stopped()) return;
    const auto ids = std::span(part).first(static_cast<size_t>(std::min<uint64_t>(part.size(), tokens_ - begin)));
    read(begin, ids);
    for (const int32_t id : ids) {
      if (id < 0 || static_cast<size_t>(id) >= vocabulary)
        refuse(fmt::format("expected ids 0..{}, got {}", vocabulary - 1, static_cast<uint32_t>(id)));
    }
    release_pages(file_.bytes().subspan(static_cast<size_t>(begin) * id_bytes_, ids.size() * id_bytes_));
  }
}

void TokenFile::read(uint64_t first, std::span<int32_t> out) const {
  const Bytes from = file_.bytes().subspan(static_cast<size_t>(first) * id_bytes_, out.size() * id_bytes_);
  if (id_bytes_ == sizeof(uint32_t)) {
    std::ranges::copy(from, std::as_writable_bytes(out).begin());
    return;
  }
  for (size_t i = 0; i < out.size(); ++i) {
    uint16_t id = 0;
    std::memcpy(&id, &from[i * sizeof(id)], sizeof(id));
    out[i] = id;
  }
}

uint64_t TokenFile::document_start(uint64_t document) const {
  if (document == documents_) return tokens_;
  uint64_t start = 0;
  std::memcpy(&start, &file_.bytes()[documents_begin_ + static_cast<size_t>(document) * sizeof(start)], sizeof(start));
  return start;
}

uint64_t TokenFile::document_of(uint64_t token) const {
  uint64_t first = 0;
  for (uint64_t count = documents_; count > 1;) {
    const uint64_t half = count / 2;
    if (document_start(first + half) <= token) first += half;
    count -= half;
  }
  return first;
}

}  // namespace deberta::train
