// Floating-point operations of a pass, by its shapes alone (README.md has what is counted). A multiplication and its
// addition are two.
// T tokens  N rows  D hidden  F feed-forward  E embedding size  V vocabulary  C classes  R rows of the relative table
#pragma once
#include <cstdint>
#include <span>

#include "deberta/config.h"
#include "deberta/head.h"

namespace deberta {

// The rows for which the last layer computes more than keys and values: those that the head reads.
enum class LastRows { kEvery, kFirstOfEach, kSome };

struct PassShape {
  std::span<const int32_t> lengths = {};  // tokens of each sequence, 1 or more
  LastRows last = LastRows::kEvery;
  double some = 0;  // kSome: their number in all sequences; spread evenly over the tokens
  Head head = Head::kNone;
  int64_t labels = 0;                // C, of heads with classes
  bool predicts_by_decoder = false;  // the last layer runs as the passes of the mask decoder
};

// The rows of a head without requested rows: a head of sequences reads the first tokens, or pools all of them.
LastRows last_rows_of(const ModelConfig& config, Head head);

struct Operations {
  double embedding = 0;  // [D, E], where E is not D
  double query = 0, key_value = 0, attention_output = 0, up = 0, down = 0;
  double convolution = 0;
  double attention = 0;
  double head = 0;

  double layers() const { return query + key_value + attention_output + up + down; }  // products of the layers
  double all() const { return embedding + layers() + convolution + attention + head; }
};

Operations forward_operations(const ModelConfig& config, const PassShape& shape);

// Those of the relative table through the projections of every layer, for its R rows that sequences of up to `longest`
// tokens reach: at load, or in each step of training.
double table_operations(const ModelConfig& config, int64_t longest);

// Elements of those tables as a loaded model keeps them, with all rows of the file.
uint64_t table_elements(const ModelConfig& config);

// Gradients: each product once more for either operand, and so attention.
constexpr double kTrainingPasses = 3;

// Weights of the layers' products: what any pass reads at least once.
double layer_weights(const ModelConfig& config);

// The length at which attention takes as much work as the layers' products, while each distance has a row of its own.
// The work of a sequence of n tokens is then proportional to n (1 + n / even_length()).
double even_length(const ModelConfig& config);

}  // namespace deberta
