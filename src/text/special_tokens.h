// Tokens that are found in a text before the model sees it ([MASK], [SEP], added words), and the cutting of a text at
// them as the slow tokenizers of transformers 4.57 do. Where the tokens come from: tokenizer_config.h.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "text/trie.h"

namespace deberta {

struct AddedToken {
  std::string content;
  int32_t id = -1;
  bool strips_left = false;     // "lstrip": takes away the white space before it
  bool strips_right = false;    // "rstrip"
  bool is_single_word = false;  // no token where a non-space, or a word character, touches it (StripRule)
  bool is_normalized = true;    // kept in a text that is lower-cased, unless special
  bool is_special = false;
  bool is_of_model = false;  // found by the model, in the text that its normalizer makes (tokenizer_json.h)
};

// A part of a text: an added token, or plain text for the model when id is -1.
struct TextPart {
  size_t begin = 0;
  size_t end = 0;
  int32_t id = -1;
};

// Tokens other than those are text.
std::vector<TextPart> keep_tokens(const std::vector<TextPart>& parts, const std::function<bool(int32_t id)>& is_kept);

// What a stripping token takes for white space, and what separates a single word from its neighbour: the white space of
// Python's strings and a space, or the property White_Space and all but word characters, as in the tokenizers library.
enum class StripRule : uint8_t { kPython, kUnicode };

class SpecialTokens {
 public:
  SpecialTokens() = default;
  // Contents and ids differ and contents are not empty (tokenizer_config.cpp checks it).
  explicit SpecialTokens(std::vector<AddedToken> tokens, StripRule strip_rule = StripRule::kPython);

  // The tokens of a text, except those that the model looks for itself. Non-empty parts in order; white space that a
  // token strips belongs to none.
  std::vector<TextPart> split(std::string_view text) const;

  // Bytes of the longest token of split() that `text` starts with; 0: none.
  size_t prefix_size(std::string_view text) const { return trie_.longest_prefix(text).size_bytes; }

  const AddedToken* find(int32_t id) const;
  const AddedToken* find(std::string_view content) const;
  const std::vector<AddedToken>& tokens() const { return tokens_; }  // by id

 private:
  std::vector<TextPart> cut(std::string_view text) const;
  bool is_part_of_word(std::string_view text, size_t begin, size_t end) const;
  const AddedToken* find_in(const Trie& trie, std::string_view content) const;

  std::vector<AddedToken> tokens_;
  StripRule strip_rule_ = StripRule::kPython;
  Trie trie_;                       // tokens of split(); values: positions in tokens_
  std::array<bool, 256> begins_{};  // whether a token of split() begins with the byte
  Trie all_trie_;                   // all tokens
};

}  // namespace deberta
