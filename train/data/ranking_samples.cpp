// Refuses queries that teach no order; draws relevant documents first, and never only equal ones.
#include "train/data/ranking_samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>

#include "base/philox.h"
#include "deberta/error.h"
#include "deberta/pipeline.h"

namespace deberta::train {
namespace {

[[noreturn]] void refuse_query(std::string message, std::vector<Remedy> remedies) {
  throw Error(ErrorCode::kInput, {{.message = std::move(message), .remedies = std::move(remedies)}});
}

void check_learnable(const Example& query, RankingLoss loss) {
  const double most = std::ranges::max(query.relevance);
  if (loss == RankingLoss::kPointwise && most > 1)
    refuse_query(fmt::format("label: expected at most 1 for the pointwise loss, got {}", most),
                 {{"{} learns any labels", "ranking_loss", "pairwise"}});
  if (loss == RankingLoss::kMarginMse && query.teacher_scores.empty())
    refuse_query("expected a margin, or a score of each document, got neither",
                 {{"{} learns from labels alone", "ranking_loss", "pairwise"}});
}

bool teaches_order(const Example& query, RankingLoss loss) {
  const auto [least, most] = std::ranges::minmax(query.relevance);
  if (loss == RankingLoss::kPointwise) return true;
  return loss == RankingLoss::kListwise ? most > 0 && query.relevance.size() > 1 : least < most;
}

}  // namespace

void add_query(const SampleSource& source, const Example& example, TaskSamples& samples) {
  check_learnable(example, samples.ranking.loss);
  if (!teaches_order(example, samples.ranking.loss)) {
    ++samples.unordered;
    return;
  }
  const TextInput text{.text = example.text, .items = example.choices};
  TaskSample sample{.where = example.where};
  for (const Encoding& encoding :
       encode_input(source.tokenizer, text, RankOptions{source.rules(), {}, 0}.sequence_rules())) {
    samples.cut += encoding.cut_tokens > 0;
    sample.sequences.push_back(to_sequence(encoding));
  }
  sample.values.assign(example.relevance.begin(), example.relevance.end());
  if (samples.ranking.loss == RankingLoss::kMarginMse)
    sample.teacher_scores.assign(example.teacher_scores.begin(), example.teacher_scores.end());
  samples.samples.push_back(std::move(sample));
}

std::vector<size_t> draw_documents(std::span<const float> relevance, size_t most, uint64_t key, uint32_t epoch,
                                   uint32_t sample) {
  const PhiloxKey words{static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32)};
  std::vector<size_t> order(relevance.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (most == 0 || order.size() <= most) return order;
  std::ranges::sort(order, {}, [&](size_t d) {
    const auto number = static_cast<uint32_t>(d);
    return std::tuple(relevance[d] <= 0, philox({number / 4, sample, epoch, 0}, words)[number % 4], d);
  });
  const auto kept = order.begin() + static_cast<ptrdiff_t>(most);
  const auto differs = [&](size_t d) { return relevance[d] != relevance[order.front()]; };
  const auto other = std::find_if(kept, order.end(), differs);
  if (other != order.end() && std::none_of(order.begin(), kept, differs)) std::iter_swap(kept - 1, other);
  order.resize(most);
  std::ranges::sort(order);
  return order;
}

TaskSample with_documents(const TaskSample& sample, std::span<const size_t> documents) {
  TaskSample drawn{.where = sample.where};
  for (const size_t d : documents) {
    drawn.sequences.push_back(sample.sequences[d]);
    drawn.values.push_back(sample.values[d]);
    if (!sample.teacher_scores.empty()) drawn.teacher_scores.push_back(sample.teacher_scores[d]);
  }
  return drawn;
}

TaskSample with_longest(const TaskSample& sample, size_t most) {
  std::vector<size_t> order(sample.sequences.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](size_t d) { return sample.sequences[d].ids.size(); });
  if (most > 0 && order.size() > most) order.resize(most);
  return with_documents(sample, order);
}

}  // namespace deberta::train
