// Labels by name; then the evaluation that the task's target asks for.
#include "metrics/task_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "base/ascii.h"
#include "base/checked.h"
#include "base/json.h"
#include "deberta/error.h"
#include "metrics/answer_evaluation.h"
#include "metrics/finding_evaluation.h"
#include "metrics/label_evaluation.h"
#include "metrics/order_evaluation.h"

namespace deberta {
namespace {

bool has_choices(const TaskRow& task) {
  return task.kind == TaskKind::kYesNo || task.kind == TaskKind::kChoice;
}

// Where the published labels start counting.
size_t first_choice(const TaskRow& task) {
  return task.form == ExampleForm::kAlphaNli ? 1 : 0;
}

constexpr size_t kMostLabels = 20;  // shown in a message

double parse_score(std::string_view text, const std::string& where) {
  const auto score = parse_number<double>(text);
  if (!score || !std::isfinite(*score))
    throw Error(ErrorCode::kInput, where, "expected a number, got " + quote_json(text));
  return *score;
}

// Scores between commas.
std::vector<double> parse_document_scores(std::string_view text, size_t documents, const std::string& where) {
  std::vector<double> scores;
  for (const std::string& part : split_words(text, ',')) scores.push_back(parse_score(strip(part), where));
  if (scores.size() == documents) return scores;
  throw Error(
      ErrorCode::kInput, where,
      fmt::format("expected {} scores between commas, one for each document, got {}", documents, scores.size()));
}

std::string shortest(double value) {
  char buffer[32];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr};
}

uint32_t number_of(const std::string& name, std::unordered_map<std::string, uint32_t>& numbers) {
  return numbers.emplace(name, static_cast<uint32_t>(numbers.size())).first->second;
}

std::vector<std::string> names_by_number(const std::unordered_map<std::string, uint32_t>& numbers) {
  std::vector<std::string> names(numbers.size());
  for (const auto& [name, number] : numbers) names[number] = name;
  return names;
}

}  // namespace

TaskAnswer TaskRows::parse_label(std::string_view raw_text, const std::string& where) {
  TaskAnswer answer;
  const std::string_view text =
      task_->target == TaskTarget::kText ? raw_text : strip(raw_text);  // blanks make no new class
  if (task_->target == TaskTarget::kScore) {
    answer.values = parse_scores(text, where);
  } else if (task_->target == TaskTarget::kClasses) {
    for (const std::string& name : split_words(text, ','))
      answer.labels.push_back(static_cast<uint32_t>(labels_.label_of(strip(name), where)));
    std::sort(answer.labels.begin(), answer.labels.end());
    answer.labels.erase(std::unique(answer.labels.begin(), answer.labels.end()), answer.labels.end());
  } else if (task_->target == TaskTarget::kText) {
    answer.text = text;
  } else {
    answer.label = labels_.label_of(text, where);
  }
  return answer;
}

// As many numbers between commas as there are targets.
std::vector<double> TaskRows::parse_scores(std::string_view text, const std::string& where) const {
  if (targets() == 1) return {parse_score(text, where)};
  const std::vector<std::string> parts = split_words(text, ',');
  if (parts.size() != targets())
    throw Error(ErrorCode::kInput, where,
                fmt::format("expected {} numbers between commas, of {}, got {}", targets(),
                            fmt::join(labels_.names(), ", "), quote_json(text)));
  std::vector<double> scores;
  for (const std::string& part : parts) scores.push_back(parse_score(strip(part), where));
  return scores;
}

// The label of shares is the one with the largest.
TaskAnswer TaskRows::answer_of(const std::vector<NamedNumber>& values, const std::string& where) {
  TaskAnswer answer;
  for (const NamedNumber& named : values) {
    const size_t label = labels_.label_of(named.name, where);
    if (answer.values.size() <= label) answer.values.resize(label + 1);
    answer.values[label] += named.value;
  }
  answer.label = static_cast<size_t>(std::ranges::max_element(answer.values) - answer.values.begin());
  return answer;
}

TaskAnswer TaskRows::parse(size_t row, std::string_view text, const std::string& where) {
  if (task_->target == TaskTarget::kOrder) {
    TaskAnswer answer;
    answer.documents = parse_document_scores(text, golds_[row].choices, where);
    return answer;
  }
  if (!has_choices(*task_)) return parse_label(text, where);
  auto number = parse_number<size_t>(text);
  if (task_->form == ExampleForm::kRace && text.size() == 1 && text[0] >= 'A' && text[0] <= 'Z')
    number = static_cast<size_t>(text[0] - 'A');
  const size_t first = first_choice(*task_);
  if (!number || *number < first || *number - first >= golds_[row].choices)
    throw Error(ErrorCode::kInput, where,
                fmt::format("expected the number of one of {} choices, counted from {}, got {}", golds_[row].choices,
                            first, quote_json(text)));
  TaskAnswer answer;
  answer.label = *number - first;
  return answer;
}

