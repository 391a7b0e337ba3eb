// Binary searches in generated tables of ranges; lower case is a difference within a run.
#include "text/unicode/unicode.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace deberta {
namespace {

struct PointRange {
  char32_t first, last;
};
struct LowerRun {
  char32_t first, last, step;
  int32_t difference;
};

#include "text/unicode/unicode_tables.inc"

// The row that may hold the point: the last one that begins at or before it.
template <class Row, size_t N>
const Row* find_row(const Row (&rows)[N], char32_t point) {
  const Row* after = std::upper_bound(std::begin(rows), std::end(rows), point,
                                      [](char32_t wanted, const Row& row) { return wanted < row.first; });
  if (after == std::begin(rows) || point > (after - 1)->last) return nullptr;
  return after - 1;
}

}  // namespace

bool is_white_space(char32_t point) {
  return find_row(kWhiteSpace, point) != nullptr;
}

bool is_punctuation(char32_t point) {
  if (point < 0x80) {
    return (point >= 33 && point <= 47) || (point >= 58 && point <= 64) || (point >= 91 && point <= 96) ||
           (point >= 123 && point <= 126);
  }
  return find_row(kPunctuation, point) != nullptr;
}

bool is_letter(char32_t point) {
  return find_row(kLetters, point) != nullptr;
}

bool is_number(char32_t point) {
  return find_row(kNumbers, point) != nullptr;
}

char32_t to_lower(char32_t point) {
  if (point == kCapitalIWithDot) return U'i';
  const LowerRun* run = find_row(kLower, point);
  if (run == nullptr || (point - run->first) % run->step != 0) return point;
  return static_cast<char32_t>(static_cast<int32_t>(point) + run->difference);
}

}  // namespace deberta
