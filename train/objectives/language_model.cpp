// Checks rows and labels, takes the words' states from the model, and calls the tied cross-entropy.
#include "train/objectives/language_model.h"

#include <string>

#include "deberta/error.h"

namespace deberta::train {
namespace {

[[noreturn]] void refuse(size_t number, const std::string& message) {
  throw Error(ErrorCode::kInput, "batch, label " + std::to_string(number), message);
}

void check_labels(const TrainBatch& batch, int64_t vocabulary) {
  if (batch.rows_P.size() != batch.labels_P.size()) {
    throw Error(ErrorCode::kInput, "batch",
                "labels: expected " + std::to_string(batch.rows_P.size()) + ", one for each row to predict, got " +
                    std::to_string(batch.labels_P.size()));
  }
  for (size_t n = 0; n < batch.rows_P.size(); ++n) {
    const int32_t row = batch.rows_P[n], label = batch.labels_P[n];
    if (row < 0 || static_cast<size_t>(row) >= batch.tokens() || (n > 0 && row <= batch.rows_P[n - 1])) {
      refuse(n, "row: expected ascending numbers below " + std::to_string(batch.tokens()) + ", got " +
                    std::to_string(row));
    }
    if (label < 0 || label >= vocabulary) {
      refuse(n, "id: expected 0 to " + std::to_string(vocabulary - 1) + ", got " + std::to_string(label));
    }
  }
}

}  // namespace

ModelInput input_of(const TrainBatch& batch) {
  return {.ids_T = batch.ids_T,
          .starts = batch.starts,
          .type_ids_T = batch.type_ids_T,
          .position_ids_T = batch.position_ids_T,
          .mask_T = batch.mask_T,
          .first_sequence = batch.first_sequence};
}

CrossEntropy predict_words(Model& model, const Compute& compute, const TrainBatch& batch, const DropoutStream& dropout,
                           const WordDraw* draw) {
  check_labels(batch, model.form.config.vocab_size);
  const Pass pass = make_pass(model, compute, input_of(batch), dropout);
  const at::Tensor z_PE = word_states(pass, model, batch.rows_P);
  const TiedOutput output{model.embeddings.word_VE, model.head.bias_V};
  return cross_entropy(compute, z_PE, output, to_index(batch.labels_P, z_PE), kCrossEntropyRows, draw);
}

Loss language_model_loss(Model& model, const Compute& compute, const TrainBatch& batch, const DropoutStream& dropout) {
  const CrossEntropy result = predict_words(model, compute, batch, dropout);
  return {result.sum, static_cast<int64_t>(batch.labels_P.size()), result.correct};
}

void predict_next_tokens(TrainBatch& batch) {
  batch.rows_P.clear();
  batch.labels_P.clear();
  for (size_t b = 0; b < batch.sequences(); ++b) {
    for (int32_t t = batch.starts[b]; t + 1 < batch.starts[b + 1]; ++t) {
      batch.rows_P.push_back(t);
      batch.labels_P.push_back(batch.ids_T[static_cast<size_t>(t) + 1]);
    }
  }
}

}  // namespace deberta::train
