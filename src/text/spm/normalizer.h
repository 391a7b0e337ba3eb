// The normalised text that pieces are matched against, with positions mapped back to the original text.
// Works as SentencePiece's normaliser: replacement rules, user-defined symbols untouched, white space collapsed,
// a space put in front. Splitting into pieces is unigram.h.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "deberta/tokenizer.h"
#include "text/spm/charsmap.h"
#include "text/spm/spm_model.h"
#include "text/trie.h"

namespace deberta {

// Pieces write a space as U+2581 (three bytes). Inside this room it is one byte again, ' ', in texts and in pieces:
// that keeps the tables and the work small. When a model does not escape spaces, both stay what they are.
constexpr std::string_view kSpaceSymbol = "\xE2\x96\x81";
std::string to_inner_text(std::string_view piece, bool escape_whitespaces);
void append_inner_text(std::string_view piece, bool escape_whitespaces, std::string& text);

// A normalised text and where its parts come from.
class NormalizedText {
 public:
  const std::string& text() const { return text_; }

  // Moves with increasing positions; one per direction of walk. Byte range in the original text of the piece
  // [begin, end) of text(): whole code points, the piece's leading space excluded; a piece that is only a space gives
  // an empty range before what follows.
  class Cursor {
   public:
    explicit Cursor(const NormalizedText& normalized) : normalized_(normalized) {}
    Offset source_of(uint32_t begin, uint32_t end) {
      if (begin < copy_begin_ || end > copy_end_) return search(begin, end);
      const char* text = normalized_.text_.data();
      uint32_t first = begin;
      while (first < end && text[first] == ' ') ++first;
      if (first == end) return search(begin, end);
      return {first + copy_shift_, end + copy_shift_};
    }

   private:
    Offset search(uint32_t begin, uint32_t end);

    const NormalizedText& normalized_;
    size_t run_ = 0;
    // The run, when it is a copy: nearly all pieces lie in one.
    uint32_t copy_begin_ = 0;
    uint32_t copy_end_ = 0;
    uint32_t copy_shift_ = 0;  // modulo 2^32
  };

 private:
  friend class Normalizer;
  enum class Kind : uint8_t { kCopy, kReplaced, kSpace };
  // A run of text_, up to the next run: copied byte for byte, or as a whole made from source_size bytes.
  struct Run {
    uint32_t begin;
    uint32_t source_begin;
    uint32_t source_size;  // 0 and unused for kCopy
    Kind kind;
  };
  uint32_t end_of(size_t run) const {
    return run + 1 < runs_.size() ? runs_[run + 1].begin : static_cast<uint32_t>(text_.size());
  }
  uint32_t source_begin_of(size_t run, uint32_t position) const;
  uint32_t source_end_of(size_t run, uint32_t position) const;
  bool is_space(size_t run, uint32_t position) const;
  void add(std::string_view part, uint32_t source_begin, uint32_t source_size, Kind kind);
  void cut(size_t size_bytes);

  std::string text_;
  std::vector<Run> runs_;
};

class Normalizer {
 public:
  // Throws kTokenizerFile for broken rules; `where` names the file.
  Normalizer(const SpmModel& model, const std::string& where);

  // Any bytes are safe; a byte that is not valid UTF-8 becomes U+FFFD. Throws kTextTooLong above 2^29 bytes.
  NormalizedText normalize(std::string_view text) const;

 private:
  struct Step {
    std::string_view text;
    size_t size_bytes;
    bool is_copy;
  };
  Step step(std::string_view text) const;
  size_t skip_spaces(std::string_view text) const;
  size_t plain_prefix(std::string_view text, bool is_after_space) const;
  void add_step(const Step& step, size_t position, bool& is_after_space, NormalizedText& out) const;

  Charsmap charsmap_;
  Trie user_symbols_;
  std::array<bool, 256> is_plain_{};
  bool add_dummy_prefix_;
  bool remove_extra_whitespaces_;
  bool escape_whitespaces_;
};

}  // namespace deberta
