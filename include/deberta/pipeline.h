// One function a verb: texts in, answers out. Scores are single precision, offsets in code points and in bytes. Texts
// are packed together; an answer is the same bits alone and in any company. All functions may be called from several
// threads with one directory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "deberta/answer.h"
#include "deberta/config.h"
#include "deberta/error.h"
#include "deberta/model.h"
#include "deberta/tokenizer.h"

namespace deberta {

// A model directory opened for use: configuration, tokenizer, weights.
struct ModelDirectory {
  ModelConfig config;
  Tokenizer tokenizer;
  Model model;
};

// Throws what the parts throw, and kFileNotFound when `path` is no directory.
DEBERTA_API ModelDirectory open_model_directory(const std::string& path, const ModelOptions& options = {},
                                                const OpenOptions& open_options = {});

// One input of a task: a text or a pair of texts, valid UTF-8. The characters belong to the caller.
struct TextInput {
  std::string_view text;
  std::optional<std::string_view> pair = {};
  const Encoding* encoding = nullptr;  // by encode_input() with the same rules; spares encoding it again
};

// How texts become packs. Every function throws kTextTooLong, kInput (text that is not valid UTF-8 or has no token) and
// what the model throws.
struct EncodingRules {
  EncodeOptions encode;
  bool refuses_long = false;    // a text above encode.max_tokens throws kTextTooLong instead of being cut
  size_t batch_tokens = 16000;  // tokens of one pack; a longer text gets a pack of its own
};

// As the functions below encode; for a thread that encodes while another one computes. Throws as they do.
DEBERTA_API Encoding encode_input(const Tokenizer& tokenizer, const TextInput& input, const EncodingRules& rules);

struct SequenceOptions {
  EncodingRules rules;
  std::optional<ScoreFunction> function;  // none: what the configuration asks for
  size_t top_k = 0;                       // 0: the best label, or all of a multi-label model
};

// Throws kTask when the checkpoint has no sequence head.
DEBERTA_API std::vector<SequenceAnswer> classify(const ModelDirectory& directory, std::span<const TextInput> inputs,
                                                 const SequenceOptions& options = {});

struct EntailmentOptions {
  EncodingRules rules;
  std::vector<std::string> label_map;  // entailment, neutral, contradiction in the model's order, instead of its labels
};

// Does the first text of each pair entail the second. Throws as classify, kTask when no label says entailment, kInput
// for an input without a pair.
DEBERTA_API std::vector<EntailmentAnswer> nli(const ModelDirectory& directory, std::span<const TextInput> inputs,
                                              const EntailmentOptions& options = {});

struct TokenOptions {
  EncodingRules rules;
  EntityRules entities;
};

// Both token heads, the original one with a projection and the plain one. Throws kTask when the checkpoint has neither.
DEBERTA_API std::vector<TokenAnswer> ner(const ModelDirectory& directory, std::span<const TextInput> inputs,
                                         const TokenOptions& options = {});

struct FillOptions {
  EncodingRules rules;
  size_t top_k = 5;
  std::vector<int32_t> targets;  // only these ids; from target_ids()
};

// Single tokens for words: the piece as written, or with the word-start mark. Throws kInput for a word of several
// pieces.
DEBERTA_API std::vector<int32_t> target_ids(const Tokenizer& tokenizer, const std::vector<std::string>& words);

// Throws kTask when the checkpoint has no language-model head or the tokenizer no mask, kInput for a text without a
// mask (in its first max_tokens tokens).
DEBERTA_API std::vector<FillAnswer> fill(const ModelDirectory& directory, std::span<const TextInput> inputs,
                                         const FillOptions& options = {});

struct EmbeddingOptions {
  EncodingRules rules;
  std::optional<Pooling> pooling = Pooling::kMean;  // none: a vector for each token
  bool normalizes = false;
  int64_t layer = -1;  // 0 .. N, or from the end
};

// Throws kInput for a layer that the model has not.
DEBERTA_API std::vector<EmbeddingAnswer> embed(const ModelDirectory& directory, std::span<const TextInput> inputs,
                                               const EmbeddingOptions& options = {});

// Throws kTask when the checkpoint has no head for replaced tokens.
DEBERTA_API std::vector<ReplacedAnswer> detect(const ModelDirectory& directory, std::span<const TextInput> inputs,
                                               const EncodingRules& rules = {});

}  // namespace deberta
