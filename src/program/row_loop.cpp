// Rows come in groups (rows/read_ahead.h); their answers go out in order, bad rows in their place.
#include "program/row_loop.h"

#include <fmt/format.h>
#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>

#include "deberta/error.h"
#include "options/error_options.h"
#include "pipeline/answer_json.h"
#include "program/file_jobs.h"
#include "program/interrupt.h"
#include "program/model_options.h"
#include "program/note.h"
#include "program/progress_printer.h"
#include "rows/row_input.h"
#include "rows/row_parts.h"
#include "rows/row_taker.h"

namespace deberta::program {
namespace {

class Loop {
 public:
  Loop(BadRows bad_rows, const AnswerRows& answer_rows, AnswerWriter& writer)
      : bad_rows_(bad_rows), answer_rows_(answer_rows), writer_(writer) {}

  void answer(std::vector<Row>& rows) {
    std::vector<Row> readable;
    for (Row& row : rows) {
      counts_.repaired += row.is_repaired;
      if (!row.error) readable.push_back(std::move(row));
    }
    std::vector<Result> results = answer_all(readable);
    size_t next = 0;
    for (const Row& row : rows) {
      if (row.error) {
        write_bad(row, *row.error);
        continue;
      }
      if (const Error* error = std::get_if<Error>(&results[next])) {
        write_bad(readable[next], *error);
      } else {
        write(readable[next], std::get<RowAnswer>(results[next]));
      }
      ++next;
    }
    writer_.flush();
  }

  const RowCounts& counts() const { return counts_; }

 private:
  using Result = std::variant<RowAnswer, Error>;

  std::vector<Result> answer_all(std::span<const Row> rows) {
    std::vector<Result> results;
    answer_parts(
        rows.size(),
        [&](size_t first, size_t count) {
          std::vector<RowAnswer> answers = answer_rows_(rows.subspan(first, count));
          std::move(answers.begin(), answers.end(), std::back_inserter(results));
        },
        [&](size_t, const Error& error) { results.emplace_back(error); });
    return results;
  }
  void write(const Row& row, RowAnswer& answer) {
    const size_t tokens = answer.tokens, cut_tokens = answer.cut_tokens;
    try {
      writer_.answer(row, marked(row, std::move(answer)));
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kInput) throw;
      return write_bad(row, error);
    }
    counts_.ok += 1;
    counts_.tokens += tokens;
    counts_.cut += cut_tokens > 0;
  }
  void write_bad(const Row& row, const Error& error) {
    const Error named = with_place(error, row);
    if (bad_rows_ == BadRows::kFail) throw named;
    ++counts_.failed;
    if (bad_rows_ == BadRows::kReport) writer_.bad(row, with_options(named));
  }

  BadRows bad_rows_;
  const AnswerRows& answer_rows_;
  AnswerWriter& writer_;
  RowCounts counts_;
};

void note_no_rows(size_t rows) {
  if (rows == 0 && interrupted() == 0) note("note: the input has no rows");
}

// The rows of a reading, each of them answered into one place.
struct RowRun {
  const RowVerb& options;
  const AnswerColumns& columns;
  const AnswerRows& answer_rows;
  const EncodeRow& encode;

  RowCounts answer(ReadAhead& rows, FileWriter& out, RowProgress& progress) const {
    AnswerWriter writer(answer_layout(options, columns), out);
    Loop loop(options.on_bad_row, answer_rows, writer);
    rows.run([&](RowGroup& group) {
      progress.clear();
      loop.answer(group.rows);
      progress.update(loop.counts(), group.fraction_done);
    });
    progress.clear();
    writer.finish();
    return loop.counts();
  }
};

int answer_files(const RowRun& run, const RowReading& reading, const std::function<void(const RowCounts&)>& report) {
  const auto answer = [&](const std::string& file, FileWriter& out, RowProgress& progress) {
    RowReading of_file = reading;
    of_file.files = {file};
    reading.begin_file();
    ReadAhead rows = read_rows(of_file, run.encode);
    return run.answer(rows, out, progress);
  };
  return run_files(run.options, answer, report);
}

}  // namespace

void note_cut_rows(const EncodingSettings& encoding, size_t cut, size_t rows, size_t max_tokens) {
  if (cut == 0) return;
  const std::string& origin = encoding.max_tokens.origin;
  const bool is_of_folder = origin == "model_max_length" || origin == "max_position_embeddings";
  note(fmt::format("note: {} of {} rows cut to {} tokens ({}--max-tokens, --truncate)", cut, rows, max_tokens,
                   is_of_folder ? "the model's " + origin + "; " : ""));
}

