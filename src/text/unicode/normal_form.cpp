// Unicode Standard, section 3.11: decompose, order marks by their combining class, compose again. Texts are taken in
// stretches that begin with a character that neither moves nor composes with what is before it.
#include "text/unicode/normal_form.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "base/utf8.h"
#include "text/unicode/unicode.h"

namespace deberta {
namespace {

enum Owner : uint8_t { kPython = 1, kLibrary = 2, kBoth = 3 };

struct Decomposition {
  char32_t point, first, second;  // second 0: none
  bool composes;
  Owner owner;
};
struct CombiningRange {
  char32_t first, last;
  uint8_t combining_class;
  Owner owner;
};
struct LowerPair {
  char32_t point, lower;
};
struct OwnedRange {
  char32_t first, last;
  Owner owner;
};

#include "text/unicode/normal_form_tables.inc"

bool belongs(Owner owner, Tables tables) {
  return (owner & (tables == Tables::kPython ? kPython : kLibrary)) != 0;
}

template <class Row, size_t N>
const Row* find_range(const Row (&rows)[N], char32_t point, Tables tables) {
  const Row* after = std::upper_bound(std::begin(rows), std::end(rows), point,
                                      [](char32_t wanted, const Row& row) { return wanted < row.first; });
  if (after == std::begin(rows) || point > (after - 1)->last || !belongs((after - 1)->owner, tables)) return nullptr;
  return after - 1;
}

// Hangul syllables are computed: 19 leading, 21 vowels, 27 trailing (0: none).
constexpr char32_t kHangul = 0xAC00, kLeading = 0x1100, kVowel = 0x1161, kTrailing = 0x11A7;
constexpr char32_t kLeadings = 19, kVowels = 21, kTrailings = 28;

bool is_hangul(char32_t point) {
  return point >= kHangul && point < kHangul + kLeadings * kVowels * kTrailings;
}

const Decomposition* find_decomposition(char32_t point, Tables tables) {
  const auto* row =
      std::lower_bound(std::begin(kDecompositions), std::end(kDecompositions), point,
                       [](const Decomposition& candidate, char32_t wanted) { return candidate.point < wanted; });
  const bool is_found = row != std::end(kDecompositions) && row->point == point && belongs(row->owner, tables);
  return is_found ? row : nullptr;
}

uint8_t class_of(char32_t point, Tables tables) {
  if (point < 0x300) return 0;
  const CombiningRange* row = find_range(kCombining, point, tables);
  return row == nullptr ? 0 : row->combining_class;
}

struct Mark {
  char32_t point;
  uint8_t combining_class;
};

void decompose(char32_t point, Tables tables, std::vector<Mark>& out) {
  if (is_hangul(point)) {
    const char32_t index = point - kHangul;
    out.push_back({kLeading + index / (kVowels * kTrailings), 0});
    out.push_back({kVowel + index % (kVowels * kTrailings) / kTrailings, 0});
    if (index % kTrailings != 0) out.push_back({kTrailing + index % kTrailings, 0});
    return;
  }
  const Decomposition* row = find_decomposition(point, tables);
  if (row == nullptr) return out.push_back({point, class_of(point, tables)});
  decompose(row->first, tables, out);
  if (row->second != 0) out.push_back({row->second, class_of(row->second, tables)});
}

// Compositions by their two parts.
struct Composition {
  char32_t first, second, point;
  Owner owner;
};
bool is_before(const Composition& a, const Composition& b) {
  return std::pair(a.first, a.second) < std::pair(b.first, b.second);
}

const std::vector<Composition>& compositions() {
  static const std::vector<Composition> all = [] {
    std::vector<Composition> rows;
    for (const Decomposition& row : kDecompositions) {
      if (row.composes) rows.push_back({row.first, row.second, row.point, row.owner});
    }
    std::sort(rows.begin(), rows.end(), is_before);
    return rows;
  }();
  return all;
}

// Characters that may compose with the one before them.
bool is_second(char32_t point) {
  static const std::vector<char32_t> seconds = [] {
    std::vector<char32_t> points;
    for (const Composition& composition : compositions()) points.push_back(composition.second);
    std::sort(points.begin(), points.end());
    return points;
  }();
  const bool is_jamo =
      (point >= kVowel && point < kVowel + kVowels) || (point > kTrailing && point < kTrailing + kTrailings);
  return is_jamo || std::binary_search(seconds.begin(), seconds.end(), point);
}

char32_t compose(char32_t first, char32_t second, Tables tables) {
  if (first >= kLeading && first < kLeading + kLeadings && second >= kVowel && second < kVowel + kVowels)
    return kHangul + ((first - kLeading) * kVowels + (second - kVowel)) * kTrailings;
  if (is_hangul(first) && (first - kHangul) % kTrailings == 0 && second > kTrailing && second < kTrailing + kTrailings)
    return first + (second - kTrailing);
  const Composition wanted{first, second, 0, kBoth};
  const auto entry = std::lower_bound(compositions().begin(), compositions().end(), wanted, is_before);
  const bool is_found = entry != compositions().end() && entry->first == first && entry->second == second;
  return is_found && belongs(entry->owner, tables) ? entry->point : 0;
}

void order_marks(std::vector<Mark>& marks) {
  for (auto begin = marks.begin(); begin != marks.end();) {
    auto end = begin + 1;
    if (begin->combining_class != 0) {
      while (end != marks.end() && end->combining_class != 0) ++end;
      std::stable_sort(begin, end, [](const Mark& a, const Mark& b) { return a.combining_class < b.combining_class; });
    }
    begin = end;
  }
}

// A mark composes with the last starter unless a mark of its own or a higher class, or another starter, is between.
void compose_marks(std::vector<Mark>& marks, Tables tables) {
  size_t kept = 0, starter = SIZE_MAX;
  int between = -1;  // the class of the last character kept after the starter
  for (const Mark mark : marks) {
    const bool reaches = starter != SIZE_MAX && (between < 0 || between < mark.combining_class);
    if (const char32_t whole = reaches ? compose(marks[starter].point, mark.point, tables) : 0; whole != 0) {
      marks[starter].point = whole;
      continue;
    }
    if (mark.combining_class == 0) {
      starter = kept;
      between = -1;
    } else {
      between = mark.combining_class;
    }
    marks[kept++] = mark;
  }
  marks.resize(kept);
}

// Whether a stretch may begin with the character: what is before it is finished.
bool begins_stretch(char32_t point, Tables tables) {
  if (point < 0x300) return true;
  if (is_hangul(point)) return true;
  std::vector<Mark> marks;
  decompose(point, tables, marks);
  return marks.front().combining_class == 0 && !is_second(marks.front().point);
}

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<uint8_t>(c) < 0x80; });
}

