// Classes of code points as Python has them: str.isspace, categories P, L, N, str.lower of one character.
// Needed where the reference tokenizers decide in Python, outside the model.
#pragma once

namespace deberta {

bool is_white_space(char32_t point);
// The property White_Space: the same without the four separators of ASCII.
inline bool is_unicode_white_space(char32_t point) {
  return is_white_space(point) && !(point >= 0x1C && point <= 0x1F);
}

// The ASCII symbols that are neither letters nor digits, and all of category P.
bool is_punctuation(char32_t point);

// All of category L, and of category N.
bool is_letter(char32_t point);
bool is_number(char32_t point);

// The lower-case form of one character alone. U+0130 becomes two characters: this gives the first, 'i', and
// kDotAbove must follow.
char32_t to_lower(char32_t point);
constexpr char32_t kCapitalIWithDot = 0x130;
constexpr char32_t kDotAbove = 0x307;

}  // namespace deberta
