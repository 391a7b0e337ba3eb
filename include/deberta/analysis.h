// A look inside the model, as plain arrays: the attention terms for the tokens of a text, what the mask decoder does
// with masks, a text through generator and discriminator, the rows of the relative table and their vectors.
// A layer has a number, from 1 (0 are the embeddings), and so has a pass of the mask decoder; a head has an index, from
// 0, into [H, ...].
// H heads  K head size  D hidden  L tokens  R rows of the relative table
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "deberta/checkpoint.h"
#include "deberta/config.h"
#include "deberta/error.h"
#include "deberta/model.h"
#include "deberta/tokenizer.h"

namespace deberta {

// One layer, [H, L, L] each: row of the query, column of the key; all times 1 / sqrt(d * n_types). A term that the
// model lacks is empty. `sum_HLL` is c2c + c2p + p2c, added in this order in single precision.
struct LayerTerms {
  int32_t layer = 0;  // number: 1 .. num_hidden_layers
  std::vector<float> c2c_HLL, c2p_HLL, p2c_HLL, sum_HLL;
  std::vector<float> softmax_HLL;  // the weights of the values
};

struct AttentionTerms {
  size_t heads = 0;
  size_t tokens = 0;
  std::vector<LayerTerms> layers;
};

// The scores of one encoded text, computed by the model's own forward pass with the reference kernel. `layers`:
// numbers, ascending; empty: all. Needs 20 H L^2 bytes per layer. Throws kInput for a layer that the model does not
// have, and whatever Model::forward throws.
DEBERTA_API AttentionTerms attention_terms(const Model& model, const Encoding& encoding,
                                           const std::vector<int32_t>& layers = {});

// The quantiles 0, 1/4, 1/2, 3/4 and 1, between two values in proportion.
struct Quantiles {
  double low = 0, lower = 0, median = 0, upper = 0, high = 0;
};

// How the scores of a head spread over all pairs of query and key; none for a term that the model lacks.
struct HeadQuantiles {
  int32_t layer = 0;  // number, as in LayerTerms
  size_t head = 0;    // index: 0 .. heads - 1
  Quantiles c2c;
  std::optional<Quantiles> c2p, p2c;
  Quantiles sum;
};

// In order of layers and heads.
DEBERTA_API std::vector<HeadQuantiles> term_quantiles(const AttentionTerms& terms);

// ---- the enhanced mask decoder (model.md#mask-decoder)

// As attention_terms(), of each pass of the mask decoder: `layer` is the pass, from 1. Queries are the query states of
// all tokens, keys and values the hidden states h_{N-1}. Throws kTask for a model without a mask decoder.
DEBERTA_API AttentionTerms decoder_terms(const Model& model, const Encoding& encoding);

// What the masks of a text become in one way to predict them.
struct MaskPredictions {
  std::vector<float> logits_MV;  // [masks, vocabulary]
  double hidden_change = 0;      // largest difference of any hidden state, of all layers, from that of `with`
};

// What the mask decoder and the absolute positions that it adds do to the predictions of a text's masks.
struct DecoderEffect {
  std::vector<size_t> masks;               // tokens
  MaskPredictions with;                    // by the mask decoder
  MaskPredictions without;                 // by the plain head on the last layer
  MaskPredictions shifted;                 // every absolute position is higher by `shift`
  std::optional<MaskPredictions> swapped;  // the first and the last mask have each other's positions; none: one mask
};

// `mask`: the id of the mask token. Throws kTask for a model without a mask decoder, kInput for a text without a mask
// or a shift beyond the table, and whatever Model::forward throws.
DEBERTA_API DecoderEffect decoder_effect(const Model& model, const Encoding& encoding, int32_t mask, int32_t shift = 1);

// Words at the masks of a text, and the natural logarithm of their probability with the mask decoder and without. The
// probability of a word is that of its pieces from left to right, each predicted with itself and those to its right
// masked, and all else, the other words too, in its place.
struct WordFilling {
  std::vector<std::string> words;
  double with = 0;
  double without = 0;
};

struct WordFillingOptions {
  EncodeOptions encode = {};
  size_t most_tokens = SIZE_MAX;  // in all copies of the text, of which there is one for each piece of each word
};

// Each way to put different ones of the words at the masks, in the order of the words. `text` has the mask as it is
// written ([MASK]). Throws kTask for a model without a mask decoder, kInput for a text without a mask, for fewer words
// than masks, for more than 120 ways, for more than most_tokens and for a word without a piece of its own, and whatever
// Model::forward throws.
DEBERTA_API std::vector<WordFilling> word_fillings(const Model& model, const Tokenizer& tokenizer,
                                                   std::string_view text, const std::vector<std::string>& words,
                                                   const WordFillingOptions& options = {});

// ---- replaced-token detection (He et al. 2023, section 2.2)

// One token on its way through generator and discriminator.
struct ReplacedStep {
  int32_t token = 0;  // of the text
  bool is_masked = false;
  int32_t drawn = 0;                // what the generator put in the mask's place; the token itself where none was
  double drawn_probability = 0;     // of `drawn`, by the generator; 0 where the token was not masked
  bool is_replaced = false;         // the label: a draw that is right counts as the original
  double replaced_probability = 0;  // what the discriminator says
  double generator_loss = 0;        // cross-entropy of the token; 0 where it was not masked
  double discriminator_loss = 0;    // binary cross-entropy of the label
};

struct ReplacedWalk {
  std::vector<ReplacedStep> steps;  // of every token, the special ones too
  size_t masked = 0;                // tokens that give the generator a loss; all of them give the discriminator one
  double generator_loss = 0;        // means
  double discriminator_loss = 0;
};

// Which tokens are masked, and what is drawn, are functions of these alone.
struct ReplacedWalkOptions {
  double share = 0.15;  // of the pieces; at least one is masked
  uint64_t seed = 0;
  uint64_t number = 0;  // of the text
};

// Both models read pieces of `tokenizer`, without dropout. Throws kTask for a generator that is no masked language
// model and for a discriminator without a head for replaced tokens, kInput for a tokenizer without a mask, and whatever
// Model::forward throws.
DEBERTA_API ReplacedWalk replaced_walk(const Model& generator, const Model& discriminator, const Tokenizer& tokenizer,
                                       const Encoding& encoding, const ReplacedWalkOptions& options = {});

// ---- relative positions

// The row of the relative table (0 .. 2 span() - 1) for each distance query - key from -(length - 1) to length - 1.
// Throws kInput without relative attention or for a length outside 1 .. 2^20, kUnsupported for a table whose formula
// is undefined.
DEBERTA_API std::vector<int32_t> relative_position_rows(const ModelConfig& config, int64_t length,
                                                        DistanceRule rule = DistanceRule::kOriginal);

// The row for each query and key of a text of `length` tokens: [L, L], row of the query, column of the key. Throws as
// relative_position_rows(), and kInput for a length outside 1 .. 2048.
DEBERTA_API std::vector<int32_t> relative_index(const ModelConfig& config, int64_t length,
                                                DistanceRule rule = DistanceRule::kOriginal);

// ---- the vectors of the relative table (model.md#disentangled-attention), read from the weights

enum class PositionVectors {
  kRaw,      // P, as the weights have it
  kNormed,   // P' = LN(P), which the layers project; P itself in a model without that norm
  kKeys,     // Kr of a layer, which c2p reads
  kQueries,  // Qr of a layer, which p2c reads
};

struct PositionChoice {
  PositionVectors vectors = PositionVectors::kNormed;
  int32_t layer = 1;                // number, of kKeys and kQueries: 1 .. num_hidden_layers
  std::optional<size_t> head = {};  // index, likewise: 0 .. heads - 1; none: all heads side by side
};

// A vector in each row: [rows, columns].
struct VectorRows {
  size_t rows = 0;
  size_t columns = 0;
  std::vector<float> values;
};

// [R, D], or [R, K] of one head. `config` is that of the weights. Throws kInput for a model without relative attention
// or without the term that reads such vectors, and for a layer or a head that it does not have; kTensors for weights of
// another form.
DEBERTA_API VectorRows position_vectors(const Checkpoint& checkpoint, const ModelConfig& config,
                                        const PositionChoice& choice);

// The cosine of each vector with each: [rows, rows]. 0 with a vector of zeros.
DEBERTA_API std::vector<float> cosines(const VectorRows& vectors);

// The rows of two tables against each other.
struct TableAngles {
  std::string first, second;  // word, absolute, relative, relative_normed
  size_t first_rows = 0, second_rows = 0;
  double mean_cosine = 0;                  // of its absolute value, over all pairs of rows
  double largest_cosine = 0;               // likewise
  double random = 0;                       // what the mean is for directions drawn at random: sqrt(2 / (pi D))
  double first_norm = 0, second_norm = 0;  // mean lengths of the rows
};

// For each pair of the tables of words, of absolute and of relative positions that the weights have with rows of one
// width. Rows of zeros have no direction and are left out, as are the relative rows that no distance has; of more than
// 16384 words every nth is read. Throws kInput where there is no such pair, kTensors for weights of another form.
DEBERTA_API std::vector<TableAngles> table_angles(const Checkpoint& checkpoint, const ModelConfig& config);

// What a token's query gives to every row of the table, whether or not a distance of the text has it: q . Kr[row] times
// 1 / sqrt(d * n_types), [R]. At row(i - j) it is c2p[i, j] of attention_terms(). `choice.vectors` is not read; without
// a head it is the mean of the layer's heads. Throws as position_vectors() for kKeys, kInput for a token that the text
// does not have, and whatever Model::forward throws.
DEBERTA_API std::vector<float> position_scores(const Model& model, const Checkpoint& checkpoint,
                                               const Encoding& encoding, size_t token, const PositionChoice& choice);

}  // namespace deberta
