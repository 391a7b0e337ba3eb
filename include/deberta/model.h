// The inference model: weights packed for the chosen kernels, relative tables projected once, forward over a pack.
// B sequences  T packed tokens  L length of one sequence  H heads  K head size  D hidden  V vocabulary  C classes
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "deberta/checkpoint.h"
#include "deberta/config.h"
#include "deberta/error.h"
#include "deberta/head.h"
#include "deberta/precision.h"
#include "deberta/tokenizer.h"

namespace deberta {

// Packed sequences, the only form of input: T tokens of B sequences, one after another, without padding. Row t
// belongs to sequence b when starts[b] <= t < starts[b + 1].
struct Batch {
  std::vector<int32_t> ids_T;
  std::vector<int32_t> starts;          // cu_seqlens [B + 1], starts[0] = 0
  std::vector<int32_t> type_ids_T;      // empty: all 0
  std::vector<int32_t> position_ids_T;  // rows of the absolute table; empty: 0 .. L-1 in each sequence
  std::vector<uint8_t> mask_T;  // 0: a masked token kept in the pack so that distances stay correct; empty: none
  int32_t longest = 0;          // tokens of the longest sequence

  // 3-D masks [L, L], one for each sequence: bit j % 64 of word i * ceil(L / 64) + j / 64 lets query i see key j. An
  // empty mask allows all; no masks: an empty vector. mask_T applies as well. A token that no query sees is masked as
  // an input (its embedding is zero), but remains a query.
  std::vector<std::vector<uint64_t>> masks_B;
  // Relative positions given instead of i - j: bucket numbers [given_length, given_length] of query i and key j, one
  // matrix for all sequences, at least as long as the longest. Empty: from the distances.
  std::vector<int32_t> given_buckets_LL;
  int32_t given_length = 0;

  size_t tokens() const { return ids_T.size(); }
  size_t sequences() const { return starts.empty() ? 0 : starts.size() - 1; }