std::string TaskRows::to_text(const TaskAnswer& answer) const {
  if (task_->target == TaskTarget::kScore) {
    std::string text;
    for (const double value : answer.values) text += (text.empty() ? "" : ",") + shortest(value);
    return text;
  }
  if (task_->target == TaskTarget::kText) return answer.text;
  if (task_->target == TaskTarget::kOrder) {
    std::string scores;
    for (const double score : answer.documents) scores += (scores.empty() ? "" : ",") + shortest(score);
    return scores;
  }
  if (task_->target == TaskTarget::kClasses) {
    std::string names;
    for (const uint32_t label : answer.labels) names += (names.empty() ? "" : ",") + labels_.name(label);
    return names;
  }
  if (task_->form == ExampleForm::kRace) return std::string(1, static_cast<char>('A' + answer.label));
  if (has_choices(*task_)) return std::to_string(answer.label + first_choice(*task_));
  return labels_.name(answer.label);
}

void TaskRows::add(const Example& example) {
  TaskGold gold;
  gold.where = example.where;
  gold.id = example.id;
  gold.choices = example.choices.size();
  gold.error = example.error;
  if (example.label && found_labels_.size() < kMostLabels) ++found_labels_[*example.label];
  repaired_ += example.is_repaired;
  if (!gold.error && example.slice) add_slice(*example.slice, gold);
  bool is_unknown = gold.error && gold.error->code() == ErrorCode::kTask;
  try {
    if (!gold.error) add_label(example, gold);
  } catch (const Error& error) {
    gold.error = error;
    is_unknown = true;
  }
  if (is_unknown && unknown_rows_++ == 0) first_unknown_ = golds_.size();
  golds_.push_back(std::move(gold));
}

namespace {

// Labels as datasets have them: numbers of which the task knows none.
bool are_numbers(const std::map<std::string, size_t>& labels, const TaskLabels& known) {
  return !labels.empty() && std::ranges::all_of(labels, [&](const auto& entry) {
    const bool is_number =
        !entry.first.empty() && std::ranges::all_of(entry.first, [](char c) { return c >= '0' && c <= '9'; });
    return is_number && !known.find(entry.first);
  });
}

}  // namespace

void TaskRows::check_labels() const {
  if (unknown_rows_ == 0) return;
  const TaskGold& first = golds_[first_unknown_];
  Problem problem = first.error->problems().front();
  problem.message += fmt::format("; the same holds for {} of {} rows", unknown_rows_, golds_.size());
  if (task_->target == TaskTarget::kClass && !has_choices(*task_) && !found_labels_.empty()) {
    std::vector<std::string> counts;
    for (const auto& [label, rows] : found_labels_) counts.push_back(fmt::format("{} ({})", label, rows));
    problem.message += fmt::format(", whose labels are {}", fmt::join(counts, ", "));
  }
  if (task_->labels.empty() && labels_.size() > 0) {  // the labels are the model's
    problem.argument = "label_map";
    problem.remedies.push_back(
        {fmt::format("give the file's names for the model's classes {}, in this order, with {{}}",
                     fmt::join(labels_.names(), ", ")),
         "label_map"});
  } else if (are_numbers(found_labels_, labels_)) {
    problem.remedies.push_back(
        {"write names instead of numbers, or score the file as the task classification and give with {} the file's "
         "numbers for the model's classes, in the model's order",
         "label_map"});
  } else {
    problem.remedies.push_back({fmt::format("is this a file of the task {}?", task_->name)});
  }
  throw Error(ErrorCode::kTask, {std::move(problem)});
}

void TaskRows::add_slice(const std::string& value, TaskGold& gold) {
  gold.slice = number_of(value, slices_);
  if (slices_.size() > kMostSlices)
    throw Error(
        ErrorCode::kInput,
        {{.where = gold.where,
          .message = fmt::format("expected at most {} different values to group the metrics by, got one more: {}",
                                 kMostSlices, quote_json(value)),
          .argument = "by"}});
}

