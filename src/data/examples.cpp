// The loop over rows; the forms are in example_forms.cpp, choice_forms.cpp, ranking_form.cpp and
// superglue_forms.cpp.
#include "data/examples.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include "data/example_forms.h"
#include "data/json_members.h"

namespace deberta {
namespace {

ReadForm function_of(ExampleForm form) {
  switch (form) {
    case ExampleForm::kText:
    case ExampleForm::kLines:
      return read_text_form;
    case ExampleForm::kWic:
      return read_wic;
    case ExampleForm::kWsc:
      return read_wsc;
    case ExampleForm::kMultirc:
      return read_multirc;
    case ExampleForm::kRecord:
      return read_record;
    case ExampleForm::kCopa:
      return read_copa;
    case ExampleForm::kSwag:
      return read_swag;
    case ExampleForm::kRace:
      return read_race;
    case ExampleForm::kAlphaNli:
      return read_alpha_nli;
    case ExampleForm::kRanking:
      return read_ranking;
  }
  throw Error(ErrorCode::kInternal, "examples", "a form without a reader");
}

std::vector<SoughtField> sought_fields(const ExampleRules& rules) {
  std::vector<SoughtField> sought;
  if (rules.needs_label) sought.push_back({rules.fields.label});
  for (const std::string& name : rules.value_fields) sought.push_back({{{name}, "label_field"}});
  for (const FieldNames& field : {rules.slice_by, rules.weight_field}) {
    if (!field.names.empty()) sought.push_back({field});
  }
  return sought;
}

RecordColumns needed(const std::vector<std::vector<std::string>>& columns) {
  RecordColumns result;
  for (const std::vector<std::string>& names : columns) result.needed.push_back({names});
  return result;
}

// The published tables come with these columns.
RecordColumns columns_of(const ExampleRules& rules) {
  if (rules.form == ExampleForm::kSwag) return needed({{"sent1", "prompt"}, {"ending0", "A"}, {"ending1", "B"}});
  if (rules.form == ExampleForm::kCopa) return needed({{"premise"}, {"choice1"}, {"choice2"}, {"question"}});
  if (rules.form == ExampleForm::kAlphaNli) return needed({{"obs1"}, {"obs2"}, {"hyp1"}, {"hyp2"}});
  RecordColumns columns{{}, rules.without_header};
  FieldNames second = rules.fields.pair;
  if (rules.form == ExampleForm::kRanking) std::ranges::copy(positive_names(), std::back_inserter(second.names));
  for (const FieldNames& field : {rules.fields.text, second}) {
    if (!field.names.empty()) columns.needed.push_back(field);
  }
  for (const SoughtField& sought : sought_fields(rules)) columns.needed.push_back(sought.field);
  return columns;
}

// Rows of these forms hold lists: no table can.
bool is_nested(ExampleForm form) {
  return form == ExampleForm::kWic || form == ExampleForm::kWsc || form == ExampleForm::kMultirc ||
         form == ExampleForm::kRecord || form == ExampleForm::kRace;
}

// For files whose name does not determine the format.
RowForm default_form(ExampleForm form) {
  if (form == ExampleForm::kText) return RowForm::kTsv;
  return form == ExampleForm::kLines ? RowForm::kText : RowForm::kJsonl;
}

RowForm form_for(const std::string& name, ExampleForm form, std::optional<RowForm> requested) {
  if (is_nested(form)) return RowForm::kJsonl;
  if (requested) return *requested;
  const std::optional<RowForm> ending = form_of_ending(name);
  // Published tables are called .txt too.
  const bool tells = ending && *ending != RowForm::kText && *ending != RowForm::kConll;
  return tells ? *ending : default_form(form);
}

}  // namespace

ExampleReader::ExampleReader(ByteSource source, ExampleRules rules, std::optional<RowForm> requested,
                             std::optional<LineReader> labels)
    : rules_(std::move(rules)),
      records_([&] {
        const RowForm form = form_for(source.name(), rules_.form, requested);
        return RecordReader(LineReader(std::move(source)), form, columns_of(rules_));
      }()),
      labels_(std::move(labels)),
      sought_(sought_fields(rules_)) {}

bool ExampleReader::next(Example& example) {
  if (!find_next()) return false;
  example = std::move(ready_.front());
  ready_.pop_front();
  if (rules_.form == ExampleForm::kRanking && !example.group.empty()) join_documents(example);
  return true;
}

// For files with one document per row: joins the rows that follow with the same query. Bad rows between them come after
// it.
void ExampleReader::join_documents(Example& example) {
  std::deque<Example> bad;
  for (; find_next(); ready_.pop_front()) {
    Example& next = ready_.front();
    if (next.group == example.group)
      append_document(std::move(next), example);
    else if (next.error)
      bad.push_back(std::move(next));
    else
      break;
  }
  ready_.insert(ready_.begin(), std::make_move_iterator(bad.begin()), std::make_move_iterator(bad.end()));
  try {
    if (!queries_.insert(std::hash<std::string>()(example.group)).second)
      throw Error(ErrorCode::kInput, example.where,
                  "expected the rows of a query together, got more after those of another; sort the file by the query");
    check_documents(example);
  } catch (const Error& error) {
    example.error = error;
  }
}

// Whether there is one.
bool ExampleReader::find_next() {
  while (ready_.empty()) {
    JsonRow row;
    if (!records_.next(row)) {
      TextLine rest;
      if (labels_ && read_text_line(*labels_, rest))
        throw Error(ErrorCode::kInput, rest.where, "expected as many labels as rows, got more");
      check_fields();
      return false;
    }
    read(std::move(row));
  }
  return true;
}

void ExampleReader::read(JsonRow row) {
  const std::string where = row.where;
  ++rows_;
  const auto refuse = [&](const Error& error) {
    Example& bad = ready_.emplace_back();
    bad.where = where;
    bad.error = error;
  };
  try {
    if (!row.error) look_for_fields(row);
    if (row.error) {
      refuse(*row.error);
    } else {
      const std::optional<std::string> slice = slice_member(row.value, rules_.slice_by.first(), where);
      const double weight = weight_member(row.value, rules_.weight_field.first(), where);
      function_of(rules_.form)(row.value, where, rules_, ready_);
      for (Example& example : ready_) {
        example.slice = slice;
        example.weight = weight;
      }
    }
  } catch (const Error& error) {
    refuse(error);
  }
  for (Example& example : ready_) example.row = rows_;
  if (labels_) take_label(ready_.back());
}

void ExampleReader::look_for_fields(const JsonRow& row) {
  for (SoughtField& sought : sought_) {
    const auto has = [&](const std::string& name) { return row.value.find(name) != nullptr; };
    sought.is_found |= std::ranges::any_of(sought.field.names, has);
    if (sought.is_found || sought.first_without) continue;
    sought.first_without = missing_field(sought.field, "in this row or another, ", row.value, row.where);
  }
}

void ExampleReader::check_fields() const {
  for (const SoughtField& field : sought_) {
    if (!field.is_found && field.first_without) throw *field.first_without;
  }
}

// Every row has its line, even a bad one.
void ExampleReader::take_label(Example& example) {
  TextLine line;
  if (!read_text_line(*labels_, line))
    throw Error(ErrorCode::kInput, example.where, "expected as many labels as rows, got fewer");
  if (example.error) return;
  const std::string label = line.text.substr(0, line.text.find_last_not_of(" \t") + 1);
  if (line.error || (label != "1" && label != "2"))
    example.error = Error(ErrorCode::kTask, line.where, fmt::format("expected 1 or 2, got {}", quote_begin(label)));
  else
    example.label.emplace(1, label == "1" ? '0' : '1');
}

}  // namespace deberta
