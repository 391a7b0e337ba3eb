// Writes and reads the JSON lines, and computes precision, recall, confusion and the order of badness.
#include "train/report/predictions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <string_view>
#include <utility>

#include "base/file.h"
#include "base/json.h"
#include "base/output_file.h"
#include "deberta/error.h"
#include "metrics/tag_evaluation.h"
#include "train/state/appended_file.h"
#include "train/state/trainer_state.h"

namespace deberta::train {
namespace {

JsonArray to_array(const std::vector<std::string>& texts) {
  return {texts.begin(), texts.end()};
}

JsonObject by_name(const std::vector<std::string>& names, const std::vector<double>& numbers) {
  JsonObject object;
  for (size_t i = 0; i < names.size(); ++i) object.emplace_back(names[i], to_json_number(numbers.at(i)));
  return object;
}

Json to_json(const PredictedRows& predictions, const PredictedRow& row) {
  JsonObject object{{"where", row.where}, {"text", row.text}};
  if (!row.pair.empty()) object.emplace_back("pair", row.pair);
  switch (predictions.kind) {
    case PredictionKind::kClass:
      object.emplace_back("gold", row.gold);
      object.emplace_back("predicted", row.predicted);
      break;
    case PredictionKind::kTags:
      object.emplace_back("gold", to_array(row.gold_tags));
      object.emplace_back("predicted", to_array(row.predicted_tags));
      break;
    case PredictionKind::kScore:
      object.emplace_back("gold", to_json_number(row.gold_score));
      object.emplace_back("predicted", to_json_number(row.predicted_score));
      break;
    case PredictionKind::kScores:
      object.emplace_back("gold", by_name(predictions.scores, row.gold_scores));
      object.emplace_back("predicted", by_name(predictions.scores, row.predicted_scores));
      break;
  }
  if (row.p_gold) object.emplace_back("p_gold", to_json_number(*row.p_gold));
  return object;
}

// ---- reading a line

[[noreturn]] void refuse(const std::string& where, const std::string& message) {
  throw Error(ErrorCode::kJson, where, message);
}

const Json& member(const Json& object, const char* name, const std::string& where) {
  const Json* value = object.find(name);
  if (value == nullptr) refuse(where, fmt::format("{}: missing", name));
  return *value;
}
std::string text_of(const Json& object, const char* name, const std::string& where) {
  const Json& value = member(object, name, where);
  if (!value.is_string()) refuse(where, fmt::format("{}: expected a string, got {}", name, value.describe()));
  return value.as_string();
}
double number_of(const Json& object, const char* name, const std::string& where) {
  const Json& value = member(object, name, where);
  const std::optional<double> number = parse_json_number(value);
  if (!number) refuse(where, fmt::format("{}: expected a number, got {}", name, value.describe()));
  return *number;
}
std::vector<std::string> texts_of(const Json& object, const char* name, const std::string& where) {
  const Json& value = member(object, name, where);
  std::vector<std::string> texts;
  if (!value.is_array()) refuse(where, fmt::format("{}: expected strings, got {}", name, value.describe()));
  for (const Json& text : value.as_array()) {
    if (!text.is_string()) refuse(where, fmt::format("{}: expected strings, got {}", name, text.describe()));
    texts.push_back(text.as_string());
  }
  return texts;
}

std::vector<std::string> names_of(const Json& gold) {
  std::vector<std::string> names;
  for (const JsonMember& score : gold.as_object()) names.push_back(score.first);
  return names;
}

std::vector<double> numbers_of(const Json& object, const char* name, const std::vector<std::string>& names,
                               const std::string& where) {
  const Json& value = member(object, name, where);
  if (!value.is_object() || names_of(value) != names)
    refuse(where, fmt::format("{}: expected an object of {}, got {}", name, fmt::join(names, ", "), value.describe()));
  std::vector<double> numbers;
  for (const std::string& score : names) numbers.push_back(number_of(value, score.c_str(), where));
  return numbers;
}

PredictionKind kind_of(const Json& object, const std::string& where) {
  const Json& gold = member(object, "gold", where);
  if (gold.is_array()) return PredictionKind::kTags;
  if (gold.is_object()) return PredictionKind::kScores;
  return gold.is_number() ? PredictionKind::kScore : PredictionKind::kClass;
}

PredictedRow row_of(const Json& object, const PredictedRows& predictions, const std::string& where) {
  PredictedRow row{.where = text_of(object, "where", where), .text = text_of(object, "text", where)};
  if (object.find("pair") != nullptr) row.pair = text_of(object, "pair", where);
  if (object.find("p_gold") != nullptr) row.p_gold = number_of(object, "p_gold", where);
  switch (predictions.kind) {
    case PredictionKind::kClass:
      row.gold = text_of(object, "gold", where);
      row.predicted = text_of(object, "predicted", where);
      break;
    case PredictionKind::kTags:
      row.gold_tags = texts_of(object, "gold", where);
      row.predicted_tags = texts_of(object, "predicted", where);
      if (row.gold_tags.size() != row.predicted_tags.size())
        refuse(where, fmt::format("predicted: expected {} tags as in gold, got {}", row.gold_tags.size(),
                                  row.predicted_tags.size()));
      break;
    case PredictionKind::kScore:
      row.gold_score = number_of(object, "gold", where);
      row.predicted_score = number_of(object, "predicted", where);
      break;
    case PredictionKind::kScores:
      row.gold_scores = numbers_of(object, "gold", predictions.scores, where);
      row.predicted_scores = numbers_of(object, "predicted", predictions.scores, where);
      break;
  }
  return row;
}

// ---- figures

double part(uint64_t count, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(count) / static_cast<double>(whole);
}

TagSet tag_set_of_rows(const PredictedRows& predictions) {
  std::vector<TagOutcome> outcomes;
  for (const PredictedRow& row : predictions.rows) outcomes.push_back({row.gold_tags, row.predicted_tags});
  return tag_set_of(outcomes);
}

void count_entities(const PredictedRow& row, const TagSet& set, std::map<std::string, ClassFigures>& figures) {
  const std::vector<TaggedEntity> gold = tagged_entities(row.gold_tags, set),
                                  predicted = tagged_entities(row.predicted_tags, set);
  for (const TaggedEntity& entity : gold) {
    ++figures[entity.type].support;
    figures[entity.type].both += std::find(predicted.begin(), predicted.end(), entity) != predicted.end();
  }
  for (const TaggedEntity& entity : predicted) ++figures[entity.type].predicted;
}

double badness(PredictionKind kind, const PredictedRow& row) {
  if (kind == PredictionKind::kScore || kind == PredictionKind::kScores) {
    const double error = std::abs(score_error(kind, row));
    return std::isnan(error) ? INFINITY : error;
  }
  if (row.p_gold) return std::isnan(*row.p_gold) ? INFINITY : 1 - *row.p_gold;
  if (kind == PredictionKind::kClass) return row.gold == row.predicted ? 0 : 1;
  double wrong = 0;
  for (size_t i = 0; i < row.gold_tags.size(); ++i) wrong += row.gold_tags[i] != row.predicted_tags[i];
  return wrong;
}

}  // namespace

double score_error(PredictionKind kind, const PredictedRow& row) {
  if (kind == PredictionKind::kScore) return row.predicted_score - row.gold_score;
  double squares = 0;
  for (size_t i = 0; i < row.gold_scores.size(); ++i)
    squares += std::pow(row.predicted_scores[i] - row.gold_scores[i], 2);
  return std::sqrt(squares / static_cast<double>(row.gold_scores.size()));
}

double ClassFigures::precision() const {
  return part(both, predicted);
}
double ClassFigures::recall() const {
  return part(both, support);
}
double ClassFigures::f1() const {
  return part(2 * both, support + predicted);
}

void write_predictions(const std::string& path, const PredictedRows& predictions) {
  write_output_file(path, [&](FileWriter& file) {
    for (const PredictedRow& row : predictions.rows) file.write(to_json(predictions, row).dump() + "\n");
  });
}

PredictedRows load_predictions(const std::string& path) {
  const MappedFile file(path);
  std::string_view text = to_text(file.bytes());
  PredictedRows predictions;
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string where = fmt::format("{}:{}", path, number);
    const Json object = parse_json(text.substr(0, end), where, {.max_bytes = size_t{1} << 24});
    if (!object.is_object()) refuse(where, fmt::format("expected an object, got {}", object.describe()));
    if (number == 1) predictions.kind = kind_of(object, where);
    if (number == 1 && predictions.kind == PredictionKind::kScores) predictions.scores = names_of(*object.find("gold"));
    predictions.rows.push_back(row_of(object, predictions, where));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return predictions;
}

std::vector<ClassFigures> class_figures(const PredictedRows& predictions) {
  std::map<std::string, ClassFigures> figures;
  const TagSet set = tag_set_of_rows(predictions);
  for (const PredictedRow& row : predictions.rows) {
    if (predictions.kind == PredictionKind::kTags) count_entities(row, set, figures);
    if (predictions.kind != PredictionKind::kClass) continue;
    ++figures[row.gold].support;
    ++figures[row.predicted].predicted;
    figures[row.gold].both += row.gold == row.predicted;
  }
  std::vector<ClassFigures> classes;
  for (auto& [name, counts] : figures) {
    counts.name = name;
    classes.push_back(counts);
  }
  return classes;
}

std::vector<std::vector<uint64_t>> confusion(const PredictedRows& predictions, const std::vector<std::string>& names) {
  std::map<std::string, size_t> indices;
  for (size_t i = 0; i < names.size(); ++i) indices.emplace(names[i], i);
  std::vector<std::vector<uint64_t>> counts(names.size(), std::vector<uint64_t>(names.size()));
  for (const PredictedRow& row : predictions.rows) {
    const auto gold = indices.find(row.gold), predicted = indices.find(row.predicted);
    if (gold != indices.end() && predicted != indices.end()) ++counts[gold->second][predicted->second];
  }
  return counts;
}

std::vector<size_t> worst_rows(const PredictedRows& predictions, size_t most) {
  std::vector<double> errors;
  for (const PredictedRow& row : predictions.rows) errors.push_back(badness(predictions.kind, row));
  std::vector<size_t> rows(errors.size());
  std::iota(rows.begin(), rows.end(), size_t{0});
  std::stable_sort(rows.begin(), rows.end(), [&](size_t a, size_t b) { return errors[a] > errors[b]; });
  std::erase_if(rows, [&](size_t row) { return !(errors[row] > 0); });
  rows.resize(std::min(rows.size(), most));
  return rows;
}

}  // namespace deberta::train
