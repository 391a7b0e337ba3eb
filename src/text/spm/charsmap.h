// The compiled replacement rules of a SentencePiece model (precompiled_charsmap): which text each prefix becomes.
// Checked once when built; look-ups afterwards cannot leave the tables.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace deberta {

class Charsmap {
 public:
  // No rules.
  Charsmap() = default;
  // `blob`: u32 size of a table in bytes, the table (a double array in the layout of Darts-clone), the replacements,
  // each ended by NUL. Throws kTokenizerFile; `where` opens the message.
  Charsmap(std::string_view blob, const std::string& where);

  struct Match {
    size_t size_bytes = 0;  // bytes of the text replaced; 0: no rule
    std::string_view replacement;
  };
  // The longest rule that `text` starts with and that ends between two code points.
  Match longest_prefix(std::string_view text) const;

  // The output of the shortest rule that `text` starts with, wherever it ends; nothing when there is none. For a reader
  // that looks for a rule of one character (json_normalizer.cpp).
  std::optional<std::string_view> shortest_prefix(std::string_view text) const;

  // Whether an ASCII byte, followed by another ASCII byte or by the end, surely stays as it is.
  bool is_plain(uint8_t byte) const { return byte < 0x80 && !touched_[byte]; }

 private:
  void check(const std::string& where) const;
  void find_touched();

  std::vector<uint32_t> units_;
  std::string replacements_;
  std::array<bool, 128> touched_{};
};

}  // namespace deberta
