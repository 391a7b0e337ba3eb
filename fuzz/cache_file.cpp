// A file of tokens (train/data/token_file.h), as it is and with the checksums that its own counts call for: what a file
// with right checksums may do is the question.
#include <zlib.h>

#include <cstring>

#include "fuzz.h"
#include "support/paths.h"
#include "train/data/token_file.h"

namespace deberta::fuzz {
namespace {

constexpr size_t kVocabulary = 70000;
constexpr size_t kEndBytes = 64;

uint32_t checksum_of(const std::string& bytes, size_t begin, size_t size) {
  return static_cast<uint32_t>(::crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()) + begin, size));
}

// One block: inputs are small.
std::string with_checksums(std::string file) {
  if (file.size() < kEndBytes + sizeof(uint32_t)) return file;
  const size_t end = file.size() - kEndBytes;
  const uint32_t body = checksum_of(file, 0, end - sizeof(uint32_t));
  std::memcpy(&file[end - sizeof(uint32_t)], &body, sizeof(body));
  const uint32_t last = checksum_of(file, end, kEndBytes - sizeof(uint32_t));
  std::memcpy(&file[file.size() - sizeof(uint32_t)], &last, sizeof(last));
  return file;
}

void read_tokens(const std::string& bytes) {
  const std::string path = folder() + "/tokens.dbt";
  test::write_text(path, bytes);
  const train::TokenFile file(path, kVocabulary);
  std::vector<int32_t> ids(file.tokens());
  file.read(0, ids);
  for (const int32_t id : ids) FUZZ_REQUIRE(id >= 0 && static_cast<size_t>(id) < kVocabulary);
  for (uint64_t token = 0; token < file.tokens(); ++token) {
    const uint64_t document = file.document_of(token);
    FUZZ_REQUIRE(document < file.documents());
    FUZZ_REQUIRE(file.document_start(document) <= token && token < file.document_start(document + 1));
  }
}

}  // namespace

void run(Bytes input) {
  const std::string bytes(to_text(input));
  read_tokens(with_checksums(bytes));
  read_tokens(bytes);
}

}  // namespace deberta::fuzz
