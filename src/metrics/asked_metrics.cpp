// Which metrics a task can have follows from what it predicts.
#include "metrics/asked_metrics.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/checked.h"
#include "base/json.h"
#include "base/nearest.h"
#include "deberta/error.h"

namespace deberta {
namespace {

constexpr std::string_view kOfClasses =
    "accuracy f1 precision recall f_beta roc_auc average_precision f1_macro f_beta_macro matthews_correlation "
    "quadratic_weighted_kappa log_loss";
constexpr std::string_view kOfSets = "f1_micro f1_macro f_beta_micro f_beta_macro accuracy log_loss";
constexpr std::string_view kOfScores = "pearson spearmanr mse quadratic_weighted_kappa";

[[noreturn]] void refuse_asked(std::string argument, std::string message, std::vector<Remedy> remedies = {}) {
  throw Error(ErrorCode::kUsage,
              {{.message = std::move(message), .argument = std::move(argument), .remedies = std::move(remedies)}});
}

void append_new(std::string_view names, std::vector<std::string>& all) {
  for (std::string& name : split_words(names)) {
    if (std::ranges::find(all, name) == all.end()) all.push_back(std::move(name));
  }
}

// Rows with one text or two, and a class, a score or several classes.
bool has_rows_of_classes(const TaskRow& task) {
  return task.kind == TaskKind::kSentence || task.kind == TaskKind::kPair || task.kind == TaskKind::kSpans ||
         task.kind == TaskKind::kAnswers;
}

// A metric of how the scores of a class order the rows.
bool needs_ranking(std::string_view metric) {
  return metric == "roc_auc" || metric == "average_precision";
}

// A metric of one class among others.
bool is_of_one_class(std::string_view metric) {
  return metric == "f1" || metric == "f_beta" || metric == "precision" || metric == "recall" ||
         metric == "combined_score" || needs_ranking(metric);
}

// Empty where no thresholds are asked for.
std::string threshold_argument(const AskedMetrics& asked) {
  if (asked.best_threshold) return "best_threshold";
  if (!asked.recall_at_precision.empty()) return "recall_at_precision";
  return asked.precision_at_recall.empty() ? "" : "precision_at_recall";
}

std::string first_argument(const AskedMetrics& asked) {
  if (!asked.names.empty()) return "metrics";
  if (asked.has_thresholds()) return threshold_argument(asked);
  if (asked.beta) return "beta";
  if (!asked.positive_label.empty()) return "positive_label";
  return asked.label_order.empty() ? "" : "label_order";
}

void check_names(const TaskRow& task, const AskedMetrics& asked) {
  const std::vector<std::string> known = asked_metrics_of(task);
  for (const std::string& name : asked.names) {
    if (std::ranges::find(known, name) != known.end()) continue;
    const std::vector<std::string_view> candidates(known.begin(), known.end());
    const std::string_view near = nearest_match(name, candidates);
    refuse_asked("metrics",
                 fmt::format("expected some of {} for the task {}, got {}{}", fmt::join(known, ", "), task.name,
                             quote_json(name), near.empty() ? "" : fmt::format("; did you mean {}?", near)));
  }
}

void check_beta(const AskedMetrics& asked) {
  const bool has_f_beta = std::ranges::any_of(asked.names, [](const auto& name) { return name.starts_with("f_beta"); });
  if (asked.beta && !(*asked.beta > 0))
    refuse_asked("beta", fmt::format("expected a number above 0, got {}", *asked.beta));
  if (has_f_beta && !asked.beta) refuse_asked("beta", "expected a number for f_beta, got none");
  if (asked.beta && !has_f_beta && !asked.best_threshold)
    refuse_asked("beta", "expected a metric or a threshold that uses beta, got neither",
                 {{"name f_beta with {}", "metrics"}, {"ask for {}", "best_threshold"}});
}

void check_shares(const AskedMetrics& asked) {
  const auto check = [](const char* argument, const std::vector<double>& shares) {
    for (const double share : shares) {
      if (!(share > 0 && share <= 1))
        refuse_asked(argument, fmt::format("expected shares above 0 and at most 1, got {}", share));
    }
  };
  check("recall_at_precision", asked.recall_at_precision);
  check("precision_at_recall", asked.precision_at_recall);
}

void check_thresholds(const TaskRow& task, const AskedMetrics& asked, bool has_model) {
  if (asked.has_thresholds() && (task.target == TaskTarget::kScore || task.kind == TaskKind::kAnswers))
    refuse_asked(threshold_argument(asked),
                 fmt::format("expected a task whose rows have classes of their own, got {}", task.name));
  check_shares(asked);
  const bool has_metrics = asked.has("log_loss") || std::ranges::any_of(asked.names, needs_ranking);
  const std::string needs_scores = has_metrics ? "metrics" : threshold_argument(asked);
  if (!has_model && !needs_scores.empty())
    refuse_asked(needs_scores, "expected a model that answers: a file of predictions has no scores");
}

// Whether anything is about one class, which has to be known.
bool needs_positive(const TaskRow& task, const AskedMetrics& asked) {
  return task.target == TaskTarget::kClass &&
         (asked.has_thresholds() || std::ranges::any_of(asked.names, is_of_one_class));
}

[[noreturn]] void refuse_without_positive(const std::vector<std::string>& names) {
  refuse_asked("positive_label", fmt::format("expected the class that the figures are about, one of {}, got none",
                                             fmt::join(names, ", ")));
}

void check_labels_asked(const TaskRow& task, const AskedMetrics& asked) {
  const bool has_kappa = task.target == TaskTarget::kClass && asked.has("quadratic_weighted_kappa");
  if (!asked.label_order.empty() && !has_kappa)
    refuse_asked("label_order", "expected a metric that uses the order of the labels, got none",
                 {{"for a task with classes, name quadratic_weighted_kappa with {}", "metrics"}});
  const bool is_needed = needs_positive(task, asked);
  const bool is_used = is_needed || (task.target == TaskTarget::kClasses && asked.has_thresholds());
  if (!asked.positive_label.empty() && !is_used)
    refuse_asked("positive_label", "expected a metric of one class or a threshold, got none",
                 {{"name f1, precision, recall or another with {}", "metrics"}, {"ask for {}", "best_threshold"}});
  if (is_needed && !task.labels.empty() && positive_label_of(task, asked).empty())
    refuse_without_positive(TaskLabels(task).names());  // for other tasks the plan knows the labels
}

size_t label_named(const TaskLabels& labels, const std::string& name, const char* argument) {
  if (const auto label = labels.find(name)) return *label;
  refuse_asked(argument,
               fmt::format("expected one of the labels {}, got {}", fmt::join(labels.names(), ", "), quote_json(name)));
}

// By label: its number, or its place in `label_order`.
std::vector<double> numbers_of_labels(const TaskLabels& labels, const std::vector<std::string>& order) {
  const auto refuse = [&](const std::string& got) {
    refuse_asked("label_order", fmt::format("expected the labels {} in their order, the lowest first, got {}",
                                            fmt::join(labels.names(), ", "), got));
  };
  std::vector<double> numbers(labels.size(), -1);
  for (size_t label = 0; label < labels.size() && order.empty(); ++label) {
    const auto number = parse_number<double>(labels.name(label));
    if (!number || !std::isfinite(*number)) refuse("none, and they are not all numbers");
    numbers[label] = *number;
  }
  for (size_t rank = 0; rank < order.size(); ++rank) {
    double& number = numbers[label_named(labels, order[rank], "label_order")];
    if (number >= 0) refuse(order[rank] + " twice");
    number = static_cast<double>(rank);
  }
  if (!order.empty() && order.size() < labels.size()) refuse(fmt::format("{}", fmt::join(order, ", ")));
  return numbers;
}

}  // namespace

bool AskedMetrics::has(std::string_view metric) const {
  return std::ranges::find(names, metric) != names.end();
}

bool AskedMetrics::needs_scores() const {
  return has_thresholds() || std::ranges::any_of(names, needs_ranking);
}

bool AskedMetrics::has_thresholds() const {
  return best_threshold || !recall_at_precision.empty() || !precision_at_recall.empty();
}

std::vector<std::string> all_asked_metrics() {
  std::vector<std::string> all;
  for (const std::string_view names : {kOfClasses, kOfSets, kOfScores}) append_new(names, all);
  return all;
}

std::vector<std::string> asked_metrics_of(const TaskRow& task) {
  if (!has_rows_of_classes(task)) return {};
  std::vector<std::string> names = split_words(task.metrics);
  append_new(task.target == TaskTarget::kClass     ? kOfClasses
             : task.target == TaskTarget::kClasses ? kOfSets
                                                   : kOfScores,
             names);
  return names;
}

std::vector<std::string> metrics_with_loss(const TaskRow& task) {
  std::vector<std::string> names = split_words(task.metrics);
  if (!asked_metrics_of(task).empty()) append_new(task.target == TaskTarget::kScore ? "mse" : "log_loss", names);
  return names;
}

void check_asked(const TaskRow& task, const AskedMetrics& asked, bool has_model) {
  const std::string first = first_argument(asked);
  if (first.empty()) return;
  if (!has_rows_of_classes(task))
    refuse_asked(first, fmt::format("expected a task whose rows have classes or a score, got {}", task.name));
  check_names(task, asked);
  check_beta(asked);
  check_thresholds(task, asked, has_model);
  check_labels_asked(task, asked);
}

std::string positive_label_of(const TaskRow& task, const AskedMetrics& asked) {
  if (!asked.positive_label.empty() || !needs_positive(task, asked)) return asked.positive_label;
  const TaskLabels own(task);
  return own.size() == 2 ? own.name(1) : "";
}

MetricPlan plan_metrics(const TaskRow& task, const TaskLabels& labels, const AskedMetrics& asked) {
  MetricPlan plan{.rules = {.beta = asked.beta.value_or(1)},
                  .thresholds = {asked.best_threshold, asked.beta.value_or(1), asked.recall_at_precision,
                                 asked.precision_at_recall}};
  for (const std::string& name : asked.names) {  // f_beta of 1 is f1
    const auto is_same = [&](const std::string& other) {
      return with_beta(other, plan.rules.beta) == with_beta(name, plan.rules.beta);
    };
    if (std::ranges::none_of(plan.metrics, is_same)) plan.metrics.push_back(name);
  }
  const std::string positive = positive_label_of(task, asked);
  if (positive.empty() && needs_positive(task, asked)) refuse_without_positive(labels.names());
  if (!positive.empty()) {
    const size_t label = label_named(labels, positive, "positive_label");
    plan.rules.positive = static_cast<int32_t>(label);
    if (asked.has_thresholds()) plan.scored_labels = {label};
  } else if (asked.has_thresholds()) {
    plan.scored_labels.resize(labels.size());
    std::iota(plan.scored_labels.begin(), plan.scored_labels.end(), size_t{0});
  }
  if (task.target == TaskTarget::kClass && asked.has("quadratic_weighted_kappa"))
    plan.rules.class_numbers = numbers_of_labels(labels, asked.label_order);
  return plan;
}

}  // namespace deberta
