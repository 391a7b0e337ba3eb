// Encode, pack, forward with logits of all rows, group. A text in windows takes each token's logits from the window
// that gives it the most context; entities are then found in the whole text.
#include "deberta/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/json.h"
#include "deberta/error.h"
#include "decode/classification.h"
#include "decode/entities.h"
#include "heads/head_facts.h"
#include "pipeline/plan.h"
#include "pipeline/requirements.h"

namespace deberta {
namespace {

// Logits of every token of every text, special tokens included.
class TokenLogits {
 public:
  TokenLogits(WindowedInputs inputs, size_t classes) : inputs_(std::move(inputs)), classes_(classes) {
    for (size_t i = 0; i < inputs_.texts.size(); ++i) {
      const std::vector<Window>& windows = inputs_.windows[i];
      logits_.emplace_back(inputs_.texts[i].size() * classes);
      chosen_.push_back(windows.empty() ? std::vector<size_t>() : choose_windows(windows, windows.back().last));
    }
  }

  // rows_LC: of inputs().sequences.all[sequence].
  void take(size_t sequence, std::span<const float> rows_LC) {
    const std::vector<size_t>& starts = inputs_.sequences.starts;
    const auto text =
        static_cast<size_t>(std::upper_bound(starts.begin(), starts.end(), sequence) - starts.begin()) - 1;
    if (inputs_.windows[text].empty()) {
      std::copy(rows_LC.begin(), rows_LC.end(), logits_[text].begin());
      return;
    }
    const size_t w = sequence - starts[text];
    const Window& window = inputs_.windows[text][w];
    for (size_t t = window.first; t < window.last; ++t) {
      if (chosen_[text][t] != w) continue;
      const std::span<const float> row_C = rows_LC.subspan((t - window.first + 1) * classes_, classes_);
      std::copy(row_C.begin(), row_C.end(), logits_[text].begin() + static_cast<std::ptrdiff_t>((t + 1) * classes_));
    }
  }

  const WindowedInputs& inputs() const { return inputs_; }
  const std::vector<float>& of(size_t text) const { return logits_[text]; }

 private:
  WindowedInputs inputs_;
  size_t classes_;
  std::vector<std::vector<float>> logits_;   // [L, C] of each text
  std::vector<std::vector<size_t>> chosen_;  // window of each token
};

// Names of all classes.
std::vector<std::string> labels_of(const Pipeline& pipeline, const TokenOptions& options) {
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
  return labels;
}

std::vector<TokenAnswer> answers_of(const TokenLogits& logits, const std::vector<std::string>& labels,
                                    std::span<const Tag> tags_C, const EntityRules& rules) {
  const WindowedInputs& inputs = logits.inputs();
  std::vector<TokenAnswer> answers;
  for (size_t i = 0; i < inputs.texts.size(); ++i) {
    answers.push_back({find_entities(logits.of(i), labels, tags_C, inputs.texts[i], rules),
                       inputs.sequences.tokens_of(i), inputs.texts[i].cut_tokens});
  }
  return answers;
}

// A name that the answers cannot have would leave out nothing, and O would come back where it was not meant to.
void check_ignored(const EntityRules& rules, const std::vector<std::string>& labels, std::span<const Tag> tags_C) {
  std::vector<std::string> shown{kOutsideTag};
  const auto add = [&](const std::string& name) {
    if (std::ranges::find(shown, name) == shown.end()) shown.push_back(name);
  };
  for (size_t c = 0; c < labels.size(); ++c)
    add(rules.aggregation == Aggregation::kNone || tags_C[c].place == TagPlace::kOutside ? labels[c] : tags_C[c].kind);
  for (const std::string& name : rules.ignored) {
    if (std::ranges::find(shown, name) == shown.end())
      throw Error(ErrorCode::kUsage,
                  {{.message = fmt::format("expected names among {}, got {}", fmt::join(shown, ", "), quote_json(name)),
                    .argument = "ignore_labels"}});
  }
}

}  // namespace

Aggregation aggregation_of(const ModelConfig& config, const EntityRules& rules) {
  return rules.aggregation.value_or(config.aggregation.value_or(Aggregation::kFirst));
}

Planned<TokenAnswer> plan_ner(const Pipeline& pipeline, std::span<const TextInput> inputs,
                              const TokenOptions& options) {
  const HeadFacts& head = facts_of(pipeline.model.head());
  if (!head.takes_rows() || !head.has_classes()) refuse_head("ner", "token classification", pipeline.model);
  std::vector<std::string> labels = labels_of(pipeline, options);
  const auto logits = std::make_shared<TokenLogits>(window_inputs(pipeline.tokenizer, inputs, options.rules),
                                                    static_cast<size_t>(pipeline.model.labels()));
  SequencePlan plan;
  plan.sequences = SequenceSource(logits->inputs().sequences.all);
  plan.take = [logits](size_t sequence, std::span<const float> rows_LC) { logits->take(sequence, rows_LC); };
  std::vector<Tag> tags_C = tags_of(labels);
  EntityRules rules = options.entities;
  rules.aggregation = aggregation_of(pipeline.config, rules);
  check_ignored(rules, labels, tags_C);
  return {std::move(plan), [logits, labels = std::move(labels), tags_C = std::move(tags_C), rules = std::move(rules)] {
            return answers_of(*logits, labels, tags_C, rules);
          }};
}

std::vector<TokenAnswer> ner(const Pipeline& pipeline, std::span<const TextInput> inputs, const TokenOptions& options) {
  return run_planned(pipeline, plan_ner(pipeline, inputs, options), options.rules);
}

}  // namespace deberta
