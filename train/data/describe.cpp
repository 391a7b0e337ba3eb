// Decodes each sequence with its masks and labels marked, joining byte pieces into characters.
#include "train/data/describe.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace deberta::train {
namespace {

// <0x0A>
bool is_byte_piece(std::string_view piece) {
  return piece.size() == 6 && piece.starts_with("<0x") && piece.ends_with('>');
}

class Describer {
 public:
  Describer(const Tokenizer& tokenizer, size_t most_sequences, bool has_next_labels)
      : tokenizer_(tokenizer), most_sequences_(most_sequences), has_next_labels_(has_next_labels) {}

  void add(const TrainBatch& batch) {
    ++result.batches;
    result.tokens += batch.tokens();
    std::vector<int32_t> texts = batch.ids_T;  // before masking
    for (size_t i = 0; i < batch.rows_P.size(); ++i) {
      const auto row = static_cast<size_t>(batch.rows_P[i]);
      count_prediction(batch.ids_T[row], batch.labels_P[i]);
      if (!has_next_labels_) texts[row] = batch.labels_P[i];
    }
    for (const int32_t id : texts) {
      result.unknown += id == tokenizer_.special().unk;
      result.spelled += is_byte_piece(tokenizer_.piece(id));
    }
    for (size_t i = 0; i < batch.sequences(); ++i) add_sequence(batch, i);
  }

  BatchDescription result;

 private:
  void count_prediction(int32_t read, int32_t label) {
    ++result.predictions;
    if (has_next_labels_) return;
    result.masked += read == tokenizer_.special().mask;
    result.kept += read == label;
    result.replaced += read != label && read != tokenizer_.special().mask;
  }

  void add_sequence(const TrainBatch& batch, size_t index) {
    const auto begin = static_cast<size_t>(batch.starts[index]);
    const auto end = static_cast<size_t>(batch.starts[index + 1]);
    result.shortest = result.sequences == 0 ? end - begin : std::min(result.shortest, end - begin);
    result.longest = std::max(result.longest, end - begin);
    ++result.sequences;
    if (result.first.size() == most_sequences_) return;
    DescribedSequence& sequence = result.first.emplace_back();
    for (size_t row = begin; row < end; ++row)
      sequence.push_back({std::string(tokenizer_.piece(batch.ids_T[row])), {}});
    auto at = std::lower_bound(batch.rows_P.begin(), batch.rows_P.end(), batch.starts[index]);
    for (; at != batch.rows_P.end() && static_cast<size_t>(*at) < end; ++at) {
      DescribedPiece& piece = sequence[static_cast<size_t>(*at) - begin];
      piece.is_predicted = true;
      piece.label = tokenizer_.piece(batch.labels_P[static_cast<size_t>(at - batch.rows_P.begin())]);
    }
  }

  const Tokenizer& tokenizer_;
  size_t most_sequences_;
  bool has_next_labels_;
};

}  // namespace

BatchDescription describe(const std::vector<TrainBatch>& batches, const Tokenizer& tokenizer, size_t most_sequences,
                          bool has_next_labels) {
  Describer describer(tokenizer, most_sequences, has_next_labels);
  for (const TrainBatch& batch : batches) describer.add(batch);
  return std::move(describer.result);
}

}  // namespace deberta::train
