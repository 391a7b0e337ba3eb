// One table.
#include "data/row_form.h"

#include <array>

#include "data/decompressor.h"
#include "data/endings.h"

namespace deberta {
namespace {

struct FormRow {
  RowForm form;
  std::string_view name;
  std::array<std::string_view, 2> endings;
};
constexpr std::array kForms = {
    FormRow{RowForm::kText, "text", {".txt"}},  FormRow{RowForm::kTsv, "tsv", {".tsv", ".tab"}},
    FormRow{RowForm::kCsv, "csv", {".csv"}},    FormRow{RowForm::kJsonl, "jsonl", {".jsonl", ".ndjson"}},
    FormRow{RowForm::kJson, "json", {".json"}}, FormRow{RowForm::kConll, "conll", {".conll", ".conllu"}},
};

}  // namespace

std::string_view to_string(RowForm form) {
  return kForms.at(static_cast<size_t>(form)).name;
}

std::optional<RowForm> parse_row_form(std::string_view name) {
  for (const FormRow& row : kForms) {
    if (row.name == name) return row.form;
  }
  return std::nullopt;
}

std::optional<RowForm> form_of_ending(std::string_view path) {
  const std::string_view name = without_compression_ending(path);
  for (const FormRow& row : kForms) {
    for (const std::string_view ending : row.endings) {
      if (!ending.empty() && has_ending(name, ending)) return row.form;
    }
  }
  return std::nullopt;
}

bool has_parquet_ending(std::string_view path) {
  return has_ending(path, ".parquet");
}

}  // namespace deberta
