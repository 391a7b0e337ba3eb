// Language modelling from text files: a model folder from corpora, a tokenizer and options. Whatever happens to the
// process, the folder holds checkpoints from which the same run goes on, with the same bits.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "train/data/batches.h"
#include "train/data/token_cache.h"
#include "train/loop/hooks.h"
#include "train/loop/new_model.h"
#include "train/optim/adam.h"
#include "train/optim/schedules.h"

namespace deberta::train {

enum class Objective { kMasked, kCausal };

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
  std::string output;
  std::vector<CorpusPaths> corpora;
  CorpusOptions corpus = {.drops_markers = true, .holds_out_every = 50};
  DocumentBoundary boundary = DocumentBoundary::kNone;
  std::string cache_folder = {};

  std::string tokenizer_folder = {};
  std::string model_folder = {};  // weights to begin with; empty: new ones of new_model
  NewModel new_model = {};
  std::optional<int64_t> decoder_passes = std::nullopt;  // of the mask decoder; none: as config.json says, else 2
  Objective objective = Objective::kMasked;

  RunLength length = {};
  size_t max_tokens = 128;         // of a sequence
  size_t long_tokens = 0;          // of a sequence in the last steps; 0: as before
  double long_share = 0.15;        // of the steps
  size_t sequences_per_step = 64;  // of max_tokens each
  size_t accumulation = 1;         // micro-batches of a step
  MaskOptions masks = {};
  double source_exponent = 1;

  AdamOptions adam = {};
  std::string schedule = "warmup_linear";
  ScheduleSettings schedule_settings = {};  // `total` is the run's
  double learning_rate = 5e-4;
  double max_norm = 1;

  uint64_t seed = 1234;
  size_t threads = 0;  // 0: usable_processors()
  std::string kernels = "auto";
  size_t prefetch = 4;

  int64_t logging_steps = 50;
  int64_t save_steps = 500;  // 0: only at the end
  size_t save_total_limit = 2;
  int64_t eval_steps = 0;   // 0: only at the end
  size_t eval_lines = 500;  // held out, at most, of each corpus in an evaluation during the run; 0: all

  bool resumes = true;  // from the newest checkpoint of `output`; false: a folder with one is refused
  // Everything that changes the mathematics, by name, as text: a run that goes on must have the same, or name what it
  // changes.
  std::map<std::string, std::string> options = {};
  std::vector<std::string> overridden = {};
};

struct PretrainResult {
  int64_t steps = 0;  // done, those before a resume too
  int64_t total_steps = 0;
  int64_t tokens = 0;
  bool is_finished = false;  // false: stopped, with a checkpoint
  bool is_degraded = false;  // went on from an older checkpoint than the newest
  double seconds = 0;        // of this process
  Metrics evaluation;        // at the end
};

// Throws kUsage (settings that cannot be, an option that differs from the checkpoint's), kFileWrite (a folder with
// other files), kNotFinite (five steps in a row), and what the parts throw.
PretrainResult pretrain(const PretrainSettings& settings, const RunHooks& hooks);

// What the first step would train on, without training.
struct DryRun {
  int64_t total_steps = 0;
  uint64_t corpus_tokens = 0;
  uint64_t documents = 0;
  int64_t parameters = 0;
  std::vector<TrainBatch> batches = {};  // of the first step
};
std::optional<DryRun> dry_run(const PretrainSettings& settings, const RunHooks& hooks);  // nothing once stopped

}  // namespace deberta::train
