// Which head answers which kind of example.
#include "eval/example_answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "deberta/error.h"
#include "decode/classification.h"
#include "eval/example_files.h"
#include "eval/model_rows.h"
#include "metrics/task_inputs.h"
#include "metrics/threshold_evaluation.h"
#include "pipeline/entity.h"
#include "pipeline/finding_classes.h"
#include "rows/row_input.h"

namespace deberta {
namespace {

// Builds the row of an example. The gold answer goes to `rows`, which belongs to the reading thread.
void fill_row(TaskRows& rows, ExampleFiles& files, Example example, Row& row) {
  rows.add(example);
  if (rows.has_unknown_labels()) {  // the rest is read only for the message
    for (Example rest; files.next(rest);) rows.add(rest);
    rows.check_labels();
  }
  row.error = rows.golds().back().error;
  if (row.error) return;
  for (const TextSpan& span : example.text_spans)
    row.entities.push_back({static_cast<uint32_t>(span.begin_byte), static_cast<uint32_t>(span.end_byte)});
  TaskInput input = input_of(rows.task(), std::move(example));
  row.text = std::move(input.text);
  row.pair = std::move(input.pair);
  row.items = std::move(input.choices);
}

class Answers {
 public:
  Answers(const ExampleSettings& settings, const Pipeline& pipeline, const TaskRows& rows)
      : pipeline_(pipeline), rules_(settings.rules), task_(rows.task()) {
    if (task_.kind == TaskKind::kEntity) {
      rules_.stride = rules_.encode.max_tokens / 2;
      score_entities(pipeline_, {}, rules_);  // refuses a model without the head before any row is read
    } else if (task_.kind == TaskKind::kYesNo || task_.kind == TaskKind::kChoice) {
      choice_ = {rules_, choice_form()};
      choose(pipeline_, {}, choice_);
    } else if (task_.kind == TaskKind::kRanking) {
      order_ = {rules_, ScoreFunction::kNone, 0};
      rerank(pipeline_, {}, order_);
    } else {
      sequence_ = {rules_, ScoreFunction::kNone, 0, settings.window_scores, settings.benign_labels};
      classify(pipeline_, {}, sequence_);
      map_classes_of(rows, settings.label_map);
      labels_ = std::max<size_t>(1, rows.labels().size());
      has_scores_ = settings.asked.needs_scores();
      has_logits_ = settings.asked.has("log_loss");
      if (has_logits_) check_scores_are_probabilities();
      if (!settings.false_positive_rates.empty()) findings_ = finding_classes(pipeline_, settings.benign_labels);
    }
  }

  EncodeRow encoder() const {
    if (task_.kind == TaskKind::kEntity) return {};  // the head makes the windows of passage and query
    if (task_.kind == TaskKind::kRanking) return row_encoder(pipeline_.tokenizer, order_.sequence_rules());
    return row_encoder(pipeline_.tokenizer, is_choice() ? choice_.sequence_rules() : SequenceRules{rules_});
  }

  // Answers some of the rows; they may come again when one of them fails.
  void answer(std::span<const size_t> numbers, std::span<const Row> rows) {
    if (task_.kind == TaskKind::kEntity) return answer_queries(numbers, rows);
    if (task_.kind == TaskKind::kRanking) return score_documents(numbers, rows);
    if (is_choice()) {
      const auto results = choose(pipeline_, text_inputs(rows), choice_);
      for (size_t i = 0; i < rows.size(); ++i) {
        TaskAnswer answer;
        answer.label = results[i].index;
        set(numbers[i], std::move(answer), results[i].cut_tokens);
      }
      return;
    }
    const auto results = classify(pipeline_, text_inputs(rows), sequence_);
    for (size_t i = 0; i < rows.size(); ++i) set(numbers[i], read(results[i].scores), results[i].cut_tokens);
  }

  TaskAnswers take(size_t rows) {
    answers_.resize(rows);
    return std::move(answers_);
  }
  size_t cut() const { return cut_; }