class Writer {
 public:
  Writer(const MappedText& from, Tables tables, bool composes) : from_(from), tables_(tables), composes_(composes) {}

  MappedText run() {
    const std::string_view text = from_.text;
    for (size_t at = 0; at < text.size();) {
      const CodePoint point = decode_utf8(text, at);
      if (at > begin_ && (!point.is_valid || begins_stretch(point.value, tables_))) end_stretch(at);
      if (point.is_valid) {
        decompose(point.value, tables_, marks_);
      } else {
        is_broken_ = true;
      }
      at += point.size_bytes;
    }
    end_stretch(text.size());
    return std::move(to_);
  }

 private:
  void end_stretch(size_t end) {
    if (begin_ == end) return;
    order_marks(marks_);
    if (composes_) compose_marks(marks_, tables_);
    std::string ordered;
    for (const Mark& mark : marks_) append_utf8(ordered, mark.point);
    const std::string_view old = std::string_view(from_.text).substr(begin_, end - begin_);
    if (is_broken_ || ordered == old) {
      to_.text += old;
      to_.sources.insert(to_.sources.end(), from_.sources.begin() + static_cast<ptrdiff_t>(begin_),
                         from_.sources.begin() + static_cast<ptrdiff_t>(end));
    } else {
      to_.add(ordered, {from_.sources[begin_].begin, from_.sources[end - 1].end});
    }
    marks_.clear();
    is_broken_ = false;
    begin_ = end;
  }

  const MappedText& from_;
  Tables tables_;
  bool composes_;
  MappedText to_;
  size_t begin_ = 0;
  std::vector<Mark> marks_;
  bool is_broken_ = false;
};

}  // namespace

MappedText to_nfc(const MappedText& text, Tables tables) {
  return is_ascii(text.text) ? text : Writer(text, tables, true).run();
}

MappedText to_nfd(const MappedText& text, Tables tables) {
  return is_ascii(text.text) ? text : Writer(text, tables, false).run();
}

bool is_mark(char32_t point, Tables tables) {
  return find_range(kMarks, point, tables) != nullptr;
}
bool is_stripped_mark(char32_t point) {
  return find_range(kStripped, point, Tables::kLibrary) != nullptr;
}
char32_t to_library_lower(char32_t point) {
  const auto* row = std::lower_bound(std::begin(kLibraryLower), std::end(kLibraryLower), point,
                                     [](const LowerPair& pair, char32_t wanted) { return pair.point < wanted; });
  return row != std::end(kLibraryLower) && row->point == point ? row->lower : to_lower(point);
}
bool is_cleaned_away(char32_t point, Tables tables) {
  return find_range(kRemoved, point, tables) != nullptr;
}
bool is_bert_space(char32_t point, Tables tables) {
  return find_range(kBertSpaces, point, tables) != nullptr;
}
bool is_bert_punctuation(char32_t point, Tables tables) {
  return find_range(kPunctuationOf, point, tables) != nullptr;
}
bool is_digit_of_any_script(char32_t point, Tables tables) {
  return find_range(kDigits, point, tables) != nullptr;
}
bool is_word_character(char32_t point) {
  return find_range(kWordCharacters, point, Tables::kLibrary) != nullptr;
}
bool is_chinese(char32_t point, Tables tables) {
  return find_range(kChinese, point, tables) != nullptr;
}

}  // namespace deberta
