// The verb `analyze`: figures of what a model does with a text, or of its tables. A figure is the first row of the
// table that takes the options which were given.
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/decoder_figures.h"
#include "analysis/heads_figure.h"
#include "analysis/position_figures.h"
#include "analysis/replaced_figure.h"
#include "analysis/table_figure.h"
#include "analysis/term_figures.h"
#include "cli/figure_maker.h"
#include "cli/figure_output.h"
#include "cli/verbs.h"
#include "deberta/error.h"
#include "program/model_options.h"
#include "program/output.h"
#include "program/row_loop.h"
#include "rows/row_parts.h"

namespace deberta::cli {
namespace {

struct View {
  ShownPart show;
  FigureChoice figure;
  std::string_view name;
  std::string_view options;  // of those about figures, separated by spaces
  bool reads_text;
  FigureColumns (*columns)();
  FigureMaker (*open)(const AnalyzeVerb& options);
};

FigureColumns layer_columns() {
  return term_columns("layer");
}

FigureColumns pass_columns() {
  return term_columns("pass");
}

FigureColumns side_columns() {
  return term_columns("layer", "side");
}

const std::vector<View>& views() {
  using enum ShownPart;
  using enum FigureChoice;
  static const std::vector<View> all = {
      {kHeads, kAuto, "heads", "", true, heads_columns, open_heads},
      {kTerms, kMatrices, "terms matrices", "layer head", true, layer_columns, open_matrices},
      {kTerms, kPair, "terms pair", "query key layer head", true, layer_columns, open_pair},
      {kTerms, kQuantiles, "terms quantiles", "layer head", true, quantile_columns, open_quantiles},
      {kPositions, kIndex, "positions index", "length", false, index_columns, open_index},
      {kPositions, kBuckets, "positions buckets", "length", false, bucket_columns, open_buckets},
      {kPositions, kCosines, "positions cosines", "vectors layer head", false, cosine_columns, open_cosines},
      {kPositions, kQuery, "positions query", "query layer head", true, query_columns, open_query},
      {kTables, kAuto, "tables", "", false, angle_columns, open_angles},
      {kDecoder, kPredictions, "decoder predictions", "top-k shift", true, prediction_columns, open_predictions},
      {kDecoder, kPasses, "decoder passes", "layer head", true, pass_columns, open_passes},
      {kDecoder, kWords, "decoder words", "words", true, filling_columns, open_words},
      {kReplaced, kAuto, "replaced", "generator-model mlm-probability seed", true, walk_columns, open_walk},
      {kCompare, kWeights, "compare weights", "with layer head", true, side_columns, open_compared_weights},
      {kCompare, kPair, "compare pair", "with query key layer head", true, side_columns, open_compared_pair},
  };
  return all;
}

bool takes(const View& view, std::string_view option) {
  return fmt::format(" {} ", view.options).find(fmt::format(" {} ", option)) != std::string::npos;
}

// The options about figures that were given: anywhere, or on the command line.
struct Given {
  std::vector<std::string_view> all, flags;
};

Given given_options(const FigureSettings& figures) {
  Given given;
  const auto add = [&](std::string_view name, const auto& setting) {
    if (setting.is_given()) given.all.push_back(name);
    if (setting.origin == "flag") given.flags.push_back(name);
  };
  add("layer", figures.layer);
  add("head", figures.head);
  add("query", figures.query);
  add("key", figures.key);
  add("length", figures.length);
  add("vectors", figures.vectors);
  add("top-k", figures.top_k);
  add("shift", figures.shift);
  add("words", figures.words);
  add("generator-model", figures.generator_model);
  add("mlm-probability", figures.mlm_probability);
  add("seed", figures.seed);
  add("with", figures.with);
  return given;
}

std::string names_of(const std::vector<const View*>& some) {
  std::vector<std::string_view> names;
  for (const View* view : some) names.push_back(view->name);
  return fmt::format("{}", fmt::join(names, ", "));
}

// Those that --show and --figure leave. Throws kUsage where that is none.
std::vector<const View*> asked_views(const FigureSettings& figures) {
  std::vector<const View*> shown, asked;
  for (const View& view : views()) {
    if (view.show != figures.show) continue;
    shown.push_back(&view);
    if (figures.figure == FigureChoice::kAuto || figures.figure == view.figure) asked.push_back(&view);
  }
  if (asked.empty())
    throw Error(ErrorCode::kUsage, "--figure",
                fmt::format("expected a figure of --show ({}), got another", names_of(shown)));
  return asked;
}

[[noreturn]] void refuse_option(std::string_view option, const std::vector<const View*>& asked) {
  std::vector<const View*> fitting;
  for (const View& view : views()) {
    if (takes(view, option)) fitting.push_back(&view);
  }
  throw Error(
      ErrorCode::kUsage, fmt::format("--{}", option),
      fmt::format("expected --show and --figure that take it ({}), got {}", names_of(fitting), names_of(asked)));
}

// The environment and files of options may name what other figures and verbs take; the command line may not.
const View& find_view(const FigureSettings& figures) {
  const std::vector<const View*> asked = asked_views(figures);
  const Given given = given_options(figures);
  for (const std::vector<std::string_view>* options : {&given.all, &given.flags}) {
    for (const View* view : asked) {
      if (std::ranges::all_of(*options, [&](std::string_view option) { return takes(*view, option); })) return *view;
    }
  }
  for (const std::string_view option : given.flags) {
    if (std::ranges::none_of(asked, [&](const View* view) { return takes(*view, option); }))
      refuse_option(option, asked);
  }
  refuse_option(given.flags.back(), asked);
}

// ---- writing

void write_lines(const AnalyzeVerb& options, const program::AnswerLayout& layout, const Row& row,
                 const MadeFigure& made) {
  program::with_output(options.output, [&](FileWriter& out) {
    program::AnswerWriter writer(layout, out);
    program::Answer answer = figure_answer(made.figure, layout.format);
    writer.answer(row, layout.has_notes ? program::marked(row, {std::move(answer), made.tokens, made.cut_tokens})
                                        : std::move(answer));
    writer.finish();
  });
}

// Of a figure that shows no text: one answer, without the columns and notes of rows.
program::AnswerLayout layout_without_text(const AnalyzeVerb& options, const View& view) {
  return {.format = program::format_of(options.output),
          .columns = answer_columns(view.columns(), false),
          .has_mark = options.output.bom.value_or(false),
          .has_header = !options.output.no_header.value_or(false),
          .digits = program::digits_of(options.output)};
}

MadeFigure make_figure(const FigureMaker& maker, const Row& row) {
  try {
    return maker.make(row);
  } catch (const Error& error) {
    throw with_place(error, row);
  }
}

// Whether lines are written: to -o, unless that is the figure's own file, or to standard output without such a file.
bool has_lines(const AnalyzeVerb& options, const std::string& place) {
  const std::string file = options.output.file.value_or("");
  return place.empty() || (!file.empty() && file != place);
}

int write_without_text(const AnalyzeVerb& options, const View& view, const FigureMaker& maker,
                       const std::string& place) {
  if (!options.arguments.empty() || !options.input.empty())
    throw Error(ErrorCode::kUsage, options.verb, fmt::format("expected no text for {}, got one", view.name));
  const MadeFigure made = maker.make({});
  if (has_lines(options, place)) write_lines(options, layout_without_text(options, view), {}, made);
  if (!place.empty()) write_figure(place, made.figure, view.columns());
  return 0;
}

// The figure of one text in a file of its own, and beside it the lines if -o names a place for them.
int write_file(const AnalyzeVerb& options, const View& view, const FigureMaker& maker,
               const program::RowReading& reading, const std::string& place) {
  const Row row = single_row(options, reading, place);
  const std::string page = maker.page && is_page(place) ? maker.page(row) : "";
  const program::AnswerLayout layout = program::answer_layout(options, answer_columns(view.columns(), true));
  if (!page.empty()) {
    if (has_lines(options, place)) write_lines(options, layout, row, make_figure(maker, row));
    program::write_output(place, [&](FileWriter& out) { out.write(page); });
    return 0;
  }
  const MadeFigure made = make_figure(maker, row);
  if (has_lines(options, place)) write_lines(options, layout, row, made);
  write_figure(place, made.figure, view.columns());
  return 0;
}

int write_answers(const AnalyzeVerb& options, const View& view, const FigureMaker& maker,
                  const program::RowReading& reading) {
  const Format format = program::format_of(options.output);
  const auto answer_rows = [&](std::span<const Row> rows) {
    std::vector<program::RowAnswer> answers;
    for (const Row& row : rows) {
      const MadeFigure made = maker.make(row);
      answers.push_back({figure_answer(made.figure, format), made.tokens, made.cut_tokens});
    }
    return answers;
  };
  return program::run_rows(options, reading, answer_columns(view.columns(), true), answer_rows, maker.encode);
}

int write_of_texts(const AnalyzeVerb& options, const View& view, const FigureMaker& maker, const std::string& place) {
  program::RowReading reading = program::reading_of(options);
  if (options.pair || maker.reads_two_texts) reading.shape = program::pair_shape();
  return place.empty() ? write_answers(options, view, maker, reading)
                       : write_file(options, view, maker, reading, place);
}

}  // namespace

int run(const AnalyzeVerb& options) {
  const View& view = find_view(options.figures);
  const std::string place = figure_place(options);
  const FigureMaker maker = view.open(options);
  const int code =
      view.reads_text ? write_of_texts(options, view, maker, place) : write_without_text(options, view, maker, place);
  if (maker.pipeline != nullptr) program::print_check_report(maker.pipeline->model);
  return code;
}

}  // namespace deberta::cli
