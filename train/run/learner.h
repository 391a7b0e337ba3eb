// What a run trains: models with their optimisers and their data. The run (run.h) drives it, and knows no models.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/manifest_writer.h"
#include "deberta/checkpoint.h"
#include "train/run/hooks.h"
#include "train/run/sums.h"

namespace deberta::train {

// Thrown through Learner::step(), which then has moved no weight and added to no sum.
struct StepLeft {};

struct StepRequest {
  int64_t step = 0;                          // counts from 0
  double factor = 1;                         // each learning rate is its highest times this; from the schedule
  double max_norm = 1;                       // 0: no clip
  std::function<void()> check_stop = [] {};  // called between micro-batches; throws StepLeft
};

struct StepReport {
  bool is_finite = true;  // false: some weights stayed as they were
  int64_t samples = 0, tokens = 0;
};

// Which rows an evaluation reads.
enum class EvaluationPart {
  kSome,  // during the run
  kAll,   // at its end
};

class Learner {
 public:
  virtual ~Learner() = default;

  virtual int64_t total_steps() const = 0;
  // Steps between two evaluations where the run does not set them; 0: one at the end.
  virtual int64_t evaluation_steps() const { return 0; }
  // Hashes of the data and the models that a run which goes on must share with the one before, by name.
  virtual std::map<std::string, std::string> hashes() = 0;
  // What it reads, for the reports.
  virtual Details details() const { return {}; }

  // What guessing without having learnt anything would cost, in the unit of the metric "loss"; none: not known.
  virtual std::optional<double> guess_loss() const { return std::nullopt; }

  // Steps follow, from this one on.
  virtual void begin(int64_t step) = 0;
  virtual StepReport step(const StepRequest& request, Sums& sums) = 0;
  // A line of the log, from the sums since the last one.
  virtual Metrics metrics(const Sums& sums) const = 0;
  // Names begin with "eval_", the first one's is the main one's. Empty: stopped, or nothing to evaluate on. `hooks`:
  // polled, also by threads of its own.
  virtual Metrics evaluate(EvaluationPart part, const RunHooks& hooks) = 0;

  // What checkpoints hold, and back. Throws what the writers and readers of the files throw.
  virtual std::vector<TensorView> optimizer_tensors() = 0;
  virtual void add_models(ManifestWriter& files) = 0;
  virtual uint64_t models_bytes() = 0;  // about as many as add_models() writes
  virtual void load(const std::string& checkpoint) = 0;
  // The models as a user of the run wants them, into a folder that has other files.
  virtual void write_models(const std::string& folder) = 0;
  // Exchanges the weights and their averages, for evaluations and results; without averages nothing happens.
  virtual void exchange_averages() = 0;
  // What the reports show of the models besides, into the same folder.
  virtual void write_answers(const std::string& /*folder*/, const RunHooks& /*hooks*/) {}
};

}  // namespace deberta::train
