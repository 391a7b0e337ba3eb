// Each sentence is counted once; samples add up.
#include "metrics/tag_evaluation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "metrics/entity_counts.h"

namespace deberta {
namespace {

class TagEvaluation final : public Evaluation {
 public:
  TagEvaluation(const std::vector<TagOutcome>& outcomes, std::vector<std::string> metrics)
      : metrics_(std::move(metrics)) {
    const TagSet set = tag_set_of(outcomes);
    for (const TagOutcome& outcome : outcomes) sentences_.push_back(count(outcome, set));
    types_.resize(numbers_.size());
    for (const auto& [type, number] : numbers_) types_[number] = type;
  }

  size_t units() const override { return sentences_.size(); }

  std::vector<Metric> metrics(std::span<const uint32_t> units) const override {
    std::vector<EntityCounts> by_type(types_.size());
    EntityCounts all;
    uint64_t words = 0, right = 0;
    for (const uint32_t unit : units) {
      const Sentence& sentence = sentences_[unit];
      for (const auto& [type, counts] : sentence.counts) by_type[type].add(counts);
      words += sentence.words;
      right += sentence.right;
    }
    for (const EntityCounts& counts : by_type) all.add(counts);
    std::vector<Metric> results;
    for (const std::string& name : metrics_) {
      if (words == 0)
        results.push_back({name, std::nullopt, "no words"});
      else if (name == "accuracy" && !has_tags_)
        results.push_back({name, std::nullopt, "entities, no tags of words"});
      else
        results.push_back(name == "accuracy" ? Metric{name, share_of(right, words), note_of_tags()}
                                             : Metric{name, all.value(name)});
    }
    for (const auto& [type, number] : numbers_) add_metrics(type, by_type[number], results);
    return results;
  }

 private:
  struct Sentence {
    std::vector<std::pair<uint32_t, EntityCounts>> counts;  // by type, for those that occur in the sentence
    uint64_t words = 0;
    uint64_t right = 0;
  };

  Sentence count(const TagOutcome& outcome, const TagSet& set) {
    std::map<uint32_t, EntityCounts> counts;
    const auto of = [&](const TaggedEntity& entity) -> EntityCounts& {
      return counts[numbers_.emplace(entity.type, static_cast<uint32_t>(numbers_.size())).first->second];
    };
    const std::vector<TaggedEntity> gold = tagged_entities(outcome.gold, set),
                                    predicted =
                                        outcome.entities ? *outcome.entities : tagged_entities(outcome.predicted, set);
    for (const TaggedEntity& entity : gold) ++of(entity).gold;
    // Both are in the order of their words.
    size_t at = 0;
    for (const TaggedEntity& entity : predicted) {
      ++of(entity).predicted;
      while (at < gold.size() && gold[at].first < entity.first) ++at;
      if (at == gold.size() || gold[at] != entity) continue;
      ++of(entity).both;
      if (!outcome.entities) compare_tags(outcome, entity);
    }
    Sentence sentence{{counts.begin(), counts.end()}, outcome.gold.size(), 0};
    has_tags_ = has_tags_ && !outcome.entities;
    for (size_t i = 0; i < outcome.predicted.size(); ++i) sentence.right += outcome.gold[i] == outcome.predicted[i];
    return sentence;
  }

  void compare_tags(const TagOutcome& outcome, const TaggedEntity& entity) {
    for (size_t i = entity.first; i <= entity.last; ++i) {
      if (outcome.gold[i] == outcome.predicted[i]) continue;
      ++differing_;
      if (example_.empty()) example_ = fmt::format("{} for {}", outcome.predicted[i], outcome.gold[i]);
      return;
    }
    ++equal_;
  }

  // Most entities that both have are written in other tags: a single one may only break its scheme.
  std::string note_of_tags() const {
    if (differing_ <= equal_) return "";
    return fmt::format("counts tags by their letters, and the two schemes differ: {}", example_);
  }

  std::vector<std::string> metrics_;
  size_t equal_ = 0, differing_ = 0;  // entities that both have, in the same tags and in others
  std::string example_;
  bool has_tags_ = true;                     // predicted
  std::map<std::string, uint32_t> numbers_;  // number of each type
  std::vector<std::string> types_;
  std::vector<Sentence> sentences_;
};

}  // namespace

std::vector<TaggedEntity> tagged_entities(const std::vector<std::string>& tags, const TagSet& set) {
  std::vector<TaggedEntity> entities;
  Tag before;
  for (size_t i = 0; i < tags.size(); ++i) {
    const Tag& tag = set.of(tags[i]);
    if (continues(before, tag))
      entities.back().last = i;
    else if (tag.place != TagPlace::kOutside)
      entities.push_back({tag.kind, i, i});
    before = tag;
  }
  return entities;
}

TagSet tag_set_of(std::span<const TagOutcome> outcomes) {
  std::set<std::string> tags;
  for (const TagOutcome& outcome : outcomes) {
    tags.insert(outcome.gold.begin(), outcome.gold.end());
    tags.insert(outcome.predicted.begin(), outcome.predicted.end());
  }
  return TagSet({tags.begin(), tags.end()});
}

std::unique_ptr<Evaluation> make_evaluation(const std::vector<TagOutcome>& outcomes, std::vector<std::string> metrics) {
  return std::make_unique<TagEvaluation>(outcomes, std::move(metrics));
}

}  // namespace deberta
