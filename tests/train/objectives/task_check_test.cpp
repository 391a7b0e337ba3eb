// What fine-tuning refuses: heads and options of another loss, labels and rows that do not fit.
#include "train/objectives/task_check.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/expect_error.h"
#include "train/objectives/task_case.h"

namespace deberta::train::task_check_test {
namespace {

using namespace test;

enum Number { kClass, kDistribution, kScore, kLabels, kTokens, kTokensOriginal, kSpan, kChoice, kScores, kMention };

// The batch of three items, changed, then checked.
template <class Change>
void check_changed(Number number, const Change& change) {
  const TaskCase task = task_cases()[number];
  TaskBatch batch = make_task(task, 0, 3);
  change(batch);
  check_batch(form_of(task), batch, task.loss);
}

TEST(TaskCheck, EveryTaskFitsItsOwnHead) {
  for (const TaskCase& task : task_cases()) {
    EXPECT_NO_THROW(check_task(form_of(task), {.loss = task.loss})) << task.name;
    EXPECT_NO_THROW(check_batch(form_of(task), make_task(task, 0, 3), task.loss)) << task.name;
  }
}

TEST(TaskCheck, RefusesOtherHeads) {
  const auto check = [](Number number, TaskLoss loss) { check_task(form_of(task_cases()[number]), {.loss = loss}); };
  EXPECT_ERROR(check(kTokens, TaskLoss::kClass), kTask,
               "model: head: expected a head of sequences with 2 classes or more, got the head");
  EXPECT_ERROR(check(kScore, TaskLoss::kClass), kTask, "with 1");
  EXPECT_ERROR(check(kTokens, TaskLoss::kScore), kTask, "expected a head of sequences, got the head");
  EXPECT_ERROR(check(kClass, TaskLoss::kChoice), kTask, "expected a head of sequences with 1 class");
  EXPECT_ERROR(check(kSpan, TaskLoss::kLabels), kTask, "expected a head of sequences");
  EXPECT_ERROR(check(kMention, TaskLoss::kTokens), kTask, "expected a head of tokens with 2 classes or more");
  EXPECT_ERROR(check(kTokens, TaskLoss::kSpan), kTask, "expected a head of spans");
  EXPECT_ERROR(check(kTokensOriginal, TaskLoss::kMention), kTask, "expected the original head of tokens with 1 class");
}

TEST(TaskCheck, RefusesOptionsThatTheLossDoesNotHave) {
  const auto check = [](Number number, double smoothing, std::vector<float> weights_C) {
    const TaskCase task = task_cases()[number];
    check_task(form_of(task), {.loss = task.loss, .label_smoothing = smoothing, .class_weights_C = weights_C});
  };
  EXPECT_NO_THROW(check(kClass, 0.9, {1, 2, 3}));
  EXPECT_ERROR(check(kClass, 1, {}), kUsage, "label smoothing: expected 0 or more, below 1, got 1.0");
  EXPECT_ERROR(check(kSpan, NAN, {}), kUsage, "label smoothing: expected 0 or more, below 1, got nan");
  EXPECT_ERROR(check(kScore, 0.1, {}), kUsage,
               "label smoothing: expected 0, as this loss is no cross-entropy, got 0.1");
  EXPECT_ERROR(check(kClass, 0, {1, 2}), kUsage, "class weights: expected 3, one for each class, got 2");
  EXPECT_ERROR(check(kChoice, 0, {1}), kUsage, "class weights: expected 0, as this loss has no classes, got 1");
  EXPECT_ERROR(check(kClass, 0, {1, 0, 2}), kUsage, "class weights, class 1: expected a number above 0, got 0.0");
}

TEST(TaskCheck, RefusesClassesAndValuesOutOfRange) {
  EXPECT_ERROR(check_changed(kClass, [](TaskBatch& b) { b.classes_B[2] = 3; }), kInput,
               "batch, sequence 2: class: expected below 3, got 3");
  EXPECT_ERROR(check_changed(kClass, [](TaskBatch& b) { b.classes_B.pop_back(); }), kInput,
               "batch: classes: expected 3, one for each sequence, got 2");
  EXPECT_ERROR(check_changed(kDistribution, [](TaskBatch& b) { b.values_BC[4] = 1.5f; }), kInput,
               "batch, sequence 1: value: expected 0 to 1, got 1.5");
  EXPECT_ERROR(check_changed(kScore, [](TaskBatch& b) { b.values_BC[1] = INFINITY; }), kInput,
               "batch, sequence 1: value: expected a number, got inf");
  EXPECT_ERROR(check_changed(kLabels, [](TaskBatch& b) { b.values_BC[8] = -1; }), kInput,
               "batch, sequence 2: value: expected 0 to 1, got -1.0");
  EXPECT_ERROR(check_changed(kLabels, [](TaskBatch& b) { b.values_BC.pop_back(); }), kInput,
               "batch: values: expected 9, one for each sequence and class, got 8");
  EXPECT_ERROR(check_changed(kTokens, [](TaskBatch& b) { b.input.labels_P[4] = 3; }), kInput,
               "batch, label 4: class: expected below 3, got 3");
  EXPECT_ERROR(check_changed(kTokens, [](TaskBatch& b) { b.input.rows_P[1] = 0; }), kInput,
               "batch, label 1: row: expected ascending numbers below 21, got 0");
  EXPECT_ERROR(check_changed(kTokens, [](TaskBatch& b) { b.input.labels_P.pop_back(); }), kInput,
               "batch: labels: expected 9, one for each row, got 8");
}

TEST(TaskCheck, RefusesWeightsOfRowsThatAreNone) {
  const auto weigh = [](std::vector<float> weights_B) { return [=](TaskBatch& b) { b.weights_B = weights_B; }; };
  EXPECT_NO_THROW(check_changed(kScores, weigh({1, 0.5f, 3})));
  EXPECT_ERROR(check_changed(kLabels, weigh({1, 2})), kInput,
               "batch: weights: expected 3, one for each sequence, got 2");
  EXPECT_ERROR(check_changed(kClass, weigh({1, 0, 2})), kInput,
               "batch, sequence 1: weight: expected a number above 0, got 0.0");
  EXPECT_ERROR(check_changed(kScore, weigh({1, 1, NAN})), kInput, "batch, sequence 2: weight: expected a number");
  EXPECT_ERROR(check_changed(kTokens, weigh({1, 1, 1})), kInput, "batch: weights: expected 0");
}

TEST(TaskCheck, RefusesSpansOutsideTheirSequence) {
  EXPECT_ERROR(check_changed(kSpan, [](TaskBatch& b) { b.last_B[0] = 4; }), kInput,
               "batch, sequence 0: expected a token of the sequence, 0 to 3, that is not masked, got 4");
  EXPECT_ERROR(check_changed(kSpan, [](TaskBatch& b) { b.first_B[1] = 5; }), kInput,
               "batch, sequence 1: expected a token of the sequence, 4 to 10, that is not masked, got 5");
  EXPECT_ERROR(check_changed(kSpan, [](TaskBatch& b) { b.last_B[1] = 4; }), kInput,
               "batch, sequence 1: last row: expected 6 or above, got 4");
  EXPECT_ERROR(check_changed(kSpan, [](TaskBatch& b) { b.first_B.pop_back(); }), kInput,
               "batch: first rows: expected 3, one for each sequence, got 2");
}

TEST(TaskCheck, RefusesQuestionsThatDoNotFit) {
  EXPECT_ERROR(check_changed(kChoice, [](TaskBatch& b) { b.right_Q[0] = 2; }), kInput,
               "batch, question 0: choice: expected below 2, got 2");
  EXPECT_ERROR(check_changed(kChoice, [](TaskBatch& b) { b.questions[1] = 0; }), kInput,
               "batch, question 0: expected an end above its begin 0, got 0");
  EXPECT_ERROR(check_changed(kChoice, [](TaskBatch& b) { b.questions.pop_back(); }), kInput,
               "batch: starts of each question: expected numbers from 0 to 7");
  EXPECT_ERROR(check_changed(kChoice, [](TaskBatch& b) { b.questions = {}; }), kInput,
               "batch: starts of each question: expected numbers from 0 to 7");
}

TEST(TaskCheck, RefusesMentionsThatDoNotFit) {
  EXPECT_ERROR(check_changed(kMention, [](TaskBatch& b) { b.mention_rows[0] = 4; }), kInput,
               "batch, mention 0: expected a token of the sequence, 0 to 3, that is not masked, got 4");
  EXPECT_ERROR(check_changed(kMention, [](TaskBatch& b) { b.mention_sequences_M[8] = 3; }), kInput,
               "batch, mention 8: sequence: expected ascending numbers below 3, got 3");
  EXPECT_ERROR(check_changed(kMention, [](TaskBatch& b) { b.mention_sequences_M[8] = 0; }), kInput,
               "batch, mention 8: sequence: expected ascending numbers below 3, got 0");
  EXPECT_ERROR(check_changed(kMention, [](TaskBatch& b) { b.right_M[3] = 2; }), kInput,
               "batch, mention 3: value: expected 0 to 1, got 2.0");
  EXPECT_ERROR(check_changed(kMention,
                             [](TaskBatch& b) {
                               b.mentions[1] = 2;
                               b.mentions[2] = 1;
                             }),
               kInput, "batch, mention 1: expected an end above its begin 2, got 1");
}

TEST(TaskCheck, RefusesSequencesWithoutTokens) {
  EXPECT_ERROR(check_changed(kClass, [](TaskBatch& b) { b.input.starts[1] = 0; }), kInput,
               "batch, sequence 0: expected an end above its begin 0, got 0");
}

}  // namespace
}  // namespace deberta::train::task_check_test
