// Answers the evaluation's rows in groups, and pairs each answer with its gold label and probability.
#include "train/finetune/task_predictions.h"

#include <algorithm>
#include <utility>

#include "eval/example_files.h"
#include "metrics/task_inputs.h"
#include "metrics/task_rows.h"
#include "train/finetune/task_evaluation.h"
#include "train/run/evaluation.h"

namespace deberta::train {
namespace {

constexpr size_t kRowsAtOnce = 256;

bool is_shown(const TaskRow& task) {
  const bool has_one_text = task.kind == TaskKind::kSentence || task.kind == TaskKind::kPair ||
                            task.kind == TaskKind::kSpans || task.kind == TaskKind::kAnswers;
  return has_one_text && task.target != TaskTarget::kClasses;
}

// Texts with what is right about them.
struct LabelledRow {
  std::string where;
  TaskInput input;
  TaskAnswer gold;
};

// The rows of the whole evaluation; the labels of an open set are those of the model.
std::vector<LabelledRow> read_rows(const TaskFiles& settings, const Tokenizer& tokenizer, TaskRows& rows,
                                   const RunHooks& hooks) {
  std::vector<LabelledRow> labelled;
  ExampleFiles files(settings.evaluation, *settings.task, [&] { return hooks.stop() == StopRequest::kStop; });
  for (Example example; files.next(example);) {
    rows.add(example);
    const TaskGold& gold = rows.golds().back();
    if (gold.error || !gold.is_labelled || error_of_windows(settings, tokenizer, example)) continue;
    labelled.push_back({example.where, input_of(*settings.task, std::move(example)), gold.answer});
  }
  return labelled;
}

std::string place_in_report(const std::string& where) {
  return where.substr(where.rfind('/') + 1);  // without folders: the report goes to others
}

class Predictor {
 public:
  Predictor(const Pipeline& pipeline, const TaskFiles& settings, const TaskRows& rows)
      : pipeline_(pipeline), rules_(settings.evaluation_rules), rows_(rows), task_(*settings.task) {
    predictions_.kind = kind();
    if (kind() == PredictionKind::kScores) predictions_.scores = rows.labels().names();
    if (kind() != PredictionKind::kScore)
      classes_ = map_classes(rows.labels(), pipeline.config.labels, static_cast<size_t>(pipeline.model.labels()), {});
  }

  void add(std::span<const LabelledRow> part) {
    std::vector<TextInput> inputs;
    for (const LabelledRow& row : part) {
      inputs.push_back({.text = row.input.text});
      if (row.input.pair) inputs.back().pair = *row.input.pair;
    }
    const ScoreFunction function = is_score() ? ScoreFunction::kNone : ScoreFunction::kSoftmax;
    const std::vector<SequenceAnswer> answers = classify(pipeline_, inputs, {rules_, function, 0});
    for (size_t i = 0; i < part.size(); ++i) add(part[i], answers[i].scores);
  }

  PredictedRows take() { return std::move(predictions_); }

 private:
  bool is_score() const { return task_.target == TaskTarget::kScore; }
  PredictionKind kind() const {
    if (!is_score()) return PredictionKind::kClass;
    return rows_.labels().size() > 0 ? PredictionKind::kScores : PredictionKind::kScore;
  }

  void add(const LabelledRow& row, const std::vector<float>& scores_C) {
    PredictedRow& prediction = predictions_.rows.emplace_back();
    prediction.where = place_in_report(row.where);
    prediction.text = row.input.text;
    prediction.pair = row.input.pair.value_or("");
    if (kind() == PredictionKind::kScores) {
      prediction.gold_scores = row.gold.values;
      prediction.predicted_scores.resize(classes_.size());
      for (size_t c = 0; c < classes_.size(); ++c) prediction.predicted_scores[classes_[c]] = scores_C[c];
      return;
    }
    if (is_score()) {
      prediction.gold_score = row.gold.values.front();
      prediction.predicted_score = scores_C.front();
      return;
    }
    const auto best = static_cast<size_t>(std::ranges::max_element(scores_C) - scores_C.begin());
    const auto right = static_cast<size_t>(std::ranges::find(classes_, row.gold.label) - classes_.begin());
    prediction.gold = rows_.labels().name(row.gold.label);
    prediction.predicted = rows_.labels().name(classes_[best]);
    prediction.p_gold = scores_C[right];
  }

  const Pipeline& pipeline_;
  const EncodingRules& rules_;
  const TaskRows& rows_;
  const TaskRow& task_;
  std::vector<size_t> classes_;  // the label of each class of the model, of several scores too
  PredictedRows predictions_;
};

std::optional<PredictedRows> predict_answers(const Pipeline& pipeline, const TaskFiles& settings,
                                             const RunHooks& hooks) {
  const TaskRow& task = *settings.task;
  const bool is_open = task.target == TaskTarget::kClass && task.labels.empty();
  const bool has_scores = task.target == TaskTarget::kScore && settings.evaluation.label_fields.size() > 1;
  TaskRows rows(task, is_open      ? TaskLabels(pipeline.config.labels)
                      : has_scores ? TaskLabels(settings.evaluation.label_fields)
                                   : TaskLabels(task));
  const std::vector<LabelledRow> labelled = read_rows(settings, pipeline.tokenizer, rows, hooks);
  Predictor predictor(pipeline, settings, rows);
  for (size_t first = 0; first < labelled.size(); first += kRowsAtOnce) {
    if (hooks.stop() == StopRequest::kStop) return std::nullopt;
    predictor.add(std::span(labelled).subspan(first, std::min(kRowsAtOnce, labelled.size() - first)));
  }
  return predictor.take();
}

std::optional<PredictedRows> predict_tags(const Pipeline& pipeline, const TaskFiles& settings, const RunHooks& hooks) {
  PredictedRows predictions{.kind = PredictionKind::kTags};
  EvalResult result;
  try {
    for (TaggedSentence& sentence : tag_sentences(
             *settings.task, tag_settings(settings), [&]() -> const Pipeline& { return pipeline; },
             without_bad_rows(settings, to_eval_hooks(hooks)), result)) {
      if (sentence.error) continue;
      predictions.rows.push_back({.where = place_in_report(sentence.where),
                                  .text = sentence.text(),
                                  .gold_tags = std::move(sentence.tags.gold),
                                  .predicted_tags = std::move(sentence.tags.predicted)});
    }
  } catch (const EvalStopped&) {
    return std::nullopt;
  }
  return predictions;
}

}  // namespace

std::optional<PredictedRows> predict_rows(const Pipeline& pipeline, const TaskFiles& settings, const RunHooks& hooks) {
  const TaskRow& task = *settings.task;
  if (settings.evaluation.files.empty()) return std::nullopt;
  if (task.kind == TaskKind::kTokens) return predict_tags(pipeline, settings, hooks);
  return is_shown(task) ? predict_answers(pipeline, settings, hooks) : std::nullopt;
}

}  // namespace deberta::train
