// Trains the generator alone if asked, then both, and writes each to a folder of its own.
#include "train/pretrain/pair_learner.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "base/log.h"
#include "checkpoint/safetensors.h"
#include "checkpoint/tensor.h"
#include "deberta/checkpoint.h"
#include "deberta/error.h"
#include "train/objectives/language_model.h"
#include "train/pretrain/batch_stream.h"
#include "train/pretrain/first_pair.h"
#include "train/pretrain/language_evaluation.h"
#include "train/pretrain/pair_difference.h"
#include "train/pretrain/pair_metrics.h"
#include "train/step/model_files.h"
#include "train/step/step_sums.h"
#include "train/step/vocabulary.h"

namespace deberta::train {
namespace {

constexpr const char* kGenerator = "generator";
constexpr const char* kDiscriminator = "discriminator";
// What the names of an optimiser's tensors begin with.
constexpr const char* kAlone = "generator_alone.";
constexpr const char* kBoth = "both.";

class PairLearner : public Learner {
 public:
  PairLearner(const PretrainSettings& settings, const Workplace& workplace, std::unique_ptr<BatchStream> batches,
              FirstPair models, const RunHooks& hooks);

  int64_t total_steps() const override { return batches_->total_steps(); }
  std::map<std::string, std::string> hashes() override {
    return {{"corpora and tokenizer", batches_->corpora().hash()},
            {"configuration", hash_of_config(discriminator().form.config)},
            {"configuration of the generator", hash_of_config(generator().form.config)}};
  }
  Details details() const override { return details_of(settings_.corpus, batches_->corpora()); }
  void begin(int64_t step) override { batches_->begin(step); }
  StepReport step(const StepRequest& request, Sums& sums) override;
  Metrics metrics(const Sums& sums) const override;
  Metrics evaluate(EvaluationPart part, const RunHooks& hooks) override;

  std::vector<TensorView> optimizer_tensors() override;
  void add_models(ManifestWriter& files) override;
  uint64_t models_bytes() override;
  void load(const std::string& checkpoint) override;
  void write_models(const std::string& folder) override;
  void exchange_averages() override;

 private:
  void begin_pair();
  StepReport step_generator(const StepRequest& request, std::span<const TrainBatch> batches, Sums& sums);
  StepReport step_pair(const StepRequest& request, std::span<const TrainBatch> batches, Sums& sums);
  void load_discriminator(const Checkpoint& files);
  ModelFilesRules generator_files() const;
  ModelFilesRules discriminator_files();
  std::string group_prefix(size_t group) const {
    return options().is_joint ? kBoth : std::string(group == 0 ? kGenerator : kDiscriminator) + ".";
  }

  const PairOptions& options() const { return settings_.pair.options; }
  Model& generator() { return pair_ ? pair_->generator() : alone_->model(); }
  Model& discriminator() { return pair_ ? pair_->discriminator() : waiting_; }
  // The discriminator as others read it.
  Model whole_discriminator() const {
    if (pair_) return pair_->joined_discriminator();
    const bool is_whole = options().sharing == TableSharing::kDisentangled && !has_difference_;
    return is_whole ? waiting_ : join_tables(waiting_, alone_->model(), options().sharing);
  }
  DropoutStream dropout_of(int64_t step) const {
    return {.is_training = true, .seed = settings_.run.seed, .step = static_cast<uint32_t>(step)};
  }

