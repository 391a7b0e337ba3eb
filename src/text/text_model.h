// The model behind a tokenizer: what SentencePiece unigrams (unigram_text_model.h) and byte-level BPE
// (bpe_text_model.h) have in common. Added tokens, the template and truncation are the tokenizer's (tokenizer.cpp), not
// the model's.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "deberta/tokenizer.h"
#include "text/special_tokens.h"

namespace deberta {

// The tokens of one text before the template; parallel vectors.
struct Tokens {
  std::vector<int32_t> ids;
  std::vector<Offset> bytes;
};

// The id of a token that is not a piece of the model; the tokenizer puts its unknown token there.
constexpr int32_t kUnknownToken = -1;

// One token on the way back to text: a piece of the model, or a token that is not part of running text.
struct DecodeStep {
  int32_t id = 0;
  bool is_piece = true;
  std::string_view content;  // content of a token that is not a piece
};

struct SplitOptions {
  bool parse_special = true;  // false: no special token is found in a text
  int32_t parsed_id = -1;     // but this one, if any
  bool finds_added = false;   // and tokens that are not special
  SpmTies spm_ties = SpmTies::kFloat;
  bool adds_prefix_space = false;  // to a part that begins with none (byte-level BPE)
  size_t max_bytes = SIZE_MAX;     // a longer normalized text throws kTextTooLong
};

enum class ModelKind : uint8_t { kUnigram, kByteBpe, kWordPiece };

// Immutable, thread-safe once set_tokens() has been called. Ids are 0 .. size() - 1; some may be holes.
class TextModel {
 public:
  virtual ~TextModel() = default;
  virtual ModelKind kind() const = 0;
  // All added tokens: a model may look for some of them itself (AddedToken::is_of_model), in the text that its
  // normalizer makes. Throws kTokenizerFile.
  virtual void set_tokens(const std::vector<AddedToken>&) {}

  // Appends the tokens of text[part.begin, part.end), valid UTF-8; offsets are those in `text`, in whole code points,
  // without the leading space.
  virtual void split(std::string_view text, TextPart part, const SplitOptions& options, Tokens& out) const = 0;
  // The steps as text; a token that is not a piece is set off by a space.
  virtual std::string to_text(std::span<const DecodeStep> steps) const = 0;

  virtual size_t size() const = 0;
  virtual std::string_view piece(int32_t id) const = 0;  // empty for a hole; id below size()
  virtual std::optional<int32_t> id_of(std::string_view piece) const = 0;
  virtual bool is_special(int32_t id) const = 0;
  virtual int32_t unk_id() const = 0;  // kUnknownToken when the files beside the model decide
};

// Throws kTextTooLong where a normalized text, with the tokens so far, is too much: few characters may become many.
void check_normalized(size_t bytes, const Tokens& before, const SplitOptions& options);

// The tokens of a text that the options find, and the plain text between them.
std::vector<TextPart> cut_at_tokens(const SpecialTokens& tokens, std::string_view text, const SplitOptions& options);

// Appends a token that is not part of running text.
inline void append_set_off(std::string& text, std::string_view token) {
  if (!text.empty() && !text.ends_with(' ')) text += ' ';
  text += token;
}

}  // namespace deberta
