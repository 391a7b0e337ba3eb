// Unicode's canonical normal forms, and what BERT's tokenizers ask of a character. Python and the tokenizers library
// use tables of different Unicode versions: the caller says whose.
#pragma once
#include <cstdint>

#include "text/mapped_text.h"

namespace deberta {

enum class Tables : uint8_t { kPython, kLibrary };

// NFC and NFD. What a stretch of characters composes to has the whole stretch as its source.
MappedText to_nfc(const MappedText& text, Tables tables);
MappedText to_nfd(const MappedText& text, Tables tables);

bool is_mark(char32_t point, Tables tables);                 // category Mn: what BERT removes after NFD
bool is_stripped_mark(char32_t point);                       // what the library's StripAccents removes
char32_t to_library_lower(char32_t point);                   // as to_lower() of unicode.h
bool is_cleaned_away(char32_t point, Tables tables);         // control characters and the like
bool is_bert_space(char32_t point, Tables tables);           // cleaned to one space
bool is_bert_punctuation(char32_t point, Tables tables);     // ASCII's symbols, category P
bool is_digit_of_any_script(char32_t point, Tables tables);  // category N
bool is_word_character(char32_t point);                      // \w of the library's regular expressions
bool is_chinese(char32_t point, Tables tables);              // CJK ideographs: words of their own

}  // namespace deberta
