// Rows with their labels through extract(); places in bytes are compared.
#include "eval/entities.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "deberta/error.h"
#include "eval/model_rows.h"
#include "metrics/entity_evaluation.h"
#include "rows/row_input.h"

namespace deberta {
namespace {

// A row while it is answered.
struct AnsweredText {
  EntityRow row;
  std::vector<LabelledSpan> found = {};
};

class TextRows final : public RowSource {
 public:
  TextRows(const std::vector<AnsweredText>& texts, const std::vector<std::string>& labels)
      : texts_(texts), labels_(labels) {}
  bool next(Row& row) override {
    if (next_ == texts_.size()) return false;
    const EntityRow& text = texts_[next_++].row;
    row = {};
    row.where = text.where;
    row.error = text.error;
    row.text = text.text;
    if (!text.labels) return true;
    row.labels.emplace();
    for (const std::string& label : labels_of(text, labels_)) row.labels->push_back(entity_label(label));
    return true;
  }
  std::optional<double> fraction_done() const override {
    return static_cast<double>(next_) / static_cast<double>(texts_.size());
  }

 private:
  const std::vector<AnsweredText>& texts_;
  const std::vector<std::string>& labels_;
  size_t next_ = 0;
};

std::vector<LabelledSpan> spans_of(const std::vector<Entity>& entities) {
  std::vector<LabelledSpan> spans;
  for (const Entity& entity : entities) spans.push_back({entity.bytes.begin, entity.bytes.end, entity.label});
  order_entities(spans);
  return spans;
}

JsonObject settings_of(const ExtractOptions& options) {
  return {{"threshold", options.threshold},
          {"nested", options.is_nested},
          {"max-tokens", static_cast<uint64_t>(options.rules.encode.max_tokens)}};
}

void run_model(const Pipeline& pipeline, const ExtractOptions& options, const std::vector<std::string>& labels,
               std::vector<AnsweredText>& texts, const EvalHooks& hooks, EvalResult& result) {
  result.settings = settings_of(options);
  extract(pipeline, {}, options);  // refuses a model without the head before any row is read
  const auto answer = [&](std::span<const size_t> numbers, std::span<const Row> rows) {
    const std::vector<TokenAnswer> results = extract(pipeline, text_inputs(rows), options);
    for (size_t i = 0; i < rows.size(); ++i) {
      texts[numbers[i]].found = spans_of(results[i].entities);
      result.cut.rows += results[i].cut_tokens > 0;
    }
  };
  const auto refuse = [&](size_t number, const Error& error) { texts[number].row.error = error; };
  run_model_rows([&](const auto&) { return std::make_unique<TextRows>(texts, labels); }, EncodeRow(),
                 options.rules.batch_tokens, {.answer = answer, .refuse = refuse}, hooks);
  result.cut.of = texts.size();
  result.cut.max_tokens = options.rules.encode.max_tokens;
}

}  // namespace

std::vector<std::string> labels_of(const EntityRow& row, const std::vector<std::string>& all) {
  if (!row.labels) return all;
  std::set<std::string> labels(row.labels->begin(), row.labels->end());
  for (const LabelledSpan& entity : row.entities) labels.insert(entity.label);
  return {labels.begin(), labels.end()};
}

EntityRows check_entity_files(const EntityFiles& files, const EvalHooks& hooks) {
  EntityRows read = read_entity_files(files, hooks.is_stopped);
  check_stopped(hooks);
  for (const EntityRow& row : read.rows) {
    if (row.error) stop_at_bad_row(hooks, *row.error);
  }
  return read;
}

AnsweredRows answer_entities(const TaskRow& task, const EntitySettings& settings, const OpenModel& open_model,
                             const EvalHooks& hooks) {
  AnsweredRows answered;
  EntityRows read = check_entity_files(settings.input, hooks);
  const std::vector<std::string> labels = read.labels();
  if (labels.empty() && std::ranges::none_of(read.rows, [](const EntityRow& row) { return row.error.has_value(); }))
    throw Error(ErrorCode::kInput, settings.input.files.front(), "expected rows with entities, got none");
  ExtractOptions options = settings.options;
  options.labels.clear();
  for (const std::string& label : labels) options.labels.push_back(entity_label(label));
  EvalResult& result = answered.result;
  result.task = &task;
  result.rows = read.rows.size();
  result.repaired = read.repaired;
  std::vector<AnsweredText> texts;
  for (EntityRow& row : read.rows) texts.push_back({.row = std::move(row)});
  if (!labels.empty()) run_model(opened(open_model), options, labels, texts, hooks, result);
  std::vector<EntityOutcome> outcomes;
  for (const AnsweredText& text : texts) {
    if (!text.row.error) {
      outcomes.push_back({text.row.entities, text.found});
      continue;
    }
    ++result.failed;
    report_bad_row(hooks, *text.row.error);
  }
  answered.evaluation = make_evaluation(outcomes, split_words(task.metrics));
  return answered;
}

}  // namespace deberta
