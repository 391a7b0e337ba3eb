// Turns a step's batches into losses for the trainer.
#include "train/pretrain/language_learner.h"

#include <functional>
#include <utility>

#include "train/objectives/language_model.h"
#include "train/pretrain/batch_stream.h"
#include "train/pretrain/first_model.h"
#include "train/pretrain/language_evaluation.h"
#include "train/step/single_model_learner.h"
#include "train/step/step_sums.h"

namespace deberta::train {
namespace {

class LanguageLearner : public SingleModelLearner {
 public:
  LanguageLearner(const PretrainSettings& settings, const Workplace& workplace, std::unique_ptr<BatchStream> batches,
                  Model model)
      : SingleModelLearner(std::move(model), settings.start.tokenizer(), settings.optimizer, workplace,
                           settings.batches.longest()),
        settings_(settings),
        batches_(std::move(batches)) {}

  int64_t total_steps() const override { return batches_->total_steps(); }
  std::map<std::string, std::string> hashes() override {
    return {{"corpora and tokenizer", batches_->corpora().hash()},
            {"configuration", hash_of_config(model().form.config)}};
  }
  Details details() const override { return details_of(settings_.corpus, batches_->corpora()); }
  void begin(int64_t step) override { batches_->begin(step); }
  StepReport step(const StepRequest& request, Sums& sums) override;
  Metrics metrics(const Sums& sums) const override { return language_metrics(sums); }
  Metrics evaluate(EvaluationPart part, const RunHooks& hooks) override {
    const HeldOutLines lines = held_out_lines(settings_.corpus, batches_->corpora(), part);
    return evaluate_language_model(model(), settings_.start, lines, workplace_, hooks);
  }

 private:
  const PretrainSettings& settings_;
  std::unique_ptr<BatchStream> batches_;
};

StepReport LanguageLearner::step(const StepRequest& request, Sums& sums) {
  const std::vector<TrainBatch> batches = batches_->next();
  const DropoutStream dropout{
      .is_training = true, .seed = settings_.run.seed, .step = static_cast<uint32_t>(request.step)};
  std::vector<std::function<Loss()>> losses;
  for (const TrainBatch& batch : batches) {
    losses.push_back([&] {
      request.check_stop();
      return language_model_loss(model(), workplace_.compute, batch, dropout);
    });
  }
  const double rate = settings_.learning_rate * request.factor;
  const StepResult result =
      trainer_.step(losses, {.rate = rate, .max_norm = request.max_norm, .store = workplace_.compute.store});
  add_to_sums(result, rate, sums);
  return report_of(result, batches);
}

}  // namespace

std::unique_ptr<Learner> make_language_learner(const PretrainSettings& settings, const Tokenizer& tokenizer,
                                               const Workplace& workplace, const RunHooks& hooks) {
  Model model =
      first_model(settings.start, tokenizer,
                  {.longest = settings.batches.longest(), .seed = settings.run.seed, .note = hooks.on_beginning});
  std::unique_ptr<BatchStream> batches = BatchStream::open(settings, tokenizer, workplace.compute.parallel, hooks);
  if (batches == nullptr) return nullptr;
  return std::make_unique<LanguageLearner>(settings, workplace, std::move(batches), std::move(model));
}

}  // namespace deberta::train
