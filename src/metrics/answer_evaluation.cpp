// Each question is scored once; samples add up.
#include "metrics/answer_evaluation.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "deberta/error.h"
#include "metrics/answer_metrics.h"

namespace deberta {
namespace {

Metric percent_of(std::string name, double sum, size_t count) {
  if (count == 0) return {std::move(name), std::nullopt, "no questions"};
  return {std::move(name), 100.0 * sum / static_cast<double>(count)};
}

class AnswerEvaluation final : public Evaluation {
 public:
  AnswerEvaluation(const std::vector<AnswerOutcome>& outcomes, std::vector<std::string> metrics)
      : metrics_(std::move(metrics)) {
    for (const AnswerOutcome& outcome : outcomes) {
      scores_.push_back(outcome.predicted ? best_score(*outcome.predicted, outcome.golds, EmptyRule::kNoWords)
                                          : AnswerScore{});
    }
  }

  size_t units() const override { return scores_.size(); }

  std::vector<Metric> metrics(std::span<const uint32_t> units) const override {
    double exact = 0, f1 = 0;
    for (const uint32_t unit : units) {
      exact += scores_[unit].exact;
      f1 += scores_[unit].f1;
    }
    std::vector<Metric> results;
    for (const std::string& name : metrics_) {
      if (name != "f1" && name != "exact_match")
        throw Error(ErrorCode::kInternal, "metrics", fmt::format("unknown metric {}", name));
      results.push_back(percent_of(name, name == "f1" ? f1 : exact, units.size()));
    }
    return results;
  }

 private:
  std::vector<AnswerScore> scores_;
  std::vector<std::string> metrics_;
};

class NullableEvaluation final : public Evaluation {
 public:
  NullableEvaluation(const std::vector<NullableOutcome>& outcomes, const NullableRules& rules) {
    std::vector<size_t> index_of(outcomes.size());  // index of each outcome among the questions
    for (size_t i = 0; i < outcomes.size(); ++i) {
      index_of[i] = questions_.size();
      if (outcomes[i].predicted) questions_.push_back(score(outcomes[i], rules.threshold));
    }
    std::vector<size_t> order = rules.order;
    if (order.empty()) {
      order.resize(outcomes.size());
      std::iota(order.begin(), order.end(), size_t{0});
    }
    for (const size_t i : order) {
      if (outcomes[i].predicted) order_.push_back(index_of[i]);
    }
    std::stable_sort(order_.begin(), order_.end(),
                     [&](size_t a, size_t b) { return questions_[a].no_answer < questions_[b].no_answer; });
    finds_thresholds_ = rules.finds_thresholds;
  }

  size_t units() const override { return questions_.size(); }

  std::vector<Metric> metrics(std::span<const uint32_t> units) const override {
    std::vector<Metric> results;
    add(
        units, "", [](const Question&) { return true; }, results);
    add(
        units, "HasAns_", [](const Question& question) { return question.has_answer; }, results);
    add(
        units, "NoAns_", [](const Question& question) { return !question.has_answer; }, results);
    if (finds_thresholds_) {
      add_best("best_exact", &AnswerScore::exact, units.size() == questions_.size(), results);
      add_best("best_f1", &AnswerScore::f1, units.size() == questions_.size(), results);
    }
    return results;
  }

 private:
  struct Question {
    bool has_answer = false;
    bool says_something = false;
    double no_answer = 0;
    AnswerScore raw;      // score of the answer as predicted
    AnswerScore counted;  // with the threshold
  };

  static Question score(const NullableOutcome& outcome, double threshold) {
    std::vector<std::string> golds;
    for (const std::string& gold : outcome.golds) {
      if (!normalize_answer(gold).empty()) golds.push_back(gold);
    }
    if (golds.empty()) golds.emplace_back();
    Question question;
    question.has_answer = !outcome.golds.empty();
    question.says_something = !outcome.predicted->empty();
    question.no_answer = outcome.no_answer;
    question.raw = best_score(*outcome.predicted, golds, EmptyRule::kEqual);
    const double nothing = question.has_answer ? 0 : 1;
    question.counted = outcome.no_answer > threshold ? AnswerScore{nothing, nothing} : question.raw;
    return question;
  }

  template <class IsCounted>
  void add(std::span<const uint32_t> units, const std::string& prefix, const IsCounted& is_counted,
           std::vector<Metric>& results) const {
    double exact = 0, f1 = 0;
    size_t total = 0;
    for (const uint32_t unit : units) {
      const Question& question = questions_[unit];
      if (!is_counted(question)) continue;
      exact += question.counted.exact;
      f1 += question.counted.f1;
      ++total;
    }
    results.push_back(percent_of(prefix + "exact", exact, total));
    results.push_back(percent_of(prefix + "f1", f1, total));
    results.push_back({prefix + "total", static_cast<double>(total)});
    results.back().is_sampled = false;
  }

  // Over all questions: at first all count as answered with "no answer", then one after another counts as answered, the
  // most certain to have an answer first.
  void add_best(const std::string& name, double AnswerScore::*score, bool is_wanted,
                std::vector<Metric>& results) const {
    double current = 0;
    for (const Question& question : questions_) current += question.has_answer ? 0 : 1;
    double best = current, threshold = 0;
    for (size_t i = 0; is_wanted && i < order_.size(); ++i) {
      const Question& question = questions_[order_[i]];
      current += question.has_answer ? question.raw.*score : question.says_something ? -1 : 0;
      if (current > best) {
        best = current;
        threshold = question.no_answer;
      }
    }
    results.push_back(percent_of(name, best, questions_.size()));
    results.back().is_sampled = false;
    results.push_back({name + "_thresh", threshold});
    results.back().is_sampled = false;
  }

  std::vector<Question> questions_;  // those with a prediction
  std::vector<size_t> order_;        // the most certain to have an answer first
  bool finds_thresholds_ = false;
};

}  // namespace

std::unique_ptr<Evaluation> make_evaluation(const std::vector<AnswerOutcome>& outcomes,
                                            std::vector<std::string> metrics) {
  return std::make_unique<AnswerEvaluation>(outcomes, std::move(metrics));
}
std::unique_ptr<Evaluation> make_evaluation(const std::vector<NullableOutcome>& outcomes, const NullableRules& rules) {
  return std::make_unique<NullableEvaluation>(outcomes, rules);
}

}  // namespace deberta