  // For each label: whether the class of that name is a finding.
  std::vector<bool> finding_labels(size_t labels) const {
    std::vector<bool> are_findings(findings_.empty() ? 0 : labels, true);
    for (size_t c = 0; c < findings_.size(); ++c) {
      if (classes_[c] != kNoTaskLabel) are_findings[classes_[c]] = findings_[c];
    }
    return are_findings;
  }

 private:
  bool is_choice() const { return task_.kind == TaskKind::kYesNo || task_.kind == TaskKind::kChoice; }
  ChoiceForm choice_form() const {
    if (task_.form == ExampleForm::kCopa) return ChoiceForm::kCopa;
    return task_.form == ExampleForm::kRace ? ChoiceForm::kRace : ChoiceForm::kPlain;
  }

  void map_classes_of(const TaskRows& rows, const std::vector<std::string>& label_map) {
    const auto classes = static_cast<size_t>(pipeline_.model.labels());
    if (task_.target != TaskTarget::kScore) {
      const bool is_own = rows.task().labels.empty();  // the labels are the model's
      classes_ =
          map_classes(rows.labels(), is_own ? rows.labels().names() : pipeline_.config.labels, classes, label_map);
    } else {
      map_targets_of(rows, classes, label_map);
    }
  }

  void map_targets_of(const TaskRows& rows, size_t classes, const std::vector<std::string>& label_map) {
    const std::vector<std::string> targets = rows.labels().names();
    if (classes != std::max<size_t>(1, targets.size())) {
      const std::string expected =
          targets.empty() ? "one score" : fmt::format("the {} scores {}", targets.size(), fmt::join(targets, ", "));
      throw Error(
          ErrorCode::kTask,
          {{.where = "eval",
            .message = fmt::format("expected a model with {} for {}, got {} classes", expected, task_.name, classes),
            .argument = "label_field",
            .remedies = {{"name a column or key for each score of the model with {}", "label_field"}}}});
    }
    classes_ = {0};
    if (!targets.empty()) classes_ = map_classes(rows.labels(), pipeline_.config.labels, classes, label_map);
  }

  ScoreFunction function() const {
    return score_function_of(pipeline_.config, static_cast<size_t>(pipeline_.model.labels()));
  }

  void check_scores_are_probabilities() const {
    const bool is_one = task_.target == TaskTarget::kClass;
    if (function() == (is_one ? ScoreFunction::kSoftmax : ScoreFunction::kSigmoid)) return;
    throw Error(ErrorCode::kTask, "eval",
                fmt::format("log_loss: expected a model whose scores are probabilities {}, got another activation or "
                            "problem_type in its configuration",
                            is_one ? "of one class each" : "of each class by itself"));
  }

  // Values of classes as values of labels.
  template <typename Value>
  std::vector<Value> by_label(const std::vector<Value>& values_C) const {
    std::vector<Value> values(labels_);
    for (size_t c = 0; c < values_C.size(); ++c) {
      if (classes_[c] != kNoTaskLabel) values[classes_[c]] = values_C[c];
    }
    return values;
  }

  // For classes that exclude each other, minus the logarithm of the sum of exponentials: logarithms of probabilities.
  std::vector<double> comparable(const std::vector<float>& logits_C) const {
    std::vector<double> logits(logits_C.begin(), logits_C.end());
    if (task_.target != TaskTarget::kClass) return logits;
    const double largest = *std::ranges::max_element(logits);
    double sum = 0;
    for (const double logit : logits) sum += std::exp(logit - largest);
    for (double& logit : logits) logit -= largest + std::log(sum);
    return logits;
  }

  TaskAnswer read(const std::vector<float>& logits_C) const {
    TaskAnswer answer;
    if (has_scores_) answer.scores = by_label(scores_of_logits(logits_C, function()));
    if (has_logits_) answer.logits = by_label(comparable(logits_C));
    if (task_.target == TaskTarget::kScore) {
      answer.values = by_label(std::vector<double>(logits_C.begin(), logits_C.end()));
    } else if (task_.target == TaskTarget::kClasses) {
      for (size_t i = 0; i < logits_C.size(); ++i) {
        if (logits_C[i] >= 0) answer.labels.push_back(static_cast<uint32_t>(classes_[i]));  // probability .5
      }
      std::sort(answer.labels.begin(), answer.labels.end());
    } else {
      answer.label = classes_[best_class(logits_C)];
      if (!findings_.empty()) answer.finding = highest_finding(logits_C);
    }
    return answer;
  }

