// Where the figures of `analyze` go: to a page, a picture or arrays, by the extension of a file, or into the lines and
// objects of answers.
#pragma once
#include <string>
#include <vector>

#include "analysis/figure.h"
#include "options/verb_options.h"
#include "program/answers.h"
#include "program/row_options.h"
#include "rows/row.h"

namespace deberta::cli {

// The file that is a page, a picture or arrays; empty: none was requested. Throws kUsage for two of them.
std::string figure_place(const AnalyzeVerb& options);

// The only row of the input, which such a file shows. Throws kUsage for another number of rows.
Row single_row(const AnalyzeVerb& options, const program::RowReading& reading, const std::string& place);

// Whether such a file is a page.
bool is_page(const std::string& place);

// Writes the figure to `path`: .svg, .npy, .safetensors; else a page. Throws kUsage for arrays that .npy cannot hold,
// kFileWrite.
void write_figure(const std::string& path, const Figure& figure, const FigureColumns& columns);

program::AnswerColumns answer_columns(const FigureColumns& columns, bool are_lines_of_rows);

// Of an answer only what `format` prints.
program::Answer figure_answer(const Figure& figure, Format format);

}  // namespace deberta::cli
