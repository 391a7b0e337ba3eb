// Each form of a figure is made only where it is written.
#include "cli/figure_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>
#include <variant>

#include "chart/page.h"
#include "chart/text.h"
#include "checkpoint/safetensors.h"
#include "checkpoint/tensor.h"
#include "cli/npy_file.h"
#include "deberta/error.h"
#include "program/note.h"
#include "program/output.h"
#include "program/row_loop.h"

namespace deberta::cli {
namespace {

program::Cell to_cell(const FigureValue& value) {
  struct {
    program::Cell operator()(std::monostate) const { return {}; }
    program::Cell operator()(int64_t number) const { return std::to_string(number); }
    program::Cell operator()(float number) const { return program::cell(number); }
    program::Cell operator()(double number) const { return program::cell(number); }
    program::Cell operator()(const std::string& text) const { return text; }
  } const convert;
  return std::visit(convert, value);
}

// ---- arrays

DType dtype_of(const FigureArray& array) {
  return array.integers.empty() ? DType::kF32 : DType::kI32;
}

void write_values(const FigureArray& array, FileWriter& out) {
  out.write(array.integers.empty() ? std::as_bytes(std::span(array.values)) : std::as_bytes(std::span(array.integers)));
}

// Several arrays are one more dimension.
void write_stacked(const std::string& path, const std::vector<FigureArray>& arrays) {
  const FigureArray& first = arrays.front();
  for (const FigureArray& array : arrays) {
    if (array.shape != first.shape || dtype_of(array) != dtype_of(first))
      throw Error(ErrorCode::kUsage, path,
                  fmt::format("expected arrays of one shape and type for a .npy file, got {} {} and {} {}; write a "
                              ".safetensors file",
                              first.name, to_string(first.shape), array.name, to_string(array.shape)));
  }
  Shape shape = first.shape;
  if (arrays.size() > 1) shape.insert(shape.begin(), static_cast<int64_t>(arrays.size()));
  write_npy(path, dtype_of(first), shape, [&](FileWriter& out) {
    for (const FigureArray& array : arrays) write_values(array, out);
  });
}

void write_named(const std::string& path, const std::vector<FigureArray>& arrays) {
  std::vector<TensorToWrite> tensors;
  for (const FigureArray& array : arrays)
    tensors.push_back(
        {array.name, dtype_of(array), array.shape, [&array](FileWriter& out) { write_values(array, out); }});
  program::write_output(path, [&](FileWriter& out) {
    write_safetensors(out, path, tensors, {{"program", "deberta analyze"}});
  });
}

void write_arrays(const std::string& path, const std::vector<FigureArray>& arrays, bool is_npy) {
  is_npy ? write_stacked(path, arrays) : write_named(path, arrays);
  for (const FigureArray& array : arrays) program::note(fmt::format("{} {}", array.name, to_string(array.shape)));
}

// ---- the page

// Nothing beyond so many lines, which no one reads on a page.
std::string data_table(const Figure& figure, const FigureColumns& columns) {
  constexpr size_t kMostLines = 2000;
  const std::vector<FigureLine> lines = figure.lines();
  if (lines.size() > kMostLines)
    return fmt::format("<p class=\"note\">{} lines; the formats of answers have them.</p>\n",
                       chart::grouped(static_cast<int64_t>(lines.size())));
  chart::Table table{.header = {columns.begin(), columns.end()}, .rows = {}};
  for (const FigureLine& line : lines) {
    std::vector<std::string>& cells = table.rows.emplace_back();
    for (const FigureValue& value : line) cells.push_back(chart::escape_html(to_cell(value).text));
  }
  return chart::to_html(table);
}

std::string page_of(const Figure& figure, const FigureColumns& columns) {
  const chart::Picture picture = figure.picture();
  return chart::make_page(
      picture.title, fmt::format("<h1>{}</h1>\n{}{}", chart::escape_html(picture.title), chart::svg_figure(picture),
                                 chart::section("Data", data_table(figure, columns))));
}

void write_text(const std::string& path, const std::string& text) {
  program::write_output(path, [&](FileWriter& out) { out.write(text); });
}

}  // namespace

std::string figure_place(const AnalyzeVerb& options) {
  const std::string file = options.output.file.value_or("");
  const bool is_figure = writes_array(*find_verb(options.verb), program::ending_of(file));
  if (is_figure && !options.page.empty())
    throw Error(ErrorCode::kUsage, "--page", fmt::format("expected a single page, got another one in {}", file));
  return is_figure ? file : options.page;
}

Row single_row(const AnalyzeVerb& options, const program::RowReading& reading, const std::string& place) {
  std::vector<Row> rows;
  const auto take = [&](std::span<const Row> group) { rows.insert(rows.end(), group.begin(), group.end()); };
  if (program::collect_rows(reading, options.progress, take, {}) != 0) program::leave_unwritten(place);
  if (rows.size() != 1)
    throw Error(ErrorCode::kUsage, place == options.page ? "--page" : "--output",
                fmt::format("expected one text for a page, got {}", rows.size()));
  return std::move(rows.front());
}

bool is_page(const std::string& place) {
  const std::string ending = program::ending_of(place);
  return ending != "svg" && ending != "npy" && ending != "safetensors";
}

void write_figure(const std::string& path, const Figure& figure, const FigureColumns& columns) {
  const std::string ending = program::ending_of(path);
  if (is_page(path)) return write_text(path, page_of(figure, columns));
  if (ending == "svg") return write_text(path, chart::svg_file(figure.picture()));
  write_arrays(path, figure.arrays(), ending == "npy");
}

program::AnswerColumns answer_columns(const FigureColumns& columns, bool are_lines_of_rows) {
  return {std::vector<std::string>(columns.begin(), columns.end()), are_lines_of_rows};
}

program::Answer figure_answer(const Figure& figure, Format format) {
  if (program::is_json(format)) return {.object = figure.object(), .lines = {}};
  program::Answer answer;
  for (const FigureLine& line : figure.lines()) {
    program::Cells& cells = answer.lines.emplace_back();
    for (const FigureValue& value : line) cells.push_back(to_cell(value));
  }
  return answer;
}

}  // namespace deberta::cli