void note_repaired_rows(size_t repaired) {
  if (repaired == 0) return;
  note(fmt::format("note: {} had invalid UTF-8, replaced by U+FFFD",
                   repaired == 1 ? "1 row" : fmt::format("{} rows", repaired)));
}

void note_unknown_rows(size_t unknown) {
  if (unknown == 0) return;
  note(
      fmt::format("note: most of the text of {} is not in the model's vocabulary and was read as unknown tokens or "
                  "bytes; it may be in a language that the model has not learned",
                  unknown == 1 ? "1 row" : fmt::format("{} rows", unknown)));
}

Answer marked(const Row& row, RowAnswer answer) {
  answer.answer.cut_tokens = answer.cut_tokens;
  const bool is_empty = is_of_empty_text(text_input(row), answer.tokens, answer.tokens_of_nothing);
  answer.answer.is_of_empty_text = answer.answer.is_of_empty_text || is_empty;
  return std::move(answer.answer);
}

AnswerLayout answer_layout(const RowVerb& options, const AnswerColumns& columns) {
  const Format format = format_of(options.output);
  const bool keeps_none = options.rows.keep && options.rows.keep->value == std::vector<std::string>{"none"};
  AnswerColumns numbered = columns;
  numbered.are_lines_of_rows |= format == Format::kCsv && !keeps_none && options.verb != TokenizeVerb::kName;
  return {.format = format,
          .columns = numbered,
          .has_mark = options.output.bom.value_or(false),
          .has_header = !options.output.no_header.value_or(false),
          .kept = kept_by_name(options.rows),
          .keeps_all = keeps_all_in_table(options),
          .digits = digits_of(options.output),
          .has_notes = options.verb != TokenizeVerb::kName};  // tokenize returns texts and ids as they are
}

int run_rows(const RowVerb& options, const RowReading& reading, const AnswerColumns& columns,
             const AnswerRows& answer_rows, const EncodeRow& encode, const NoteCut& note_cut) {
  // What the user should know at the end, if anything.
  const auto report = [&](const RowCounts& counts) {
    if (counts.cut > 0 && note_cut) note_cut(counts.cut, counts.rows());
    if (!note_cut)
      note_cut_rows(options.encoding, counts.cut, counts.rows(), encoding_rules(options.encoding).encode.max_tokens);
    note_repaired_rows(counts.repaired);
  };
  const RowRun run{options, columns, answer_rows, encode};
  if (options.job) return answer_files(run, reading, report);
  ReadAhead rows = read_rows(reading, encode);
  RowCounts counts;
  with_output(options.output, [&](FileWriter& out) {
    RowProgress progress(options.progress, reading.texts.empty());
    counts = run.answer(rows, out, progress);
  });
  report(counts);
  note_no_rows(counts.rows());
  if (counts.failed > 0) note(fmt::format("rows: {} ok, {} failed", counts.ok, counts.failed));
  if (interrupted() != 0) return interrupted();
  return counts.failed > 0 ? 1 : 0;
}

void refuse_skipping(const RowVerb& options) {
  if (options.on_bad_row == BadRows::kSkip)
    throw Error(ErrorCode::kUsage, "--on-bad-row",
                "expected report or fail with an array, which cannot leave out a row");
}

int collect_rows(const RowReading& reading, ShowProgress show,
                 const std::function<void(std::span<const Row> rows)>& take, const EncodeRow& encode) {
  ReadAhead ahead = read_rows(reading, encode);
  ProgressPrinter progress(show, reading.texts.empty());
  size_t done = 0, repaired = 0;
  take_rows(ahead, {.answer =
                        [&](std::span<const size_t>, std::span<const Row> rows) {
                          take(rows);
                          for (const Row& row : rows) repaired += row.is_repaired;
                        },
                    .refuse = [](size_t, const Error& error) { throw error; },
                    .advance =
                        [&](size_t rows, size_t tokens, std::optional<double> fraction) {
                          done = rows;
                          progress.update(rows, tokens, fraction);
                        }});
  progress.clear();
  note_repaired_rows(repaired);
  note_no_rows(done);
  return interrupted();
}

}  // namespace deberta::program
