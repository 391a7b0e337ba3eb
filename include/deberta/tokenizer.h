// A tokenizer of a model directory: text to ids with offsets, and back. Immutable after loading; thread-safe.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "deberta/error.h"

namespace deberta {

struct Offset {
  uint32_t begin = 0;
  uint32_t end = 0;  // one past the last
  bool operator==(const Offset&) const = default;
};

// Parallel vectors, one entry per token. Special tokens added by the template ([CLS], [SEP]) have empty offsets 0..0.
struct Encoding {
  std::vector<int32_t> ids;
  std::vector<int32_t> type_ids;    // 0 for the first text (its [CLS] and [SEP] too), 1 for the second
  std::vector<Offset> chars;        // in code points of the token's own text (first or second), leading space excluded
  std::vector<Offset> bytes;        // the same in bytes
  std::vector<int32_t> words;       // index of the white-space-separated word within its text, -1 for special tokens
  std::vector<uint8_t> is_special;  // 1 for tokens that the template added
  size_t cut_tokens = 0;            // tokens removed by truncation
  size_t second_begin = SIZE_MAX;   // pairs: index of the second text's first token

  size_t size() const { return ids.size(); }
};

struct SpecialIds {
  int32_t pad = 0;
  int32_t cls = 1;
  int32_t sep = 2;
  int32_t unk = 3;    // -1: the tokenizer has none; a text that needs it throws kTokenizerFile
  int32_t mask = -1;  // -1: the tokenizer has none
};

enum class Truncate { kNone, kRight, kLeft };

// Which text of a pair is cut.
enum class PairCut { kLongestFirst, kFirst };

// How a SentencePiece model's scores are added, which decides ties: in float as sentencepiece 0.2 does, or in double as
// 0.1.97 does. Other kinds of tokenizer have only one way.
enum class SpmTies { kFloat, kDouble };

// Which ids: those of the slow tokenizers of transformers, which trained the models, or of the fast ones, which its
// pipelines use ([UNK] where a SentencePiece model has byte pieces).
enum class TokenizerKind { kSlow, kFast };

struct EncodeOptions {
  bool add_special_tokens = true;
  bool parse_special = true;  // false: "[SEP]" written in a text is plain text
  bool parse_mask = false;    // "[MASK]" is the mask token even so
  bool parse_added = false;   // and added tokens that are not special are tokens
  Truncate truncate = Truncate::kNone;
  PairCut pair_cut = PairCut::kLongestFirst;  // kFirst: kTextTooLong when the second alone does not fit
  size_t max_tokens = 512;                    // including the special tokens; used when truncating
  size_t max_second_tokens = SIZE_MAX;        // pairs: the second text is first cut to this many, from its end
  // A longer text throws kTextTooLong, and one that becomes half as long again.
  size_t max_text_bytes = size_t{1} << 20;
  size_t most_tokens = SIZE_MAX;  // more, once it is cut, throw kTextTooLong; of a task: of all its sequences
  SpmTies spm_ties = SpmTies::kFloat;
};

class DEBERTA_API Tokenizer {
 public:
  // From the files of the class that tokenizer_config.json or config.json names: spm.model or spiece.model; vocab.json
  // and merges.txt, or bpe_encoder.bin; vocab.txt; tokenizer.json where they are missing, or first for kFast (and, when
  // present, tokenizer_config.json, added_tokens.json, special_tokens_map.json). docs/reference/tokenizers.md has the
  // rules. Throws kTokenizerFile, kFileNotFound, kJson, kTooLarge, kUnsupported, kBin.
  static Tokenizer load(const std::string& folder, TokenizerKind kind = TokenizerKind::kSlow);
  // The same with more tokens, which get the ids after all others; those that it has already are passed over. They are
  // found in a text as they stand, before it is normalized. Throws kUsage for one that cannot be a token or that no
  // text would be split at, kUnsupported for other kinds of tokenizer than SentencePiece.
  static Tokenizer load(const std::string& folder, TokenizerKind kind, std::span<const std::string> added_tokens);
  ~Tokenizer();
  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;

  // `text` is valid UTF-8; other bytes are safe, but their tokens are unspecified. Throws kTextTooLong, kTokenizerFile.
  Encoding encode(std::string_view text, const EncodeOptions& options = {}) const;
  // [CLS] first [SEP] second [SEP], types 0 and 1; two [SEP] or only type 0 if tokenizer.json says so.
  Encoding encode_pair(std::string_view first, std::string_view second, const EncodeOptions& options = {}) const;

  // Ids back to text. Throws kTokenId for an id outside the vocabulary.
  std::string decode(std::span<const int32_t> ids, bool skip_special = true) const;

  // Pieces of the model and added tokens: ids 0 .. size() - 1.
  size_t size() const;
  std::string_view piece(int32_t id) const;  // throws kTokenId
  std::optional<int32_t> id_of(std::string_view piece) const;
  bool is_special(int32_t id) const;
  bool is_added(int32_t id) const;  // found in a text before the model sees it
  const SpecialIds& special() const;

  // model_max_length of tokenizer_config.json: the longest input in tokens; nothing: no limit. Encoding uses only
  // EncodeOptions::max_tokens; the program takes the smaller of the two.
  std::optional<size_t> max_length() const;
  // Whether pairs are built as by transformers 4 for all DeBERTa models: one [SEP] between, types 0 and 1.
  bool has_plain_pairs() const;

 private:
  struct State;
  explicit Tokenizer(const State* state);
  // An owned pointer: <memory> would double the compile time of this header.
  const State* state_;
};

}  // namespace deberta
