// Encode, pack, forward with logits of all rows, group. A text in windows takes each token's logits from the window
// that gives it the most context; entities are then found in the whole text.
#include "deberta/pipeline.h"

#include <fmt/format.h>

#include <algorithm>

#include "deberta/error.h"
#include "decode/classification.h"
#include "decode/entities.h"
#include "pipeline/batches.h"
#include "pipeline/requirements.h"

namespace deberta {
namespace {

// Logits of every token of every text, special tokens included.
class TokenLogits {
 public:
  TokenLogits(const WindowedInputs& inputs, size_t classes) : inputs_(inputs), classes_(classes) {
    for (size_t i = 0; i < inputs.texts.size(); ++i) {
      const std::vector<Window>& windows = inputs.windows[i];
      logits_.emplace_back(inputs.texts[i].size() * classes);
      chosen_.push_back(windows.empty() ? std::vector<size_t>() : choose_windows(windows, windows.back().last));
    }
  }

  // rows_LC: of inputs.sequences.all[sequence], which come in order.
  void take(size_t sequence, std::span<const float> rows_LC) {
    while (inputs_.sequences.starts[text_ + 1] <= sequence) ++text_;
    if (inputs_.windows[text_].empty()) {
      std::copy(rows_LC.begin(), rows_LC.end(), logits_[text_].begin());
      return;
    }
    const size_t w = sequence - inputs_.sequences.starts[text_];
    const Window& window = inputs_.windows[text_][w];
    for (size_t t = window.first; t < window.last; ++t) {
      if (chosen_[text_][t] != w) continue;
      const std::span<const float> row_C = rows_LC.subspan((t - window.first + 1) * classes_, classes_);
      std::copy(row_C.begin(), row_C.end(), logits_[text_].begin() + static_cast<std::ptrdiff_t>((t + 1) * classes_));
    }
  }

  const std::vector<float>& of(size_t text) const { return logits_[text]; }

 private:
  const WindowedInputs& inputs_;
  size_t classes_;
  std::vector<std::vector<float>> logits_;   // [L, C] of each text
  std::vector<std::vector<size_t>> chosen_;  // window of each token
  size_t text_ = 0;
};

}  // namespace

std::vector<TokenAnswer> ner(const Pipeline& pipeline, std::span<const TextInput> inputs, const TokenOptions& options) {
  const Head head = pipeline.model.head();
  if (head != Head::kToken && head != Head::kTokenOriginal) {
    refuse_head("ner", "token classification", pipeline.model);
  }
  const auto classes = static_cast<size_t>(pipeline.model.labels());
  if (!options.label_map.empty() && options.label_map.size() != classes)
    throw Error(ErrorCode::kTask,
                {{.where = "ner",
                  .message = fmt::format("expected {} label names, got {}", classes, options.label_map.size()),
                  .argument = "label_map",
                  .limit = classes,
                  .remedies = {{"give them in the model's order with {}", "label_map"}}}});
  std::vector<std::string> labels = options.label_map.empty() ? pipeline.config.labels : options.label_map;
  for (size_t c = labels.size(); c < classes; ++c) labels.push_back(label_name(labels, c));

  const WindowedInputs windowed = window_inputs(pipeline.tokenizer, inputs, options.rules);
  TokenLogits logits(windowed, classes);
  ForwardResult result;
  for_each_batch(windowed.sequences.all, options.rules.batch_tokens, [&](size_t first, const Batch& batch) {
    pipeline.model.forward(batch, {}, result);
    for (size_t b = 0; b < batch.sequences(); ++b) {
      const auto begin = static_cast<size_t>(batch.starts[b]), end = static_cast<size_t>(batch.starts[b + 1]);
      logits.take(first + b, std::span<const float>(result.logits).subspan(begin * classes, (end - begin) * classes));
    }
  });
  std::vector<TokenAnswer> answers;
  for (size_t i = 0; i < inputs.size(); ++i) {
    answers.push_back({find_entities(logits.of(i), labels, windowed.texts[i], options.entities),
                       windowed.sequences.tokens_of(i), windowed.texts[i].cut_tokens});
  }
  return answers;
}

}  // namespace deberta