  const PretrainSettings& settings_;
  const Workplace& workplace_;
  const RunHooks& hooks_;
  std::vector<NamedText> tokenizer_files_;
  std::unique_ptr<BatchStream> batches_;
  // In the first steps the generator is trained alone, and the discriminator waits.
  std::optional<Trainer> alone_;
  Model waiting_;
  bool has_difference_ = false;  // the discriminator's model holds that, not tables of its own
  std::optional<PairTrainer> pair_;
  bool is_difference_new_ = false;  // it was made from files, and no step has read it
};

PairLearner::PairLearner(const PretrainSettings& settings, const Workplace& workplace,
                         std::unique_ptr<BatchStream> batches, FirstPair models, const RunHooks& hooks)
    : settings_(settings),
      workplace_(workplace),
      hooks_(hooks),
      tokenizer_files_(settings.start.tokenizer().changed_files()),
      batches_(std::move(batches)),
      alone_(std::in_place, std::move(models.generator), settings.optimizer, workplace.compute),
      waiting_(std::move(models.discriminator)),
      has_difference_(models.has_difference) {
  if (settings_.pair.steps_of_generator_alone == 0) begin_pair();
}

// The discriminator's tables are those that it has waited with, however far the generator's have moved meanwhile.
void PairLearner::begin_pair() {
  if (options().sharing == TableSharing::kDisentangled && !has_difference_) {
    hold_difference(waiting_, alone_->model());
    has_difference_ = is_difference_new_ = true;
  }
  pair_.emplace(alone_->model(), waiting_, options(), settings_.optimizer, workplace_.compute);
  alone_.reset();
  waiting_ = {};
}

StepReport PairLearner::step(const StepRequest& request, Sums& sums) {
  const std::vector<TrainBatch> batches = batches_->next();
  if (!pair_ && request.step >= settings_.pair.steps_of_generator_alone) begin_pair();
  return pair_ ? step_pair(request, batches, sums) : step_generator(request, batches, sums);
}

StepReport PairLearner::step_generator(const StepRequest& request, std::span<const TrainBatch> batches, Sums& sums) {
  std::vector<std::function<Loss()>> losses;
  for (const TrainBatch& batch : batches) {
    losses.push_back([&] {
      request.check_stop();
      return language_model_loss(alone_->model(), workplace_.compute, batch, dropout_of(request.step));
    });
  }
  const double rate = settings_.learning_rate * request.factor;
  const StepResult result = alone_->step(losses, {.rate = rate, .max_norm = request.max_norm});
  add_to_sums(result, rate, sums, kOfGenerator);
  return report_of(result, batches);
}

StepReport PairLearner::step_pair(const StepRequest& request, std::span<const TrainBatch> batches, Sums& sums) {
  const DropoutStream dropout = dropout_of(request.step);
  if (std::exchange(is_difference_new_, false)) {
    const DifferenceEffect effect = effect_of_difference(*pair_, workplace_.compute, batches.front(), dropout);
    effect.helps() ? hooks_.on_note(effect.describe()) : warn(effect.describe());
  }
  const double rate = settings_.learning_rate * request.factor;
  const double own = options().is_joint || settings_.pair.discriminator_rate == 0
                         ? rate
                         : settings_.pair.discriminator_rate * request.factor;
  const PairStep result =
      pair_->step(batches, dropout, {.rate = rate, .discriminator_rate = own, .max_norm = request.max_norm},
                  {.check_stop = request.check_stop});
  add_to_sums(result, rate, own, sums);
  StepReport report = report_of(result.generator, batches);
  report.is_finite = report.is_finite && result.discriminator.is_finite;
  return report;
}

Metrics PairLearner::metrics(const Sums& sums) const {
  Metrics metrics = pair_metrics(sums, options().lambda);
  const Model& generator = pair_ ? pair_->generator() : alone_->model();
  for (auto& metric : table_cosines(whole_discriminator(), generator)) metrics.push_back(std::move(metric));
  return metrics;
}

Metrics PairLearner::evaluate(EvaluationPart part, const RunHooks& hooks) {
  const HeldOutLines lines = held_out_lines(settings_.corpus, batches_->corpora(), part);
  Metrics metrics = evaluate_language_model(generator(), settings_.start, lines, workplace_, hooks);
  for (auto& [name, value] : metrics) name = std::string("eval_") + kOfGenerator + name.substr(name.find('_') + 1);
  return metrics;
}

// ---- files

std::vector<TensorView> PairLearner::optimizer_tensors() {
  if (!pair_) return alone_->group().state_tensors(kAlone);
  std::vector<TensorView> tensors;
  for (size_t n = 0; n < pair_->groups().size(); ++n) {
    for (TensorView& tensor : pair_->groups()[n].state_tensors(group_prefix(n))) tensors.push_back(std::move(tensor));
  }
  return tensors;
}

ModelFilesRules PairLearner::generator_files() const {
  return {.trained_tokens = settings_.batches.longest(), .tokenizer_files = tokenizer_files_};
}

ModelFilesRules PairLearner::discriminator_files() {
  ModelFilesRules rules = generator_files();
  if (has_difference_) rules.tensors = difference_tensors(discriminator());
  return rules;
}

void PairLearner::add_models(ManifestWriter& files) {
  const std::string& tokenizer = settings_.start.tokenizer_folder;
  ModelFilesRules rules = generator_files();
  rules.subfolder = std::string(kGenerator) + "/";
  add_model_files(files, generator(), tokenizer, rules);
  Model whole = whole_discriminator();
  rules = discriminator_files();
  rules.subfolder = std::string(kDiscriminator) + "/";
  add_model_files(files, whole, tokenizer, rules);
}

uint64_t PairLearner::models_bytes() {
  uint64_t differences = 0;
  for (const TensorView& view : difference_tensors(discriminator())) differences += view.bytes.size();
  return size_of_files(generator()) + size_of_files(discriminator()) + differences;
}

void PairLearner::write_models(const std::string& folder) {
  const std::string& tokenizer = settings_.start.tokenizer_folder;
  write_model_files_into(folder + "/" + kGenerator, generator(), tokenizer, generator_files());
  Model whole = whole_discriminator();
  write_model_files_into(folder + "/" + kDiscriminator, whole, tokenizer, discriminator_files());
}

void PairLearner::exchange_averages() {
  if (alone_) alone_->group().exchange_averages();
  if (!pair_) return;
  for (ParameterGroup& group : pair_->groups()) group.exchange_averages();
}

void PairLearner::load(const std::string& checkpoint) {
  const SafetensorsFile optimizers(checkpoint + "/trainer/optim.safetensors");
  const bool is_alone = std::ranges::any_of(optimizers.tensors(),
                                            [](const TensorView& tensor) { return tensor.name.starts_with(kAlone); });
  if (!pair_ && !is_alone) begin_pair();  // what it holds is read now
  is_difference_new_ = false;
  check_pieces_of_checkpoint(checkpoint + "/" + kGenerator, settings_.start.tokenizer());
  load_parameters(generator(), Checkpoint::open(checkpoint + "/" + kGenerator));
  load_discriminator(Checkpoint::open(checkpoint + "/" + kDiscriminator));
  if (pair_) {
    for (size_t n = 0; n < pair_->groups().size(); ++n) pair_->groups()[n].load_state(optimizers, group_prefix(n));
  } else {
    alone_->group().load_state(optimizers, kAlone);
  }
}

// The difference as it was, not the tables less the generator's: every bit.
void PairLearner::load_discriminator(const Checkpoint& files) {
  load_parameters(discriminator(), files);
  if (options().sharing == TableSharing::kDisentangled) has_difference_ = load_difference(discriminator(), files);
}

}  // namespace

std::unique_ptr<Learner> make_pair_learner(const PretrainSettings& settings, const Tokenizer& tokenizer,
                                           const Workplace& workplace, const RunHooks& hooks) {
  FirstPair models =
      first_pair(settings.start, settings.pair, tokenizer,
                 {.longest = settings.batches.longest(), .seed = settings.run.seed, .note = hooks.on_beginning});
  std::unique_ptr<BatchStream> batches = BatchStream::open(settings, tokenizer, workplace.compute.parallel, hooks);
  if (batches == nullptr) return nullptr;
  const int64_t alone = settings.pair.steps_of_generator_alone, total = batches->total_steps();
  if (alone >= total) {
    throw Error(ErrorCode::kUsage,
                {{.message = "expected fewer steps that train only the generator than the run has, " +
                             std::to_string(total) + ", got " + std::to_string(alone),
                  .argument = "generator_warmup"}});
  }
  return std::make_unique<PairLearner>(settings, workplace, std::move(batches), std::move(models), hooks);
}

}  // namespace deberta::train
