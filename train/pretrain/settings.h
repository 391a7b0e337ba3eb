// The settings of pre-training, divided by who reads them: a function of this room takes the part that it needs. Only
// what puts the parts together takes the whole: the learners and the stream of batches.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "data/corpus.h"
#include "train/data/masking.h"
#include "train/data/runs.h"
#include "train/pretrain/new_model.h"
#include "train/run/run.h"
#include "train/step/pair_trainer.h"
#include "train/step/run_tokenizer.h"
#include "train/step/workplace.h"

namespace deberta::train {

enum class Objective { kMasked, kCausal, kReplaced };

// The texts of a run and where their tokens are kept: open_corpora(), and the evaluation on what they hold out.
struct CorpusPaths {
  std::vector<std::string> paths;  // find_corpus_files()
  double weight = 1;               // weight of its samples among those of all corpora
};
struct CorpusSettings {
  std::vector<CorpusPaths> corpora = {};
  CorpusOptions options = {.drops_markers = true, .holds_out_every = 50};
  std::string cache_folder = {};
  size_t eval_lines = 500;  // held out, at most, of each corpus in an evaluation during the run; 0: all
};

// How long a run is: one of the three.
struct RunLength {
  std::optional<int64_t> steps;
  std::optional<int64_t> tokens;
  std::optional<double> epochs;
};

// The tokens of the corpora as steps of the run: BatchStream.
struct BatchSettings {
  DocumentBoundary boundary = DocumentBoundary::kNone;
  RunLength length = {};
  size_t max_tokens = 128;         // in a sequence
  size_t long_tokens = 0;          // in a sequence of the last steps; 0: as before
  double long_share = 0.15;        // share of the steps that are the last ones
  double short_share = 0;          // share of the samples that are cut into shorter sequences (BatchOptions)
  size_t sequences_per_step = 64;  // with max_tokens each
  size_t accumulation = 1;         // micro-batches of a step
  MaskOptions masks = {};          // before masks_of()
  double source_exponent = 1;
  size_t prefetch = 4;  // steps that are made ahead of their use

  size_t longest() const { return std::max(max_tokens, long_tokens); }  // sequence, in tokens
};

// The model that a run begins with, and what it is trained for: first_model().
struct ModelStart {
  std::string tokenizer_folder = {};
  std::vector<std::string> added_tokens = {};
  std::string model_folder = {};  // weights to begin with; empty: new ones of new_model
  // All of model_folder is kept but what follows the vocabulary, of which rows are kept by their pieces.
  bool has_new_embeddings = false;
  NewModel new_model = {};
  std::optional<int64_t> decoder_passes = std::nullopt;  // of the mask decoder; none: as config.json sets it, else 2
  Objective objective = Objective::kMasked;

  RunTokenizer tokenizer() const { return {tokenizer_folder, added_tokens}; }
  bool changes_vocabulary() const { return has_new_embeddings || !added_tokens.empty(); }
};

// Objective::kReplaced: the generator beside the run's model, which is the discriminator, and how both are trained.
// first_pair() and the learner of pairs read it.
struct PairSettings {
  PairOptions options = {};
  double discriminator_rate = 0;      // highest, of its own optimiser; 0: the generator's
  std::string generator_folder = {};  // weights of the generator to begin with; empty: as the next two set it
  bool is_generator_copied = false;  // the generator has the discriminator's tables, some of its layers, and a new head
  int64_t generator_layers = 0;      // 0: half of the discriminator's
  int64_t steps_of_generator_alone = 0;  // the first ones
};

struct PretrainSettings {
  RunSettings run = {};
  CorpusSettings corpus = {};
  BatchSettings batches = {};
  ModelStart start = {};
  PairSettings pair = {};
  OptimizerOptions optimizer = {};
  double learning_rate = 5e-4;
  WorkplaceSettings workplace = {};
};

}  // namespace deberta::train
