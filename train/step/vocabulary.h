// Where trained weights meet a tokenizer: whether its pieces are those that the weights were trained with, and which
// row of their tables each piece of a run begins with.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "deberta/config.h"
#include "deberta/tokenizer.h"
#include "train/model/parameters.h"
#include "train/step/run_tokenizer.h"

namespace deberta::train {

struct VocabularyOfRun {
  RunTokenizer tokenizer;
  std::string weights_folder = {};  // has the tokenizer that the weights know
  bool has_new_embeddings = false;  // rows by pieces; else the pieces must be the same
};

// With tables for this many ids, the padding one of the tokenizer where they are new.
ModelConfig with_vocabulary(const ModelConfig& config, const Tokenizer& tokenizer, bool has_new_embeddings);

// For `tokenizer`, that of the run. Throws kTokenId for other pieces than those beside the weights. Weights without a
// tokenizer that can be read here are taken to know its pieces, and `note` gets a line.
WordRows word_rows(const VocabularyOfRun& run, const Tokenizer& tokenizer,
                   const std::function<void(const std::string&)>& note);

// A line for each token that the run adds: its id, and what its row begins as.
std::vector<std::string> describe_added(const RunTokenizer& run, const Tokenizer& tokenizer, const WordRows& rows);

// Throws kTokenId where the tokenizer in a checkpoint of the run has other pieces.
void check_pieces_of_checkpoint(const std::string& checkpoint, const RunTokenizer& run);
// The same of a model that teaches the one of the run.
void check_pieces_of_teacher(const std::string& teacher, const RunTokenizer& run);

}  // namespace deberta::train
