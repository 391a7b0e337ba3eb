// Answers the engine's forward calls by the training model, without gradients and without dropout.
#include "train/model/trained_computation.h"

#include <ATen/core/grad_mode.h>

#include <memory>
#include <numeric>
#include <vector>

#include "deberta/error.h"
#include "engine/model_access.h"
#include "engine/output_heads.h"
#include "heads/forms.h"
#include "train/model/heads.h"

namespace deberta::train {
namespace {

// All rows, where none are chosen.
std::vector<int32_t> rows_to_give(const Batch& batch, const ForwardOptions& options) {
  if (!options.rows.empty()) return options.rows;
  std::vector<int32_t> rows_N(batch.tokens());
  std::iota(rows_N.begin(), rows_N.end(), 0);
  return rows_N;
}

void check_asked(const Batch& batch, const ForwardOptions& options, const ActivationRanges* ranges) {
  const bool is_unusual = !options.layers.empty() || options.wants_scores || options.wants_decoder_scores ||
                          options.skips_mask_decoder || ranges != nullptr || !options.groups.empty() ||
                          !batch.masks_B.empty() || !batch.given_buckets_LL.empty();
  if (!is_unusual) return;
  throw Error(
      ErrorCode::kUnsupported, "the model in training",
      "expected a pass that gives logits, got one for hidden states, scores, masks or mentions; a form that only "
      "training has gives no others");
}

class TrainedComputation : public Computation {
 public:
  TrainedComputation(Model& model, const Compute& compute) : model_(model), compute_(compute) {
    compute_.store = nullptr;  // weights change between passes
  }

  void forward(const Batch& batch, const ForwardOptions& options, ActivationRanges* ranges,
               ForwardResult& result) override {
    check_asked(batch, options, ranges);
    if (!options.wants_logits || batch.tokens() == 0) return;
    const at::NoGradGuard no_gradients;
    const Pass pass = make_pass(model_, compute_,
                                {.ids_T = batch.ids_T,
                                 .starts = batch.starts,
                                 .type_ids_T = batch.type_ids_T,
                                 .position_ids_T = batch.position_ids_T,
                                 .mask_T = batch.mask_T},
                                {});
    const std::vector<int32_t> rows_N = rows_to_give(batch, options);
    const at::Tensor logits_NC = trained_head(model_.form.head)
                                     .logits(pass, model_, {.rows_N = rows_N, .entities = options.entities})
                                     .contiguous();
    result.logits_rows = static_cast<size_t>(logits_NC.size(0));
    result.logits_columns = static_cast<size_t>(logits_NC.size(1));
    const float* values = logits_NC.const_data_ptr<float>();
    result.logits.assign(values, values + logits_NC.numel());
  }

 private:
  Model& model_;
  Compute compute_;
};

}  // namespace

bool is_for_training_alone(const ModelForm& form) {
  return !find_foreign_form(form.config, facts_of(form.head)).empty();
}

deberta::Model compute_by_training(Model& model, const Compute& compute) {
  Variant variant{model.form.config, engine_head(model.form.head), model.form.has_mask_decoder()};
  variant.config.layout = Layout::kV2;
  return deberta::make_model(variant, model.form.labels, std::make_unique<TrainedComputation>(model, compute));
}

}  // namespace deberta::train
