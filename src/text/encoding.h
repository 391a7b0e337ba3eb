// What a tokenizer makes of a text: the struct that leaves this room.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace deberta {

struct Offset {
  uint32_t begin = 0;
  uint32_t end = 0;  // one past the last
  bool operator==(const Offset&) const = default;
};

// Parallel vectors, one entry a token. Special tokens added by the template ([CLS], [SEP]) have empty offsets 0..0.
struct Encoding {
  std::vector<int32_t> ids;
  std::vector<int32_t> type_ids;    // 0 for the first text (its [CLS] and [SEP] too), 1 for the second
  std::vector<Offset> chars;        // in code points of the token's own text (first or second), leading space excluded
  std::vector<Offset> bytes;        // the same in bytes
  std::vector<int32_t> words;       // index of the white-space-separated word within its text, -1 for special tokens
  std::vector<uint8_t> is_special;  // 1 for tokens that the template added
  size_t cut_tokens = 0;            // tokens that truncation took away

  size_t size() const { return ids.size(); }
};

}  // namespace deberta
