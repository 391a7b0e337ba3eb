// Language modelling and replaced-token detection from text files: a model folder, or one for each of two models, from
// corpora, a tokenizer and options.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "train/data/batches.h"
#include "train/data/token_cache.h"
#include "train/pretrain/new_model.h"
#include "train/step/pair_trainer.h"
#include "train/run/rate_search.h"
#include "train/run/run.h"
#include "train/step/run_tokenizer.h"
#include "train/step/workplace.h"

namespace deberta::train {

enum class Objective { kMasked, kCausal, kReplaced };

// Of Objective::kReplaced. The run's model is the discriminator.
struct ReplacedTokenSettings {
  PairOptions pair = {};
  double discriminator_rate = 0;         // highest, of its own optimiser; 0: the generator's
  std::string generator_folder = {};     // weights of the generator to begin with; empty: as the next two say
  bool is_generator_copied = false;      // from the discriminator: its tables, some of its layers, and a new head
  int64_t generator_layers = 0;          // 0: half of the discriminator's
  int64_t steps_of_generator_alone = 0;  // the first ones
};

// One of the corpora.
struct CorpusPaths {
  std::vector<std::string> paths;  // find_corpus_files()
  double weight = 1;
};

// How long a run is: one of the three.
struct RunLength {
  std::optional<int64_t> steps;
  std::optional<int64_t> tokens;
  std::optional<double> epochs;
};

struct PretrainSettings {
  RunSettings run = {};
  std::vector<CorpusPaths> corpora = {};
  CorpusOptions corpus = {.drops_markers = true, .holds_out_every = 50};
  DocumentBoundary boundary = DocumentBoundary::kNone;
  std::string cache_folder = {};

  std::string tokenizer_folder = {};
  std::vector<std::string> added_tokens = {};
  std::string model_folder = {};  // weights to begin with; empty: new ones of new_model
  // Of model_folder all but what follows the vocabulary is kept, and rows of its pieces.
  bool has_new_embeddings = false;
  NewModel new_model = {};
  std::optional<int64_t> decoder_passes = std::nullopt;  // of the mask decoder; none: as config.json says, else 2
  Objective objective = Objective::kMasked;
  ReplacedTokenSettings replaced_tokens = {};

  RunLength length = {};
  size_t max_tokens = 128;         // of a sequence
  size_t long_tokens = 0;          // of a sequence in the last steps; 0: as before
  double long_share = 0.15;        // of the steps
  double short_share = 0;          // of the samples: cut into shorter sequences (BatchOptions)
  size_t sequences_per_step = 64;  // of max_tokens each
  size_t accumulation = 1;         // micro-batches of a step
  MaskOptions masks = {};
  double source_exponent = 1;

  OptimizerOptions optimizer = {};
  double learning_rate = 5e-4;

  WorkplaceSettings workplace = {};
  size_t prefetch = 4;
  size_t eval_lines = 500;  // held out, at most, of each corpus in an evaluation during the run; 0: all

  RunTokenizer tokenizer() const { return {tokenizer_folder, added_tokens}; }
  bool changes_vocabulary() const { return has_new_embeddings || !added_tokens.empty(); }
};

// Throws what run() and the parts do.
RunResult pretrain(const PretrainSettings& settings, const RunHooks& hooks);

// Steps at many learning rates, of which nothing is kept; nothing once stopped.
std::optional<RateSearch> search_rates(const PretrainSettings& settings, const RunHooks& hooks);

// The fewest micro-batches of a step, at least settings.accumulation, that memory has room for; nothing once stopped.
std::optional<size_t> find_accumulation(const PretrainSettings& settings, const RunHooks& hooks);

// What a run reads of one corpus.
struct CorpusPart {
  double share = 0;  // of the samples
  uint64_t tokens = 0, documents = 0;
};

// What the first step would train on, without training.
struct DryRun {
  int64_t total_steps = 0;
  std::vector<CorpusPart> corpora = {};
  MaskOptions masks = {};  // as the objective has them
  int64_t parameters = 0;
  std::vector<std::string> notes = {};   // of the vocabulary and the weights
  std::vector<TrainBatch> batches = {};  // of the first step
};
std::optional<DryRun> dry_run(const PretrainSettings& settings, const RunHooks& hooks);  // nothing once stopped

}  // namespace deberta::train
