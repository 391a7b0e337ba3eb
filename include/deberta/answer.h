// What a user reads: one answer struct per task, and the options that decide how it follows from the logits.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "deberta/config.h"
#include "deberta/tokenizer.h"

namespace deberta {

enum class ScoreFunction { kSoftmax, kSigmoid, kNone, kTanh };

struct LabelScore {
  std::string label;
  float score = 0;
};

// A part of a long text, read by itself.
struct WindowAnswer {
  Offset chars, bytes;             // in the text
  std::vector<LabelScore> labels;  // best first
};

struct SequenceAnswer {
  std::vector<LabelScore> labels;  // best first; all scores of a regression model as it has them
  std::vector<float> scores;       // one for each class, in the model's order
  size_t tokens = 0;
  size_t cut_tokens = 0;
  std::vector<WindowAnswer> windows = {};  // WindowScores::kEach only
};

// Scores of the model's relations by name, in this order: entailment, neutral, contradiction; for a model with two
// labels: entailment, not_entailment.
struct EntailmentAnswer {
  std::string label;  // the most likely relation
  std::vector<LabelScore> relations;
  size_t tokens = 0;
  size_t cut_tokens = 0;
};

// Covers at least one character: a piece that stands for none (a bare word start) is part of the next one. kNone: every
// piece is an answer of its own, whatever it covers.
struct Entity {
  std::string label;       // kNone: as the model names it ("B-PER"); else without the prefix of its tag
  float score = 0;         // kNone: of the piece; else the mean over the pieces or words; of extract(): its probability
  size_t first_token = 0;  // index in the encoding; of extract(): number of the word
  size_t last_token = 0;
  Offset chars;  // in the text
  Offset bytes;
};

struct EntityRules {
  std::optional<Aggregation> aggregation;    // none: as the model's configuration says, else kFirst
  std::vector<std::string> ignored = {"O"};  // labels left out of the answer; O is the tag, not a kind of that name
};

struct TokenAnswer {
  std::vector<Entity> entities;  // in the whole text, even if it was read in windows
  size_t tokens = 0;
  size_t cut_tokens = 0;
};

struct FilledToken {
  int32_t token = 0;
  std::string piece;      // as in the vocabulary, with its word-start mark
  std::string token_str;  // as text
  float score = 0;
  float logit = 0;
  std::string sequence;  // the text with this mask filled, and the others as they are
};

struct FillAnswer {
  struct Mask {
    size_t position = 0;  // index of the token
    std::vector<FilledToken> tokens;
  };
  std::vector<Mask> masks;
  size_t tokens = 0;
  size_t cut_tokens = 0;
};

// kMeanSqrt: the sum divided by the square root of the number of tokens. kWeightedMean: the mean with the weights 1, 2,
// 3, ... kLast: the last token, which is the separator.
enum class Pooling { kCls, kMean, kMax, kMeanSqrt, kWeightedMean, kLast };

struct EmbeddingAnswer {
  std::vector<float> vectors;  // [D], or [L, D] without pooling, the special tokens among them; D: embedding_columns()
  size_t tokens = 0;
  size_t cut_tokens = 0;
};

struct SimilarityAnswer {
  std::vector<float> cosines;  // -1 .. 1; 0 with a vector of zeros
  size_t tokens = 0;
  size_t cut_tokens = 0;
};

struct ReplacedToken {
  int32_t token = 0;
  std::string piece;
  Offset chars;
  Offset bytes;
  float logit = 0;
  float score = 0;  // sigmoid of the logit
};

struct ReplacedAnswer {
  std::vector<ReplacedToken> pieces;  // without the special tokens of the template
  size_t tokens = 0;
  size_t cut_tokens = 0;
};

// Candidate labels of a text, by entailment.
struct ZeroShotAnswer {
  std::vector<LabelScore> labels;  // best first
  std::vector<float> scores;       // in the order of the candidates
  size_t tokens = 0;
  size_t cut_tokens = 0;
};

struct RankedDocument {
  size_t index = 0;  // in the input
  float score = 0;
  float logit = 0;
  size_t cut_tokens = 0;  // cut from the query and this document
};

struct RankAnswer {
  std::vector<RankedDocument> documents;  // best first, ties in the order of the input
  size_t tokens = 0;
  size_t cut_tokens = 0;
};

struct ChoiceAnswer {
  size_t index = 0;           // the most likely choice
  std::vector<float> scores;  // probability of each choice, in the order of the input
  std::vector<float> logits;
  size_t tokens = 0;
  size_t cut_tokens = 0;
};

// A span of the context that answers the question.
struct SpanAnswer {
  std::string text;  // empty: the context has no answer
  float score = 0;   // probability
  float logit = 0;   // start plus end
  Offset chars;      // in the context
  Offset bytes;
};

struct QuestionAnswer {
  std::vector<SpanAnswer> answers;  // best first
  float null_score = 0;             // score of "no answer", whether or not it was allowed
  float null_logit = 0;
  size_t windows = 0;
  size_t tokens = 0;
  size_t cut_tokens = 0;  // cut from the question: a context is never cut
};

// The pseudo-likelihood of a text under a masked language model: each token masked in turn, all others visible.
struct TextScoreAnswer {
  struct Token {
    int32_t token = 0;
    Offset chars;
    Offset bytes;
    float log_probability = 0;  // natural logarithm
  };
  std::vector<Token> pieces;   // without the special tokens of the template
  double log_probability = 0;  // sum over the pieces (pseudo-log-likelihood)
  double perplexity = 0;       // exp of minus the mean over the pieces
  double word_perplexity = 0;  // the same over white-space-separated words
  size_t tokens = 0;
  size_t cut_tokens = 0;
};

}  // namespace deberta
