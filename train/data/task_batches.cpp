// Packs samples into sequences with labels by packed row; the order of an epoch is a permutation by seed.
#include "train/data/task_batches.h"

#include <algorithm>
#include <deque>
#include <string>
#include <utility>

#include "deberta/error.h"
#include "train/data/extraction_samples.h"
#include "train/data/ranking_samples.h"
#include "train/data/sample_order.h"
#include "train/ops/random_domains.h"

namespace deberta::train {
namespace {

// Packed rows, from tokens of a sequence that begins at `start`.
int32_t row_of(int32_t start, int32_t token) {
  return start + token;
}

void add_sequence(const TaskSequence& sequence, TrainBatch& input) {
  if (input.starts.empty()) input.starts.push_back(0);
  input.ids_T.insert(input.ids_T.end(), sequence.ids.begin(), sequence.ids.end());
  input.type_ids_T.resize(static_cast<size_t>(input.starts.back() + sequence.second), 0);
  input.type_ids_T.resize(input.ids_T.size(), 1);
  input.starts.push_back(static_cast<int32_t>(input.ids_T.size()));
  input.longest = std::max(input.longest, static_cast<int32_t>(sequence.ids.size()));
}

void add_mentions(const TaskSample& sample, int32_t sequence, int32_t start, TaskBatch& batch) {
  if (batch.mentions.empty()) batch.mentions.push_back(0);
  for (const TaskMention& mention : sample.mentions) {
    for (const int32_t token : mention.tokens) batch.mention_rows.push_back(row_of(start, token));
    batch.mentions.push_back(static_cast<int32_t>(batch.mention_rows.size()));
    batch.mention_sequences_M.push_back(sequence);
    batch.right_M.push_back(mention.is_right ? 1 : 0);
  }
}

void add_values(const TaskSample& sample, TaskBatch& batch) {
  batch.values_BC.insert(batch.values_BC.end(), sample.values.begin(), sample.values.end());
  batch.teacher_B.insert(batch.teacher_B.end(), sample.teacher_scores.begin(), sample.teacher_scores.end());
}

void add_group(const TaskSample& sample, int32_t sequence, TaskBatch& batch) {
  if (batch.questions.empty()) batch.questions.push_back(0);
  batch.questions.push_back(sequence + static_cast<int32_t>(sample.sequences.size()));
}

void add_entities(const TaskSample& sample, int32_t sequence, int32_t start, TaskBatch& batch) {
  LabelledWords& words = batch.words_B.emplace_back(sample.words);
  for (std::vector<int32_t>* rows : {&words.labels, &words.pieces}) {
    for (int32_t& row : *rows) row = row_of(start, row);
  }
  for (const TaskEntity& entity : sample.entities)
    batch.entities.push_back({sequence, entity.first, entity.last, entity.label});
}

void add_labels(TaskLoss loss, const TaskSample& sample, int32_t sequence, int32_t start, TaskBatch& batch) {
  switch (loss) {
    case TaskLoss::kClass:
      if (sample.values.empty()) {
        batch.classes_B.push_back(sample.label);
        break;
      }
      [[fallthrough]];
    case TaskLoss::kScore:
    case TaskLoss::kLabels:
      add_values(sample, batch);
      break;
    case TaskLoss::kTokens:
      for (const auto& [token, label] : sample.tags) {
        batch.input.rows_P.push_back(row_of(start, token));
        batch.input.labels_P.push_back(label);
      }
      break;
    case TaskLoss::kSpan:
      batch.first_B.push_back(row_of(start, sample.first));
      batch.last_B.push_back(row_of(start, sample.last));
      break;
    case TaskLoss::kChoice:
      add_group(sample, sequence, batch);
      batch.right_Q.push_back(sample.label);
      break;
    case TaskLoss::kRanking:
      add_group(sample, sequence, batch);
      add_values(sample, batch);
      break;
    case TaskLoss::kMention:
      add_mentions(sample, sequence, start, batch);
      break;
    case TaskLoss::kExtraction:
      add_entities(sample, sequence, start, batch);
      break;
  }
}

uint32_t count_sequences(const std::vector<const TaskSample*>& samples) {
  size_t count = 0;
  for (const TaskSample* sample : samples) count += sample->sequences.size();
  return static_cast<uint32_t>(count);
}

}  // namespace

TaskBatch pack_samples(TaskLoss loss, const std::vector<const TaskSample*>& samples, uint32_t first_sequence,
                       bool has_weights) {
  TaskBatch batch;
  batch.input.first_sequence = first_sequence;
  for (const TaskSample* sample : samples) {
    const auto sequence = static_cast<int32_t>(batch.input.sequences());
    const auto start = static_cast<int32_t>(batch.input.tokens());
    for (const TaskSequence& text : sample->sequences) add_sequence(text, batch.input);
    add_labels(loss, *sample, sequence, start, batch);
    if (has_weights) batch.weights_B.push_back(sample->weight);
  }
  return batch;
}

TaskBatches::TaskBatches(const TaskSamples& samples, const TaskBatchSettings& settings)
    : samples_(samples), settings_(settings) {
  if (settings.samples_per_step == 0)
    throw Error(ErrorCode::kUsage,
                {{.message = "expected at least 1 sample in a step, got 0", .argument = "batch_size"}});
  if (settings.accumulation == 0 || settings.samples_per_step % settings.accumulation != 0) {
    throw Error(ErrorCode::kUsage,
                {{.message = "expected a divisor of the batch of " + std::to_string(settings.samples_per_step) +
                             " samples, got " + std::to_string(settings.accumulation),
                  .argument = "gradient_accumulation_steps"}});
  }
}

int64_t TaskBatches::steps_per_epoch() const {
  return static_cast<int64_t>((samples_.samples.size() + settings_.samples_per_step - 1) / settings_.samples_per_step);
}

std::vector<TaskBatch> TaskBatches::make(int64_t step) const {
  const auto epoch = static_cast<uint32_t>(step / steps_per_epoch());
  const auto first = static_cast<size_t>(step % steps_per_epoch()) * settings_.samples_per_step;
  const size_t end = std::min(samples_.samples.size(), first + settings_.samples_per_step);
  const size_t part = settings_.samples_per_step / settings_.accumulation;
  const SampleOrder order(samples_.samples.size(), random_key(settings_.seed, RandomDomain::kOrder), epoch);
  const uint64_t key = random_key(settings_.seed, RandomDomain::kDocuments);
  std::deque<TaskSample> drawn;  // queries with more documents than a step has, texts behind labels
  const uint64_t label_key = random_key(settings_.seed, RandomDomain::kLabels);
  const auto sample_of = [&](size_t number) {
    const TaskSample& sample = samples_.samples[number];
    if (samples_.loss == TaskLoss::kExtraction) {
      const std::vector<int32_t> labels = draw_labels(samples_, number, label_key, epoch);
      return &std::as_const(drawn.emplace_back(with_labels(samples_, number, labels)));
    }
    const size_t most = samples_.ranking.max_documents;
    if (samples_.loss != TaskLoss::kRanking || most == 0 || sample.sequences.size() <= most) return &sample;
    const auto documents = draw_documents(sample.values, most, key, epoch, static_cast<uint32_t>(number));
    return &std::as_const(drawn.emplace_back(with_documents(sample, documents)));
  };
  std::vector<TaskBatch> batches;
  uint32_t sequences = 0;
  for (size_t begin = first; begin < end; begin += part) {
    std::vector<const TaskSample*> samples;
    for (size_t i = begin; i < std::min(end, begin + part); ++i) samples.push_back(sample_of(order(i)));
    batches.push_back(pack_samples(samples_.loss, samples, sequences, samples_.has_weights));
    sequences += count_sequences(samples);
  }
  return batches;
}

}  // namespace deberta::train
