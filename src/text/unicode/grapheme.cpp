// The rules are numbered as in UAX 29: GB3 to GB13.
#include "text/unicode/grapheme.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "base/utf8.h"

namespace deberta {
namespace {

// Grapheme_Cluster_Break, with what Indic_Conjunct_Break and Extended_Pictographic add to it.
enum class Kind : uint8_t {
  kOther,
  kCr,
  kLf,
  kControl,
  kExtend,       // may stand inside a conjunct
  kOtherExtend,  // may not
  kLinker,       // Extend that joins two consonants
  kJoiner,       // U+200D
  kRegional,
  kPrepend,
  kSpacingMark,
  kPictograph,
  kConsonant,
  kL,
  kV,
  kT,
  kLv,
  kLvt
};

struct GraphemeRange {
  char32_t first, last;
  Kind kind;
};

#include "text/unicode/grapheme_tables.inc"

constexpr char32_t kFirstSyllable = 0xAC00;
constexpr char32_t kLastSyllable = 0xD7A3;
constexpr char32_t kSyllablesOfLv = 28;

Kind kind_of(char32_t point) {
  if (point >= 0x20 && point < 0x7F) return Kind::kOther;
  if (point >= kFirstSyllable && point <= kLastSyllable)
    return (point - kFirstSyllable) % kSyllablesOfLv == 0 ? Kind::kLv : Kind::kLvt;
  const auto* after =
      std::upper_bound(std::begin(kRanges), std::end(kRanges), point,
                       [](char32_t wanted, const GraphemeRange& range) { return wanted < range.first; });
  if (after == std::begin(kRanges) || point > (after - 1)->last) return Kind::kOther;
  return (after - 1)->kind;
}

bool is_control(Kind kind) {
  return kind == Kind::kControl || kind == Kind::kCr || kind == Kind::kLf;
}
bool is_extend(Kind kind) {
  return kind == Kind::kExtend || kind == Kind::kOtherExtend || kind == Kind::kLinker;
}

bool joins_syllable(Kind left, Kind right) {
  switch (left) {
    case Kind::kL:
      return right == Kind::kL || right == Kind::kV || right == Kind::kLv || right == Kind::kLvt;
    case Kind::kLv:
    case Kind::kV:
      return right == Kind::kV || right == Kind::kT;
    case Kind::kLvt:
    case Kind::kT:
      return right == Kind::kT;
    default:
      return false;
  }
}

// A cluster as far as it has been read, and what may follow.
class Cluster {
 public:
  explicit Cluster(Kind first) { add(first); }

  bool takes(Kind next) const {
    if (last_ == Kind::kCr && next == Kind::kLf) return true;                         // GB3
    if (is_control(last_) || is_control(next)) return false;                          // GB4, GB5
    if (joins_syllable(last_, next)) return true;                                     // GB6 to GB8
    if (is_extend(next) || next == Kind::kJoiner) return true;                        // GB9
    if (next == Kind::kSpacingMark || last_ == Kind::kPrepend) return true;           // GB9a, GB9b
    if (next == Kind::kConsonant) return is_conjunct_ && has_linker_;                 // GB9c
    if (next == Kind::kPictograph) return pictograph_ == kJoined;                     // GB11
    return next == Kind::kRegional && last_ == Kind::kRegional && has_odd_regional_;  // GB12, GB13
  }

  void add(Kind kind) {
    if (kind == Kind::kConsonant) {
      is_conjunct_ = true;
      has_linker_ = false;
    } else if (kind == Kind::kLinker) {
      has_linker_ = true;
    } else if (kind != Kind::kExtend && kind != Kind::kJoiner) {
      is_conjunct_ = false;
    }
    if (kind == Kind::kPictograph) {
      pictograph_ = kAlone;
    } else if (kind == Kind::kJoiner && pictograph_ == kAlone) {
      pictograph_ = kJoined;
    } else if (!is_extend(kind) || pictograph_ == kJoined) {
      pictograph_ = kNone;
    }
    has_odd_regional_ = kind == Kind::kRegional && !has_odd_regional_;
    last_ = kind;
  }

 private:
  Kind last_ = Kind::kOther;
  bool is_conjunct_ = false;  // a consonant, then only what may stand before the next one
  bool has_linker_ = false;   // among those
  enum : uint8_t { kNone, kAlone, kJoined } pictograph_ = kNone;
  bool has_odd_regional_ = false;
};

}  // namespace

size_t end_of_grapheme(std::string_view text, size_t begin) {
  const auto is_printable = [&](size_t at) { return text[at] >= 0x20 && text[at] < 0x7F; };
  if (is_printable(begin) && (begin + 1 == text.size() || is_printable(begin + 1))) return begin + 1;
  const CodePoint first = decode_utf8(text, begin);
  Cluster cluster(kind_of(first.value));
  size_t end = begin + first.size_bytes;
  while (end < text.size()) {
    const CodePoint point = decode_utf8(text, end);
    const Kind kind = kind_of(point.value);
    if (!cluster.takes(kind)) break;
    cluster.add(kind);
    end += point.size_bytes;
  }
  return end;
}

}  // namespace deberta
