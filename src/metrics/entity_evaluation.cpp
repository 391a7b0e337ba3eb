// Each text is counted once, by label; samples add up.
#include "metrics/entity_evaluation.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "metrics/entity_counts.h"

namespace deberta {
namespace {

bool is_before(const LabelledSpan& a, const LabelledSpan& b) {
  return std::tie(a.begin, a.end, a.label) < std::tie(b.begin, b.end, b.label);
}

class EntityEvaluation final : public Evaluation {
 public:
  EntityEvaluation(const std::vector<EntityOutcome>& outcomes, std::vector<std::string> metrics)
      : metrics_(std::move(metrics)) {
    std::set<std::string> labels;
    for (const EntityOutcome& outcome : outcomes) {
      for (const auto* spans : {&outcome.gold, &outcome.predicted}) {
        for (const LabelledSpan& span : *spans) labels.insert(span.label);
      }
    }
    labels_.assign(labels.begin(), labels.end());
    for (const EntityOutcome& outcome : outcomes) texts_.push_back(count(outcome));
  }

  size_t units() const override { return texts_.size(); }

  std::vector<Metric> metrics(std::span<const uint32_t> units) const override {
    std::vector<EntityCounts> by_label(labels_.size());
    for (const uint32_t unit : units) {
      for (const auto& [label, counts] : texts_[unit]) by_label[label].add(counts);
    }
    EntityCounts all;
    for (const EntityCounts& counts : by_label) all.add(counts);
    std::vector<Metric> results;
    for (const std::string& name : metrics_) results.push_back({name, all.value(name)});
    for (size_t n = 0; n < labels_.size(); ++n) add_metrics(labels_[n], by_label[n], results);
    return results;
  }

 private:
  using Text = std::vector<std::pair<uint32_t, EntityCounts>>;  // by the label's number, for those that occur

  uint32_t number_of(const std::string& label) const {
    return static_cast<uint32_t>(std::ranges::lower_bound(labels_, label) - labels_.begin());
  }

  Text count(const EntityOutcome& outcome) const {
    std::map<uint32_t, EntityCounts> counts;
    for (const LabelledSpan& span : outcome.gold) ++counts[number_of(span.label)].gold;
    for (const LabelledSpan& span : outcome.predicted) ++counts[number_of(span.label)].predicted;
    std::vector<LabelledSpan> both;
    std::set_intersection(outcome.gold.begin(), outcome.gold.end(), outcome.predicted.begin(), outcome.predicted.end(),
                          std::back_inserter(both), is_before);
    for (const LabelledSpan& span : both) ++counts[number_of(span.label)].both;
    return {counts.begin(), counts.end()};
  }

  std::vector<std::string> metrics_;
  std::vector<std::string> labels_;  // sorted
  std::vector<Text> texts_;
};

}  // namespace

std::unique_ptr<Evaluation> make_evaluation(const std::vector<EntityOutcome>& outcomes,
                                            std::vector<std::string> metrics) {
  return std::make_unique<EntityEvaluation>(outcomes, std::move(metrics));
}

}  // namespace deberta
