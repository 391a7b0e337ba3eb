// Figures per class, the confusion of the most frequent classes, and the rows that went most wrong.
#include "train/report/prediction_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/utf8.h"
#include "chart/page.h"
#include "chart/text.h"

namespace deberta::train {
namespace {

using chart::escape_html;
using chart::exact_number;
using chart::grouped;
using chart::Table;
using chart::to_html;

constexpr size_t kMostRows = 20;          // in the table of the worst
constexpr size_t kMostClasses = 30;       // in the confusion matrix
constexpr size_t kMostShownBytes = 1500;  // a text's part that is shown

std::string heading(const std::string& text) {
  return fmt::format("<h3>{}</h3>\n", escape_html(text));
}
std::string note(const std::string& text) {
  return fmt::format("<p class=\"note\">{}</p>\n", escape_html(text));
}

std::string count(uint64_t number) {
  return grouped(static_cast<int64_t>(number));
}
std::string share(double value) {
  return fmt::format("{:.3f}", value);
}

std::string figures_table(const std::vector<ClassFigures>& figures, const char* what) {
  Table table{.header = {what, "precision", "recall", "F1", "support", "predicted"}, .rows = {}};
  for (const ClassFigures& figure : figures) {
    table.rows.push_back({escape_html(figure.name), share(figure.precision()), share(figure.recall()),
                          share(figure.f1()), count(figure.support), count(figure.predicted)});
  }
  return to_html(table);
}

// The confusion matrix, of the most frequent classes where there are many.
std::string confusion_table(const PredictedRows& predictions, std::vector<ClassFigures> figures) {
  std::string html = heading("Confusion matrix");
  if (figures.size() > kMostClasses) {
    html += note(fmt::format("The {} most frequent of {} classes.", kMostClasses, figures.size()));
    std::stable_sort(figures.begin(), figures.end(),
                     [](const ClassFigures& a, const ClassFigures& b) { return a.support > b.support; });
    figures.resize(kMostClasses);
  }
  std::vector<std::string> names;
  for (const ClassFigures& figure : figures) names.push_back(figure.name);
  const std::vector<std::vector<uint64_t>> counts = confusion(predictions, names);
  Table table{.header = {"gold \\ predicted"}, .rows = {}, .style = "heat"};
  for (size_t gold = 0; gold < names.size(); ++gold) {
    table.header.push_back(escape_html(names[gold]));
    std::vector<std::string> row{fmt::format("<b>{}</b>", escape_html(names[gold]))};
    const double support = static_cast<double>(std::max<uint64_t>(1, figures[gold].support));
    for (const uint64_t number : counts[gold]) {
      row.push_back(
          fmt::format("<td style=\"--share:{:.3f}\">{}</td>", static_cast<double>(number) / support, count(number)));
    }
    table.rows.push_back(std::move(row));
  }
  return html + to_html(table) +
         note(
             "Rows are the gold classes, columns the predicted ones; the stronger the colour, the larger the share of "
             "the row.");
}

std::string shown(const std::string& text) {
  std::string cut = text.substr(0, kMostShownBytes);
  while (cut.size() < text.size() && !cut.empty() && !is_valid_utf8(cut)) cut.pop_back();
  return fmt::format("<div>{}{}</div>", escape_html(cut), cut.size() < text.size() ? " &hellip;" : "");
}

// "word 6: B-LOC, got O"
std::string wrong_tags(const PredictedRow& row) {
  std::string differences;
  for (size_t i = 0; i < row.gold_tags.size(); ++i) {
    if (row.gold_tags[i] == row.predicted_tags[i]) continue;
    if (!differences.empty()) differences += ", ";
    differences += fmt::format("word {}: {}, got {}", i + 1, row.gold_tags[i], row.predicted_tags[i]);
  }
  return differences;
}

// "grammar 4.5, style 3"
std::string listed_scores(const std::vector<std::string>& names, const std::vector<double>& numbers) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i)
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", names[i], exact_number(numbers[i]));
  return escape_html(text);
}

// The errors of a row, in the columns of worst_header().
std::vector<std::string> worst_cells(const PredictedRow& row, const PredictedRows& predictions) {
  const PredictionKind kind = predictions.kind;
  if (kind == PredictionKind::kTags) return {shown(wrong_tags(row))};
  if (kind == PredictionKind::kClass) return {escape_html(row.gold), escape_html(row.predicted)};
  if (kind == PredictionKind::kScores)
    return {exact_number(score_error(kind, row)), listed_scores(predictions.scores, row.gold_scores),
            listed_scores(predictions.scores, row.predicted_scores)};
  return {exact_number(score_error(kind, row)), exact_number(row.gold_score), exact_number(row.predicted_score)};
}

std::vector<std::string> worst_header(PredictionKind kind) {
  if (kind == PredictionKind::kTags) return {"wrong tags"};
  if (kind == PredictionKind::kClass) return {"right", "answer"};
  return {"error", "right", "answer"};
}

template <class Has>
bool any_row(const PredictedRows& predictions, Has has) {
  return std::any_of(predictions.rows.begin(), predictions.rows.end(), has);
}

std::string worst_table(const PredictedRows& predictions) {
  const PredictionKind kind = predictions.kind;
  const bool has_pairs = any_row(predictions, [](const PredictedRow& row) { return !row.pair.empty(); });
  const bool has_p = any_row(predictions, [](const PredictedRow& row) { return row.p_gold.has_value(); });
  Table table{.header = {"row"}, .rows = {}, .style = "wide texts"};
  if (has_p)
    table.header.emplace_back(kind == PredictionKind::kTags ? "lowest p of a right tag" : "p of the right class");
  for (std::string& column : worst_header(kind)) table.header.push_back(std::move(column));
  table.header.emplace_back("text");
  if (has_pairs) table.header.emplace_back("second text");
  for (const size_t index : worst_rows(predictions, kMostRows)) {
    const PredictedRow& row = predictions.rows[index];
    std::vector<std::string> cells{escape_html(row.where)};
    if (has_p) cells.push_back(row.p_gold ? exact_number(*row.p_gold) : "");
    for (std::string& cell : worst_cells(row, predictions)) cells.push_back(std::move(cell));
    cells.push_back(shown(row.text));
    if (has_pairs) cells.push_back(shown(row.pair));
    table.rows.push_back(std::move(cells));
  }
  const std::string drawn = to_html(table);
  if (drawn.empty()) return note("No row has a wrong answer.");
  const bool has_scores = kind == PredictionKind::kScore || kind == PredictionKind::kScores;
  return heading(has_scores ? "The largest errors" : "The worst rows") + drawn;
}

}  // namespace

std::string prediction_tables(const PredictedRows& predictions) {
  if (predictions.rows.empty()) return "";
  const std::vector<ClassFigures> figures = class_figures(predictions);
  std::string html = note(fmt::format("{} rows.", count(predictions.rows.size())));
  if (predictions.kind == PredictionKind::kClass)
    html += figures_table(figures, "class") + confusion_table(predictions, figures);
  if (predictions.kind == PredictionKind::kTags) html += figures_table(figures, "entity");
  return html + worst_table(predictions);
}

}  // namespace deberta::train
