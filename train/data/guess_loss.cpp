// The loss of the best constant answer: an entropy, a variance, or a logarithm of the number of choices.
#include "train/data/guess_loss.h"

#include <cmath>
#include <vector>

#include "train/data/ranking_samples.h"

namespace deberta::train {
namespace {

double entropy(const std::vector<double>& counts) {
  double whole = 0, sum = 0;
  for (const double count : counts) whole += count;
  for (const double count : counts) {
    if (count > 0) sum -= count / whole * std::log(count / whole);
  }
  return sum;
}

// The mean over the scores of a sample.
double variance(const TaskSamples& samples) {
  const auto count = static_cast<double>(samples.samples.size());
  const size_t scores = samples.samples.front().values.size();
  double squares = 0;
  for (size_t i = 0; i < scores; ++i) {
    double sum = 0;
    for (const TaskSample& sample : samples.samples) sum += sample.values[i];
    for (const TaskSample& sample : samples.samples) squares += std::pow(sample.values[i] - sum / count, 2);
  }
  return squares / count / static_cast<double>(scores);
}

double labels_loss(const TaskSamples& samples) {
  double sum = 0;
  for (size_t label = 0; label < samples.labels.size(); ++label) {
    double held = 0;
    for (const TaskSample& sample : samples.samples) held += sample.values[label];
    sum += entropy({held, static_cast<double>(samples.samples.size()) - held});
  }
  return sum / static_cast<double>(samples.labels.size());
}

double mentions_loss(const TaskSamples& samples) {
  double right = 0, wrong = 0;
  for (const TaskSample& sample : samples.samples) {
    for (const TaskMention& mention : sample.mentions) (mention.is_right ? right : wrong) += 1;
  }
  return entropy({right, wrong});
}

// The loss of documents that a step may draw, all with the same score: its sum, and the count that the mean divides by.
struct Guess {
  double sum = 0, count = 0, relevance = 0;
};

void add_guess(const TaskSample& query, RankingLoss loss, Guess& guess) {
  const size_t documents = query.values.size();
  if (loss == RankingLoss::kPointwise) {
    for (const float relevance : query.values) guess.relevance += double{relevance};
    guess.count += static_cast<double>(documents);
    return;
  }
  if (loss == RankingLoss::kListwise) {
    guess.sum += std::log(static_cast<double>(documents));
    ++guess.count;
    return;
  }
  for (size_t i = 0; i < documents; ++i) {
    for (size_t j = 0; j < documents; ++j) {
      if (query.values[i] <= query.values[j]) continue;
      ++guess.count;
      guess.sum += loss == RankingLoss::kPairwise
                       ? std::log(2)
                       : std::pow(double{query.teacher_scores[i]} - double{query.teacher_scores[j]}, 2);
    }
  }
}

double queries_loss(const TaskSamples& samples) {
  Guess guess;
  uint32_t number = 0;
  for (const TaskSample& query : samples.samples)
    add_guess(with_documents(query, draw_documents(query.values, samples.ranking.max_documents, 0, 0, number++)),
              samples.ranking.loss, guess);
  if (samples.ranking.loss == RankingLoss::kPointwise) return entropy({guess.relevance, guess.count - guess.relevance});
  return guess.sum / guess.count;
}

// Counts the choices of a question, else the tokens of the sequence.
double even_loss(const TaskSamples& samples) {
  double sum = 0;
  for (const TaskSample& sample : samples.samples)
    sum += std::log(static_cast<double>(samples.loss == TaskLoss::kChoice ? sample.sequences.size() : sample.tokens()));
  return sum / static_cast<double>(samples.samples.size());
}

}  // namespace

std::vector<double> count_classes(const TaskSamples& samples) {
  std::vector<double> counts(samples.labels.size());
  for (const TaskSample& sample : samples.samples) {
    if (samples.loss == TaskLoss::kClass && sample.values.empty()) counts[static_cast<size_t>(sample.label)] += 1;
    for (size_t c = 0; samples.loss == TaskLoss::kClass && c < sample.values.size(); ++c)
      counts[c] += double{sample.values[c]};
    for (const auto& [token, label] : sample.tags) counts[static_cast<size_t>(label)] += 1;
  }
  return counts;
}

double guess_loss(const TaskSamples& samples) {
  switch (samples.loss) {
    case TaskLoss::kScore:
      return variance(samples);
    case TaskLoss::kLabels:
      return labels_loss(samples);
    case TaskLoss::kRanking:
      return queries_loss(samples);
    case TaskLoss::kMention:
      return mentions_loss(samples);
    case TaskLoss::kChoice:
    case TaskLoss::kSpan:
      return even_loss(samples);
    case TaskLoss::kClass:
    case TaskLoss::kTokens:
    case TaskLoss::kExtraction:
      break;
  }
  return entropy(count_classes(samples));
}

}  // namespace deberta::train
