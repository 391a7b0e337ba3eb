// Keys are texts: an id, or the number of a row.
#include "data/predictions.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "base/checked.h"
#include "data/json_members.h"
#include "data/json_rows.h"
#include "data/records.h"
#include "data/row_form.h"
#include "deberta/error.h"

namespace deberta {
namespace {

constexpr size_t kMaxBytes = size_t{256} << 20;
constexpr size_t kMaxValues = 20000000;

Json read_document_of(ByteSource& source) {
  return read_json_document(source,
                            {.max_bytes = kMaxBytes, .max_depth = kMaxJsonRowDepth + 1, .max_nodes = kMaxValues});
}

std::string text_of(const Json& value, const std::string& where) {
  if (value.is_string()) return value.as_string();
  if (value.is_number() || value.is_bool()) return value.dump();
  throw Error(ErrorCode::kInput, where, "expected a string or a number, got " + value.describe());
}

}  // namespace

Predictions::Form Predictions::form_of(std::string_view path) {
  const std::optional<RowForm> form = form_of_ending(path);
  if (form == RowForm::kJson) return Form::kDocument;
  return form == RowForm::kJsonl ? Form::kLines : Form::kTable;
}

Predictions::Predictions(ByteSource source, Form form) : name_(source.name()) {
  switch (form) {
    case Form::kDocument:
      read_document(std::move(source));
      break;
    case Form::kLines:
      read_lines(std::move(source));
      break;
    case Form::kTable:
      read_table(std::move(source));
      break;
  }
  is_used_.resize(predictions_.size());
}

void Predictions::add(const std::string& key, std::string text, const std::string& where) {
  if (!keys_.emplace(key, predictions_.size()).second)
    throw Error(ErrorCode::kInput, where, fmt::format("{} appears twice", quote_json(key)));
  predictions_.push_back({where, std::move(text)});
}

void Predictions::read_table(ByteSource source) {
  goes_by_number_ = true;
  RecordReader reader(LineReader(std::move(source)), RowForm::kTsv,
                      {.needed = {{{"index"}}, {{"prediction"}}}, .without_header = {"index", "prediction"}});
  for (JsonRow row; reader.next(row);) {
    if (row.error) throw *row.error;
    const std::string& index = text_member(row.value, "index", row.where);
    const auto number = parse_number<size_t>(index);
    if (!number) throw Error(ErrorCode::kInput, row.where, "index: expected a row's number, got " + quote_json(index));
    add(std::to_string(*number), text_member(row.value, "prediction", row.where), row.where);
  }
}

void Predictions::read_lines(ByteSource source) {
  JsonLineReader reader(LineReader{std::move(source)});
  for (JsonRow row; reader.next(row);) {
    if (row.error) throw *row.error;
    read_row(row.value, row.where);
  }
}

void Predictions::read_document(ByteSource source) {
  const Json document = read_document_of(source);
  if (document.is_array()) {
    size_t count = 0;
    for (const Json& row : document.as_array()) read_row(row, fmt::format("{}: item {}", name_, ++count));
    return;
  }
  if (!document.is_object())
    throw Error(ErrorCode::kInput, name_, "expected an object from ids to answers, got " + document.describe());
  for (const auto& [id, value] : document.as_object()) {
    const std::string where = fmt::format("{}: {}", name_, quote_json(id));
    add(id, text_of(value, where), where);
  }
}

// MultiRC's rows hold their answers: {"idx": 0, "passage": {"questions": [{"answers": [{"idx": 3, "label": 1}]}]}}.
void Predictions::read_row(const Json& row, const std::string& where) {
  const Json* passage = row.find("passage");
  if (passage == nullptr) return read_label(row, where);
  for (const Json& question : array_member(*passage, "questions", where)) {
    for (const Json& answer : array_member(question, "answers", where)) read_label(answer, where);
  }
}

// {"idx": 3, "label": "entailment"}
void Predictions::read_label(const Json& row, const std::string& where) {
  const auto first_of = [&](std::initializer_list<const char*> names) {
    const Json* value = nullptr;
    for (const char* name : names) value = value != nullptr ? value : row.find(name);
    return value;
  };
  const Json* key = first_of({"idx", "index", "id"});
  const Json* label = first_of({"label", "prediction"});
  if (key == nullptr || label == nullptr)
    throw Error(ErrorCode::kInput, where, "expected an object with idx and label, got " + row.describe());
  add(text_of(*key, where), text_of(*label, where), where);
}

const FoundPrediction* Predictions::find(size_t row, const std::string& id) {
  const auto entry = keys_.find(goes_by_number_ || id.empty() ? std::to_string(row) : id);
  if (entry == keys_.end()) return nullptr;
  is_used_[entry->second] = true;
  return &predictions_[entry->second];
}

size_t Predictions::unused() const {
  return static_cast<size_t>(std::count(is_used_.begin(), is_used_.end(), false));
}

std::vector<std::pair<std::string, double>> read_numbers_by_id(ByteSource source) {
  const Json document = read_document_of(source);
  if (!document.is_object())
    throw Error(ErrorCode::kInput, source.name(), "expected an object from ids to numbers, got " + document.describe());
  std::vector<std::pair<std::string, double>> numbers;
  for (const auto& [id, value] : document.as_object()) {
    if (!value.is_number())
      throw Error(ErrorCode::kInput, fmt::format("{}: {}", source.name(), quote_json(id)),
                  "expected a number, got " + value.describe());
    numbers.emplace_back(id, value.as_number());
  }
  return numbers;
}

}  // namespace deberta
