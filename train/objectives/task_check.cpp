// Tables of heads and sizes, and a check for each kind of label; the first fault is thrown with its location.
#include "train/objectives/task_check.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "deberta/error.h"
#include "heads/head_facts.h"

namespace deberta::train {
namespace {

using std::to_string;

bool is_of_sequences(const HeadFacts& head) {
  return head.is_per_sequence() && head.has_classes();
}
bool is_of_tokens(const HeadFacts& head) {
  return head.takes_rows() && head.has_classes();
}
bool is_of_spans(const HeadFacts& head) {
  return head.answers == HeadAnswers::kEnds;
}
bool is_of_mentions(const HeadFacts& head) {
  return head.groups == HeadGroups::kAnyRows && head.has_classes();
}

bool is_of_entities(const HeadFacts& head) {
  return head.takes_labelled_words();
}

struct LossRow {
  TaskLoss loss;
  bool (*fits)(const HeadFacts& head);
  int64_t least_labels, most_labels;
  const char* expected;
};
constexpr int64_t kAny = INT64_MAX;
constexpr LossRow kLosses[] = {
    {TaskLoss::kClass, is_of_sequences, 2, kAny, "a head of sequences with 2 classes or more"},
    {TaskLoss::kScore, is_of_sequences, 1, kAny, "a head of sequences"},
    {TaskLoss::kLabels, is_of_sequences, 1, kAny, "a head of sequences"},
    {TaskLoss::kTokens, is_of_tokens, 2, kAny, "a head of tokens with 2 classes or more"},
    {TaskLoss::kSpan, is_of_spans, 0, kAny, "a head of spans"},
    {TaskLoss::kChoice, is_of_sequences, 1, 1, "a head of sequences with 1 class"},
    {TaskLoss::kRanking, is_of_sequences, 1, 1, "a head of sequences with 1 class"},
    {TaskLoss::kMention, is_of_mentions, 1, 1, "the original head of tokens with 1 class"},
    {TaskLoss::kExtraction, is_of_entities, 0, kAny, "a head of entities (GLiNER)"},
};

void check_head(const ModelForm& form, TaskLoss loss) {
  const HeadFacts& head = facts_of(form.head);
  const char* expected = "";
  for (const LossRow& row : kLosses) {
    if (row.loss != loss) continue;
    if (row.fits(head) && form.labels >= row.least_labels && form.labels <= row.most_labels) return;
    expected = row.expected;
  }
  throw Error(ErrorCode::kTask, "model",
              "head: expected " + std::string(expected) + ", got the head " + std::string(head.name) + " with " +
                  to_string(form.labels));
}

bool has_classes(TaskLoss loss) {
  return loss == TaskLoss::kClass || loss == TaskLoss::kTokens;
}

void check_weights(const ModelForm& form, const TaskOptions& options) {
  const size_t count = options.class_weights_C.size();
  const size_t expected = has_classes(options.loss) ? static_cast<size_t>(form.labels) : 0;
  if (count == 0) return;
  if (count != expected) {
    throw Error(ErrorCode::kUsage, "class weights",
                "expected " + to_string(expected) +
                    (expected > 0 ? ", one for each class" : ", as this loss has no classes") + ", got " +
                    to_string(count));
  }
  for (size_t c = 0; c < count; ++c) {
    const float weight = options.class_weights_C[c];
    if (weight > 0 && std::isfinite(weight)) continue;
    throw Error(ErrorCode::kUsage, "class weights, class " + to_string(c),
                "expected a number above 0, got " + to_string(weight));
  }
}

void check_smoothing(const TaskOptions& options) {
  const double smoothing = options.label_smoothing;
  const bool is_entropy =
      has_classes(options.loss) || options.loss == TaskLoss::kSpan || options.loss == TaskLoss::kChoice;
  if (smoothing == 0 || (is_entropy && smoothing > 0 && smoothing < 1)) return;
  throw Error(ErrorCode::kUsage, "label smoothing",
              std::string("expected ") + (is_entropy ? "0 or more, below 1" : "0, as this loss is no cross-entropy") +
                  ", got " + to_string(smoothing));
}

[[noreturn]] void refuse(const char* noun, size_t number, const std::string& message) {
  throw Error(ErrorCode::kInput, std::string("batch, ") + noun + " " + to_string(number), message);
}

void check_count(const char* what, size_t got, size_t expected, const char* each) {
  if (got == expected) return;
  throw Error(
      ErrorCode::kInput, "batch",
      std::string(what) + ": expected " + to_string(expected) + ", one for each " + each + ", got " + to_string(got));
}

// Below 0: does not count.
void check_classes(std::span<const int32_t> classes, int64_t limit, const char* noun) {
  for (size_t n = 0; n < classes.size(); ++n) {
    if (classes[n] < limit) continue;
    refuse(noun, n, "class: expected below " + to_string(limit) + ", got " + to_string(classes[n]));
  }
}

void check_values(std::span<const float> values, size_t columns, const char* noun, float least, float most) {
  for (size_t n = 0; n < values.size(); ++n) {
    if (std::isfinite(values[n]) && values[n] >= least && values[n] <= most) continue;
    refuse(noun, n / columns,
           "value: expected " + (most <= 1 ? std::string("0 to 1") : "a number") + ", got " + to_string(values[n]));
  }
}

// The `starts` of groups: from 0 to `rows`, none empty unless `allows_empty`.
void check_starts(std::span<const int32_t> starts, size_t rows, const char* noun, bool allows_empty) {
  if (starts.empty() || starts.front() != 0 || static_cast<size_t>(starts.back()) != rows) {
    throw Error(ErrorCode::kInput, "batch",
                std::string("starts of each ") + noun + ": expected numbers from 0 to " + to_string(rows));
  }
  for (size_t n = 0; n + 1 < starts.size(); ++n) {
    if (starts[n + 1] > starts[n] || (allows_empty && starts[n + 1] == starts[n])) continue;
    refuse(noun, n, "expected an end above its begin " + to_string(starts[n]) + ", got " + to_string(starts[n + 1]));
  }
}

void check_class_labels(const ModelForm& form, const TaskBatch& batch) {
  const size_t sequences = batch.input.sequences();
  if (batch.values_BC.empty()) {
    check_count("classes", batch.classes_B.size(), sequences, "sequence");
    return check_classes(batch.classes_B, form.labels, "sequence");
  }
  const auto classes = static_cast<size_t>(form.labels);
  check_count("values", batch.values_BC.size(), sequences * classes, "sequence and class");
  check_values(batch.values_BC, classes, "sequence", 0, 1);
}

void check_value_labels(const ModelForm& form, const TaskBatch& batch, float least, float most) {
  const auto classes = static_cast<size_t>(form.labels);
  check_count("values", batch.values_BC.size(), batch.input.sequences() * classes, "sequence and class");
  check_values(batch.values_BC, classes, "sequence", least, most);
}

void check_tokens(const ModelForm& form, const TrainBatch& input) {
  check_count("labels", input.labels_P.size(), input.rows_P.size(), "row");
  for (size_t n = 0; n < input.rows_P.size(); ++n) {
    const int32_t row = input.rows_P[n];
    if (row >= 0 && static_cast<size_t>(row) < input.tokens() && (n == 0 || row > input.rows_P[n - 1])) continue;
    refuse("label", n,
           "row: expected ascending numbers below " + to_string(input.tokens()) + ", got " + to_string(row));
  }
  check_classes(input.labels_P, form.labels, "label");
}

void check_row_weights(const TaskBatch& batch, TaskLoss loss) {
  const bool has_rows = loss == TaskLoss::kClass || loss == TaskLoss::kScore || loss == TaskLoss::kLabels;
  check_count("weights", batch.weights_B.size(), has_rows ? batch.input.sequences() : 0, "sequence");
  for (size_t b = 0; b < batch.weights_B.size(); ++b) {
    const float weight = batch.weights_B[b];
    if (!(weight > 0 && std::isfinite(weight)))
      refuse("sequence", b, "weight: expected a number above 0, got " + to_string(weight));
  }
}

bool is_token_of(const TrainBatch& input, size_t sequence, int32_t row) {
  return row >= input.starts[sequence] && row < input.starts[sequence + 1] &&
         (input.mask_T.empty() || input.mask_T[static_cast<size_t>(row)] != 0);
}

std::string tokens_of(const TrainBatch& input, size_t sequence) {
  return "expected a token of the sequence, " + to_string(input.starts[sequence]) + " to " +
         to_string(input.starts[sequence + 1] - 1) + ", that is not masked, got ";
}

void check_spans(const TaskBatch& batch) {
  const size_t sequences = batch.input.sequences();
  check_count("first rows", batch.first_B.size(), sequences, "sequence");
  check_count("last rows", batch.last_B.size(), sequences, "sequence");
  for (size_t b = 0; b < sequences; ++b) {
    for (const int32_t row : {batch.first_B[b], batch.last_B[b]}) {
      if (!is_token_of(batch.input, b, row)) refuse("sequence", b, tokens_of(batch.input, b) + to_string(row));
    }
    if (batch.last_B[b] >= batch.first_B[b]) continue;
    refuse("sequence", b,
           "last row: expected " + to_string(batch.first_B[b]) + " or above, got " + to_string(batch.last_B[b]));
  }
}

void check_choices(const TaskBatch& batch) {
  check_starts(batch.questions, batch.input.sequences(), "question", false);
  check_count("right choices", batch.right_Q.size(), batch.questions.size() - 1, "question");
  for (size_t q = 0; q < batch.right_Q.size(); ++q) {
    const int32_t choices = batch.questions[q + 1] - batch.questions[q];
    if (batch.right_Q[q] < choices) continue;
    refuse("question", q, "choice: expected below " + to_string(choices) + ", got " + to_string(batch.right_Q[q]));
  }
}

void check_queries(const TaskBatch& batch) {
  const size_t documents = batch.input.sequences();
  check_starts(batch.questions, documents, "query", false);
  check_count("values", batch.values_BC.size(), documents, "document");
  check_values(batch.values_BC, 1, "document", 0, INFINITY);
  if (!batch.teacher_B.empty()) check_count("scores of a teacher", batch.teacher_B.size(), documents, "document");
  check_values(batch.teacher_B, 1, "document", -INFINITY, INFINITY);
}

void check_mentions(const TaskBatch& batch) {
  check_starts(batch.mentions, batch.mention_rows.size(), "mention", true);
  const size_t mentions = batch.mentions.size() - 1;
  check_count("sequences", batch.mention_sequences_M.size(), mentions, "mention");
  check_count("labels", batch.right_M.size(), mentions, "mention");
  check_values(batch.right_M, 1, "mention", 0, 1);
  for (size_t m = 0; m < mentions; ++m) {
    const int32_t sequence = batch.mention_sequences_M[m];
    const int32_t before = m == 0 ? 0 : batch.mention_sequences_M[m - 1];
    if (sequence < before || static_cast<size_t>(sequence) >= batch.input.sequences()) {
      refuse("mention", m,
             "sequence: expected ascending numbers below " + to_string(batch.input.sequences()) + ", got " +
                 to_string(sequence));
    }
    const auto number = static_cast<size_t>(sequence);
    for (int32_t p = batch.mentions[m]; p < batch.mentions[m + 1]; ++p) {
      const int32_t row = batch.mention_rows[static_cast<size_t>(p)];
      if (!is_token_of(batch.input, number, row)) refuse("mention", m, tokens_of(batch.input, number) + to_string(row));
    }
  }
}

// Rows of the sequence, and words that begin where those before them end.
void check_words(const TaskBatch& batch, size_t b) {
  const LabelledWords& words = batch.words_B[b];
  for (const std::vector<int32_t>* rows : {&words.labels, &words.pieces}) {
    for (const int32_t row : *rows) {
      if (!is_token_of(batch.input, b, row)) refuse("sequence", b, tokens_of(batch.input, b) + to_string(row));
    }
  }
  const std::vector<int32_t>& starts = words.word_starts;
  const bool is_right = !starts.empty() && starts.front() == 0 && std::ranges::is_sorted(starts) &&
                        static_cast<size_t>(starts.back()) == words.pieces.size();
  if (!is_right)
    refuse("sequence", b, "starts of words: expected ascending numbers from 0 to " + to_string(words.pieces.size()));
}

void check_entities(const TaskBatch& batch) {
  check_count("labelled words", batch.words_B.size(), batch.input.sequences(), "sequence");
  for (size_t b = 0; b < batch.words_B.size(); ++b) check_words(batch, b);
  for (size_t n = 0; n < batch.entities.size(); ++n) {
    const EntityTarget& entity = batch.entities[n];
    const auto sequences = static_cast<int32_t>(batch.words_B.size());
    if (entity.sequence < 0 || entity.sequence >= sequences)
      refuse("entity", n, "sequence: expected below " + to_string(sequences) + ", got " + to_string(entity.sequence));
    const LabelledWords& words = batch.words_B[static_cast<size_t>(entity.sequence)];
    if (entity.first < 0 || entity.last < entity.first || static_cast<size_t>(entity.last) >= words.words())
      refuse("entity", n,
             "words: expected a range of " + to_string(words.words()) + ", got " + to_string(entity.first) + " to " +
                 to_string(entity.last));
    if (entity.label < 0 || static_cast<size_t>(entity.label) >= words.labels.size())
      refuse("entity", n,
             "label: expected below " + to_string(words.labels.size()) + ", got " + to_string(entity.label));
  }
}

void check_focal(const TaskOptions& options) {
  const FocalOptions& focal = options.focal;
  if (options.loss != TaskLoss::kExtraction && (focal.alpha || focal.gamma != 0))
    throw Error(ErrorCode::kUsage, "focal loss", "expected a head of entities");
  if (focal.alpha && !(*focal.alpha >= 0 && *focal.alpha <= 1))
    throw Error(ErrorCode::kUsage, "focal loss", "alpha: expected 0 to 1, got " + to_string(*focal.alpha));
  if (!(focal.gamma >= 0 && std::isfinite(focal.gamma)))
    throw Error(ErrorCode::kUsage, "focal loss", "gamma: expected 0 or more, got " + to_string(focal.gamma));
}

}  // namespace

void check_task(const ModelForm& form, const TaskOptions& options) {
  check_head(form, options.loss);
  check_weights(form, options);
  check_smoothing(options);
  check_focal(options);
}

void check_batch(const ModelForm& form, const TaskBatch& batch, TaskLoss loss) {
  check_starts(batch.input.starts, batch.input.tokens(), "sequence", false);
  if (!batch.weights_B.empty()) check_row_weights(batch, loss);
  switch (loss) {
    case TaskLoss::kClass:
      return check_class_labels(form, batch);
    case TaskLoss::kScore:
      return check_value_labels(form, batch, -INFINITY, INFINITY);
    case TaskLoss::kLabels:
      return check_value_labels(form, batch, 0, 1);
    case TaskLoss::kTokens:
      return check_tokens(form, batch.input);
    case TaskLoss::kSpan:
      return check_spans(batch);
    case TaskLoss::kChoice:
      return check_choices(batch);
    case TaskLoss::kRanking:
      return check_queries(batch);
    case TaskLoss::kMention:
      return check_mentions(batch);
    case TaskLoss::kExtraction:
      return check_entities(batch);
  }
}

}  // namespace deberta::train
