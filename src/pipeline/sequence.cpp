// Encode, pack, forward, rank. Windows of one text: the mean of their logits.
#include "deberta/pipeline.h"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "deberta/error.h"
#include "decode/classification.h"
#include "pipeline/finding_classes.h"
#include "pipeline/plan.h"
#include "pipeline/requirements.h"

namespace deberta {
namespace {

// The mean of the rows [first, last) of logits_BC.
std::vector<float> mean_row(std::span<const float> logits_BC, size_t classes, size_t first, size_t last) {
  std::vector<float> mean_C(classes);
  for (size_t c = 0; c < classes; ++c) {
    double sum = 0;
    for (size_t row = first; row < last; ++row) sum += logits_BC[row * classes + c];
    mean_C[c] = static_cast<float>(sum / static_cast<double>(last - first));
  }
  return mean_C;
}

// What an answer needs to know beside the logits.
struct Rules {
  ScoreFunction function;
  size_t top_k;
  std::vector<bool> findings = {};                        // empty: no window is chosen
  ScoreFunction finding_function = ScoreFunction::kNone;  // the model's, also where logits are asked for
  std::vector<std::vector<WindowAnswer>> windows = {};    // by text, without labels; none: not requested
};

Rules rules_of(const Pipeline& pipeline, const SequenceOptions& options) {
  const auto classes = static_cast<size_t>(pipeline.model.labels());
  Rules rules{.function = options.function ? *options.function : score_function_of(pipeline.config, classes),
              .top_k = options.top_k};
  if (options.window_scores != WindowScores::kMax) return rules;
  rules.findings = finding_classes(pipeline, options.benign_labels);
  rules.finding_function = score_function_of(pipeline.config, classes);
  return rules;
}

// The part of the text that the tokens [first, last) are.
WindowAnswer place_of(const Encoding& text, size_t first, size_t last) {
  if (first >= last) return {};
  return {.chars = {text.chars[first].begin, text.chars[last - 1].end},
          .bytes = {text.bytes[first].begin, text.bytes[last - 1].end},
          .labels = {}};
}

std::vector<std::vector<WindowAnswer>> places_of(const WindowedInputs& windowed) {
  std::vector<std::vector<WindowAnswer>> places;
  for (size_t i = 0; i < windowed.texts.size(); ++i) {
    const Encoding& text = windowed.texts[i];
    std::vector<WindowAnswer>& windows = places.emplace_back();
    if (windowed.windows[i].empty()) windows.push_back(place_of(text, 1, text.size() - 1));
    for (const Window& window : windowed.windows[i])  // without [CLS]
      windows.push_back(place_of(text, window.first + 1, window.last + 1));
  }
  return places;
}

// The row in [first, last) in which a finding scores highest.
size_t worst_row(std::span<const float> logits_BC, const Rules& rules, size_t first, size_t last) {
  const size_t classes = rules.findings.size();
  size_t worst = first;
  float highest = -std::numeric_limits<float>::infinity();
  for (size_t row = first; row < last; ++row) {
    const std::vector<float> scores_C =
        scores_of_logits(logits_BC.subspan(row * classes, classes), rules.finding_function);
    for (size_t c = 0; c < classes; ++c) {
      if (!rules.findings[c] || !(scores_C[c] > highest)) continue;
      highest = scores_C[c];
      worst = row;
    }
  }
  return worst;
}

std::vector<SequenceAnswer> answers_of(const Pipeline& pipeline, const SequenceLogits& results, const Rules& rules) {
  const Sequences& sequences = results.sequences;
  const auto classes = static_cast<size_t>(pipeline.model.labels());
  const std::span<const float> logits_BC = results.logits_BC;
  const auto rank = [&](std::span<const float> logits_C, SequenceAnswer& answer) {
    answer.scores = scores_of_logits(logits_C, rules.function);
    answer.labels = labels_of_answer(answer.scores, pipeline.config, rules.top_k);
  };
  std::vector<SequenceAnswer> answers;
  for (size_t i = 0; i < sequences.inputs(); ++i) {
    const size_t first = sequences.starts[i], last = sequences.starts[i + 1];
    SequenceAnswer& answer = answers.emplace_back();
    answer.tokens = sequences.tokens_of(i);
    answer.cut_tokens = sequences.cut_tokens_of(i);
    if (rules.findings.empty())
      rank(mean_row(logits_BC, classes, first, last), answer);
    else
      rank(logits_BC.subspan(worst_row(logits_BC, rules, first, last) * classes, classes), answer);
    for (size_t row = first; row < last && !rules.windows.empty(); ++row) {
      SequenceAnswer window_answer;
      rank(logits_BC.subspan(row * classes, classes), window_answer);
      answer.windows.push_back(rules.windows[i][row - first]);
      answer.windows.back().labels = std::move(window_answer.labels);
    }
  }
  return answers;
}

}  // namespace

Planned<SequenceAnswer> plan_classify(const Pipeline& pipeline, std::span<const TextInput> inputs,
                                      const SequenceOptions& options) {
  check_sequence_head("classify", pipeline.model);
  Rules rules = rules_of(pipeline, options);
  if (options.window_scores == WindowScores::kEach) {
    for_each_input(inputs.size(), [&](size_t i) {
      if (inputs[i].pair)
        throw Error(ErrorCode::kInput, "text_pair", "expected one text for the scores of each window, got a pair");
    });
  }
  WindowedInputs windowed = window_inputs(pipeline.tokenizer, inputs, options.rules);
  if (options.window_scores == WindowScores::kEach) rules.windows = places_of(windowed);
  LogitsPlan logits = plan_logits(pipeline.model, std::move(windowed.sequences));
  return {std::move(logits.plan), [&pipeline, results = std::move(logits.results), rules = std::move(rules)] {
            return answers_of(pipeline, *results, rules);
          }};
}

std::vector<SequenceAnswer> classify(const Pipeline& pipeline, std::span<const TextInput> inputs,
                                     const SequenceOptions& options) {
  return run_planned(pipeline, plan_classify(pipeline, inputs, options), options.rules);
}

}  // namespace deberta