void TaskRows::add_label(const Example& example, TaskGold& gold) {
  if (!example.group.empty()) gold.group = number_of(example.group, groups_);
  if (!example.genre.empty()) gold.genre = number_of(example.genre, genres_);
  if (task_->target == TaskTarget::kText) {
    gold.texts = example.answers;
    gold.is_labelled = !gold.texts.empty();
    return;
  }
  if (task_->target == TaskTarget::kOrder) {
    gold.answer.documents = example.relevance;
    gold.is_labelled = !example.relevance.empty();
    return;
  }
  if (!example.values.empty()) {
    gold.answer = answer_of(example.values, example.where);
    gold.is_labelled = true;
    return;
  }
  // For a set of classes an empty cell means that none holds; for all other targets it says nothing.
  const bool is_set = task_->target == TaskTarget::kClasses;
  const std::string label = example.label.value_or("");
  const bool says_nothing = task_->target == TaskTarget::kScore
                                ? label.empty() || (label == "-1" && task_->name == "sts-b")
                                : is_no_label(label) && !labels_.find(label);
  if (!example.label || (says_nothing && !is_set)) return;
  gold.is_labelled = true;
  if (has_choices(*task_))
    gold.answer.label = *parse_number<size_t>(*example.label);
  else
    gold.answer = parse_label(*example.label, example.where);
}

std::vector<size_t> TaskRows::counted_rows(Answers answers) const {
  std::vector<size_t> rows;
  for (size_t row = 0; row < golds_.size(); ++row) {
    const bool has_answer = answers[row].has_value() || task_->target == TaskTarget::kText;
    if (golds_[row].is_labelled && !golds_[row].error && has_answer) rows.push_back(row);
  }
  return rows;
}

std::vector<uint32_t> TaskRows::units_of(std::span<const size_t> rows) const {
  std::vector<uint32_t> units;
  std::unordered_map<uint32_t, uint32_t> groups;  // those with rows that count
  for (const size_t row : rows) {
    const auto unit = static_cast<uint32_t>(units.size());
    units.push_back(task_->kind == TaskKind::kAnswers
                        ? groups.emplace(golds_[row].group, static_cast<uint32_t>(groups.size())).first->second
                        : unit);
  }
  return units;
}

RowSlices TaskRows::slices(Answers answers) const {
  const std::vector<size_t> rows = counted_rows(answers);
  const std::vector<uint32_t> units = units_of(rows);
  RowSlices result{.rows = rows.size()};
  for (std::string& value : names_by_number(slices_)) result.slices.push_back({std::move(value)});
  for (size_t i = 0; i < rows.size(); ++i) {
    const std::optional<uint32_t>& slice = golds_[rows[i]].slice;
    result.without += !slice;
    if (!slice) continue;
    RowSlice& of = result.slices[*slice];
    ++of.rows;
    of.units.push_back(units[i]);
  }
  std::erase_if(result.slices, [](const RowSlice& slice) { return slice.rows == 0; });
  for (RowSlice& slice : result.slices) {  // a group once
    std::ranges::sort(slice.units);
    slice.units.erase(std::unique(slice.units.begin(), slice.units.end()), slice.units.end());
  }
  std::ranges::sort(result.slices, [](const RowSlice& a, const RowSlice& b) {
    return a.rows != b.rows ? a.rows > b.rows : a.value < b.value;
  });
  return result;
}

std::unique_ptr<Evaluation> TaskRows::evaluate(Answers answers, const FindingRules& findings,
                                               const MetricPlan& plan) const {
  std::vector<std::string> metrics = plan.metrics.empty() ? split_words(task_->metrics) : plan.metrics;
  if (task_->target == TaskTarget::kOrder) return evaluate_orders(answers, std::move(metrics));
  std::unique_ptr<Evaluation> evaluation = task_->target == TaskTarget::kClass
                                               ? evaluate_classes(answers, plan, std::move(metrics))
                                               : evaluate_others(answers, plan, std::move(metrics));
  if (!findings.is_finding.empty()) evaluation = evaluate_findings(answers, findings, std::move(evaluation));
  return plan.scored_labels.empty() ? std::move(evaluation) : evaluate_thresholds(answers, plan, std::move(evaluation));
}

std::unique_ptr<Evaluation> TaskRows::evaluate_others(Answers answers, const MetricPlan& plan,
                                                      std::vector<std::string> metrics) const {
  if (task_->target == TaskTarget::kScore) return evaluate_scores(answers, std::move(metrics));
  std::vector<AnswerOutcome> texts;
  ClassSetOutcomes sets;
  for (const size_t row : counted_rows(answers)) {
    const auto& answer = answers[row];
    if (task_->target == TaskTarget::kText) {
      texts.push_back({answer ? std::optional(answer->text) : std::nullopt, golds_[row].texts});
      continue;
    }
    sets.gold.push_back(golds_[row].answer.labels);
    sets.predicted.push_back(answer->labels);
    sets.losses.push_back(loss_of(row, *answer));
  }
  if (task_->target == TaskTarget::kText) return make_evaluation(texts, std::move(metrics));
  return make_evaluation(std::move(sets), std::move(metrics), plan.rules);
}

