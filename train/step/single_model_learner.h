// What learners of one model have in common: its files, its optimiser's, and its averages.
#pragma once
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "train/run/learner.h"
#include "train/step/model_files.h"
#include "train/step/trainer.h"
#include "train/step/workplace.h"

namespace deberta::train {

class SingleModelLearner : public Learner {
 public:
  // `workplace` outlives this object.
  SingleModelLearner(Model model, RunTokenizer tokenizer, const OptimizerOptions& optimizer, const Workplace& workplace,
                     size_t trained_tokens)
      : workplace_(workplace),
        trainer_(std::move(model), optimizer, workplace.compute),
        tokenizer_(std::move(tokenizer)),
        files_{.trained_tokens = trained_tokens, .tokenizer_files = tokenizer_.changed_files()} {}

  std::vector<TensorView> optimizer_tensors() override;
  void add_models(ManifestWriter& files) override;
  uint64_t models_bytes() override;
  void load(const std::string& checkpoint) override;
  void write_models(const std::string& folder) override;
  void exchange_averages() override { trainer_.exchange_averages(); }

 protected:
  Model& model() { return trainer_.model(); }
  const Model& model() const { return trainer_.model(); }

  const Workplace& workplace_;
  Trainer trainer_;

 private:
  RunTokenizer tokenizer_;
  ModelFilesRules files_;
};

}  // namespace deberta::train