  // Appends one sequence without masked tokens. Throws kInput when type_ids is neither empty nor as long as ids.
  DEBERTA_API void add(std::span<const int32_t> ids, std::span<const int32_t> type_ids = {});
};

// Padded rows [B, L], the form that model inputs usually have. mask 0 at the ends is padding and is left out; a 0
// between two tokens is a hole and stays as a masked key. rows[t] = b * L + l of each packed row. A wholly masked row
// becomes a sequence of length 0. With a 3-D mask nothing is left out, and with given relative positions nothing before
// the last unmasked token, so that rows of the matrices still match the tokens.
struct PackedRows {
  Batch batch;
  std::vector<int32_t> rows_T;
};
struct PaddedInput {
  size_t sequences = 0;
  size_t length = 0;
  std::span<const int32_t> ids_BL;
  std::span<const uint8_t> mask_BL = {};          // empty: all 1
  std::span<const int32_t> type_ids_BL = {};      // empty: all 0
  std::span<const int32_t> position_ids_BL = {};  // empty: 0 .. L-1
  std::span<const uint8_t> mask_BLL = {};         // 3-D: row of the query, column of the key; instead of mask_BL
  std::span<const int32_t> buckets_LL = {};       // relative positions given, for all sequences
  bool keeps_padding = false;                     // nothing is left out: padding stays as masked tokens
};
DEBERTA_API PackedRows pack(const PaddedInput& input);

// The enhanced mask decoder of a masked language model (model.md#mask-decoder).
enum class MaskDecoder {
  kAuto,  // when the checkpoint has its position table and position_biased_input is false
  kOn,    // kUnsupported with the reason when it cannot run
  kOff,   // the plain head on h_N, as transformers computes it
};

// What a token without any allowed key attends to: padding and masked tokens, whose rows no other row reads.
enum class EmptyRows {
  kZero,     // nothing, as the original computes it
  kAverage,  // the mean of all values of its sequence, as transformers computes it since 4.47
};

struct ModelOptions {
  Precision precision = Precision::kFp32;
  Device device = Device::kCpu;      // throws kUnsupported for one that this build has no kernels for
  bool allows_uncalibrated = false;  // int8 without calibrated activations is a warning instead of an error
  size_t threads = 0;                // 0: usable_processors()
  std::string kernels = "auto";      // "reference", "check" or an instruction set; throws kKernels, listing them
  DistanceRule distance = DistanceRule::kOriginal;  // of a GLiNER model always kHf, with which it was trained
  MaskDecoder mask_decoder = MaskDecoder::kAuto;
  EmptyRows empty_rows = EmptyRows::kZero;
  TokenizerKind tokenizer = TokenizerKind::kSlow;     // for model directories; the model itself does not use it
  ConfigRules config_rules = ConfigRules::kOriginal;  // for open_pipeline(), which reads the file
  // Processes of one user that load the same model in the same way hold its packed weights once, in a file of /dev/shm,
  // else of TMPDIR; where neither takes it, each holds its own.
  bool shares_weights = false;
};

// Packed rows of one sequence that a head reads together. The original token head takes the pieces of a mention
// (ReCoRD), any number of them; without any its logits are -10000.
struct TokenGroup {
  int32_t sequence = 0;
  std::vector<int32_t> rows;
};

// What a head of entities reads of one sequence: its packed rows of the labels and of the pieces of the words.
struct LabelledWords {
  std::vector<int32_t> labels;       // the row whose state is the label's
  std::vector<int32_t> pieces;       // of all words, one word after the other
  std::vector<int32_t> word_starts;  // [W + 1], where each word begins in `pieces`; of no piece, its state is zero
  size_t words() const { return word_starts.empty() ? 0 : word_starts.size() - 1; }
};

struct ForwardOptions {
  std::vector<int32_t> layers;  // hidden states to keep: 0 (embeddings) .. num_hidden_layers, ascending
  bool wants_logits = true;
  bool skips_mask_decoder = false;  // the logits of a model that was loaded with MaskDecoder::kOff
  std::vector<int32_t> rows;        // heads on tokens: the packed rows (ascending) to give logits for; empty: all rows
  std::vector<TokenGroup> groups;   // heads that take groups, in place of rows: a row of logits for each
  // Heads of entities: one for each sequence; empty: no logits. A span of words, of at most max_width, has a number for
  // each label: spans by their first word, then by their length. A word has three for each label: an entity begins
  // there, ends there, goes on there.
  std::vector<LabelledWords> entities;
  bool wants_scores = false;  // per-term attention scores of every layer (reference path)
  // The same of each pass of the mask decoder, with the states of all tokens as queries: wants logits, and of all rows.
  bool wants_decoder_scores = false;
};

// Scores of one layer and one sequence, [H, L, L] each; empty when the model lacks the term. c2c + c2p + p2c = sum,
// all times 1 / sqrt(d * n_types). Masked entries of `probabilities_HLL` are 0; the terms are given unmasked.
struct AttentionScores {
  int32_t layer = 0;  // number: 1 .. num_hidden_layers, as in ForwardOptions::layers; or of the decoder's pass, from 1
  int32_t sequence = 0;
  std::vector<float> c2c_HLL, c2p_HLL, p2c_HLL, probabilities_HLL;
};

struct Hidden {
  int32_t layer = 0;  // number: 0 (embeddings) .. num_hidden_layers
  std::vector<float> rows_TD;
};

struct ForwardResult {
  std::vector<Hidden> hidden;    // as ForwardOptions::layers
  std::vector<float> pooled_BD;  // heads with a pooler
  // [B, C] sequence heads; [rows, C] token heads, or [groups, C]; [rows, V] language model; of entities the sequences
  // one behind the other, [spans * labels, 1] or [words * labels, 3] each
  std::vector<float> logits;
  size_t logits_rows = 0;
  size_t logits_columns = 0;
  std::vector<AttentionScores> scores;
  std::vector<AttentionScores> decoder_scores;  // as ForwardOptions::wants_decoder_scores
};

// Immutable after loading; forward() may be called from several threads (they take turns on the pool).
class DEBERTA_API Model {
 public:
  // Checks every tensor against the table first. Throws kTensors (all problems), kUnsupported, kUncalibrated, kKernels,
  // kOutOfMemory.
  // The checkpoint's files stay mapped as long as the model lives.
  static Model load(const Checkpoint& checkpoint, const ModelConfig& config, const ModelOptions& options = {});
  ~Model();
  Model(Model&&) noexcept;
  Model& operator=(Model&&) noexcept;

  // Throws kTokenId (id outside the vocabulary), kInput (a malformed batch, a row out of range, rows or groups for a
  // head that takes none, more tokens in a sequence than the absolute table has rows when the embeddings or the mask
  // decoder read it, scores of a mask decoder that does not run for all rows), kNotFinite.
  // Overwrites `result` but reuses its memory: a call no larger than earlier ones allocates nothing (except for scores,
  // groups and entities).
  void forward(const Batch& batch, const ForwardOptions& options, ForwardResult& result) const;

  const ModelConfig& config() const;  // as given; the layout from the tensors when model_type is missing
  Head head() const;
  bool has_mask_decoder() const;  // logits come from it
  int64_t labels() const;         // classes C of the head, 0 without one
  uint64_t memory_bytes() const;  // packed weights and tables
  // With the kernels "check": a line for each operation compared so far, with the worst difference and where. Else
  // empty.
  std::string check_report() const;

  struct State;  // what a model holds, for the engine alone

 private:
  explicit Model(State* state);
  // An owned pointer: <memory> would double the compile time of this header.
  State* state_;
};

}  // namespace deberta