std::unique_ptr<Evaluation> TaskRows::evaluate_orders(Answers answers, std::vector<std::string> metrics) const {
  std::vector<OrderOutcome> outcomes;
  for (const size_t row : counted_rows(answers))
    outcomes.push_back({golds_[row].answer.documents, answers[row]->documents});
  return make_evaluation(outcomes, std::move(metrics));
}

std::unique_ptr<Evaluation> TaskRows::evaluate_scores(Answers answers, std::vector<std::string> metrics) const {
  std::vector<ScoreOutcomes> outcomes(targets());
  for (const size_t row : counted_rows(answers)) {
    for (size_t t = 0; t < outcomes.size(); ++t) {
      outcomes[t].gold.push_back(golds_[row].answer.values[t]);
      outcomes[t].predicted.push_back(answers[row]->values[t]);
    }
  }
  if (outcomes.size() == 1) return make_evaluation(std::move(outcomes.front()), std::move(metrics));
  return make_evaluation(std::move(outcomes), labels_.names(), std::move(metrics));
}

// Minus the logarithm of the gold label's probability; for shares the expected value; for several classes the mean.
double TaskRows::loss_of(size_t row, const TaskAnswer& answer) const {
  const TaskAnswer& gold = golds_[row].answer;
  if (answer.logits.empty()) return 0;
  if (task_->target == TaskTarget::kClass && !gold.values.empty()) {
    double loss = 0;
    for (size_t label = 0; label < gold.values.size(); ++label) {
      if (gold.values[label] > 0) loss -= gold.values[label] * answer.logits[label];
    }
    return loss;
  }
  if (task_->target == TaskTarget::kClass) return -answer.logits[gold.label];
  double sum = 0;
  for (const double logit : answer.logits) sum += std::max(logit, 0.0) + std::log1p(std::exp(-std::abs(logit)));
  for (const uint32_t label : gold.labels) sum -= answer.logits[label];
  return sum / static_cast<double>(answer.logits.size());
}

std::unique_ptr<Evaluation> TaskRows::evaluate_classes(Answers answers, const MetricPlan& plan,
                                                       std::vector<std::string> metrics) const {
  ClassOutcomes outcomes;
  outcomes.genre_names = names_by_number(genres_);
  const std::vector<size_t> rows = counted_rows(answers);
  if (task_->kind == TaskKind::kAnswers) outcomes.groups = units_of(rows);
  for (const size_t row : rows) {
    const TaskGold& gold = golds_[row];
    outcomes.gold.push_back(static_cast<int32_t>(gold.answer.label));
    outcomes.predicted.push_back(static_cast<int32_t>(answers[row]->label));
    outcomes.genres.push_back(gold.genre);
    outcomes.losses.push_back(loss_of(row, *answers[row]));
    const std::vector<float>& scores = answers[row]->scores;
    outcomes.scores.push_back(scores.empty() ? 0 : scores[static_cast<size_t>(plan.rules.positive)]);
  }
  return make_evaluation(std::move(outcomes), std::move(metrics), plan.rules);
}

std::unique_ptr<Evaluation> TaskRows::evaluate_findings(Answers answers, const FindingRules& findings,
                                                        std::unique_ptr<Evaluation> classes) const {
  FindingOutcomes outcomes;
  for (const size_t row : counted_rows(answers)) {
    outcomes.scores.push_back(answers[row]->finding);
    outcomes.is_finding.push_back(findings.is_finding[golds_[row].answer.label]);
    outcomes.is_reported.push_back(findings.is_finding[answers[row]->label]);
  }
  return with_findings(std::move(classes), std::move(outcomes), findings.rates);
}

std::unique_ptr<Evaluation> TaskRows::evaluate_thresholds(Answers answers, const MetricPlan& plan,
                                                          std::unique_ptr<Evaluation> classes) const {
  std::vector<ScoredClass> scored;
  for (const size_t label : plan.scored_labels) {
    ScoredClass& scored_class = scored.emplace_back(ScoredClass{.name = labels_.name(label)});
    for (const size_t row : counted_rows(answers)) {
      const TaskAnswer& gold = golds_[row].answer;
      scored_class.scores.push_back(as_shown(answers[row]->scores[label]));
      scored_class.is_positive.push_back(task_->target == TaskTarget::kClass
                                             ? gold.label == label
                                             : std::ranges::find(gold.labels, label) != gold.labels.end());
    }
  }
  return with_thresholds(std::move(classes), std::move(scored), plan.thresholds);
}

}  // namespace deberta