  double highest_finding(const std::vector<float>& logits_C) const {
    const std::vector<float> scores_C = scores_of_logits(logits_C, function());
    float highest = -std::numeric_limits<float>::infinity();
    for (size_t c = 0; c < scores_C.size(); ++c) {
      if (findings_[c]) highest = std::max(highest, scores_C[c]);
    }
    return as_shown(highest);
  }

  // The best of the classes that have a label of the task: one without cannot be an answer to it.
  size_t best_class(const std::vector<float>& logits_C) const {
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < logits_C.size(); ++i) {
      if (classes_[i] != kNoTaskLabel && (best == SIZE_MAX || logits_C[i] > logits_C[best])) best = i;
    }
    return best;
  }

  void answer_queries(std::span<const size_t> numbers, std::span<const Row> rows) {
    for (size_t i = 0; i < rows.size(); ++i) {
      const Row& row = rows[i];
      const EntityQuery query{row.text, *row.pair, row.entities};
      const std::vector<float> scores = score_entities(pipeline_, {&query, 1}, rules_).front().scores;
      TaskAnswer answer;
      if (!scores.empty()) {
        const Offset& best =
            row.entities[static_cast<size_t>(std::max_element(scores.begin(), scores.end()) - scores.begin())];
        answer.text = row.text.substr(best.begin, best.end - best.begin);
      }
      set(numbers[i], std::move(answer), 0);
    }
  }

  void score_documents(std::span<const size_t> numbers, std::span<const Row> rows) {
    const std::vector<RankAnswer> results = rerank(pipeline_, text_inputs(rows), order_);
    for (size_t i = 0; i < rows.size(); ++i) {
      TaskAnswer answer;
      answer.documents.resize(results[i].documents.size());
      for (const RankedDocument& document : results[i].documents) answer.documents[document.index] = document.logit;
      set(numbers[i], std::move(answer), results[i].cut_tokens);
    }
  }

  void set(size_t number, TaskAnswer answer, size_t cut_tokens) {
    if (answers_.size() <= number) answers_.resize(number + 1);
    answers_[number] = std::move(answer);
    cut_ += cut_tokens > 0;
  }

  const Pipeline& pipeline_;
  EncodingRules rules_;
  const TaskRow& task_;
  ChoiceOptions choice_;
  RankOptions order_;
  SequenceOptions sequence_;
  std::vector<size_t> classes_;  // the label of each class of the model
  std::vector<bool> findings_;   // which of them are findings; empty: not requested
  size_t labels_ = 0;
  bool has_scores_ = false, has_logits_ = false;  // requested
  TaskAnswers answers_;
  size_t cut_ = 0;
};

}  // namespace

TaskAnswers answer_rows(const ExampleSettings& settings, const Pipeline& pipeline, TaskRows& rows, CutRows& cut,
                        FindingRules& findings, const EvalHooks& hooks) {
  Answers answers(settings, pipeline, rows);
  std::vector<std::pair<size_t, Error>> refused;  // the rows belong to the reading thread until it is done
  const auto fill = [&](ExampleFiles& files, Example example, Row& row) {
    fill_row(rows, files, std::move(example), row);
  };
  const auto refuse = [&](size_t number, const Error& error) {
    stop_at_bad_row(hooks, error);
    refused.emplace_back(number, error);
  };
  run_model_rows([&](const auto& is_stopped) { return example_rows(settings.input, rows.task(), is_stopped, fill); },
                 answers.encoder(), settings.rules.batch_tokens,
                 {.answer = [&](auto numbers, auto part) { answers.answer(numbers, part); }, .refuse = refuse}, hooks);
  for (const auto& [number, error] : refused) rows.refuse(number, error);
  findings = {answers.finding_labels(rows.labels().size()), settings.false_positive_rates};
  cut = {answers.cut(), rows.golds().size(), settings.rules.encode.max_tokens};
  return answers.take(rows.golds().size());
}

}  // namespace deberta
