// Groups grow while input is ready and end when reading would wait, so that a pipe is answered as it comes.
#include "cli/filter.h"

#include <fmt/format.h>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

#include "cli/interrupt.h"
#include "cli/progress_printer.h"
#include "deberta/error.h"

namespace deberta::cli {
namespace {

constexpr size_t kGroupRows = 256;
constexpr size_t kGroupBytes = size_t{1} << 17;

struct Counts {
  size_t ok = 0;
  size_t failed = 0;
  size_t cut = 0;
  size_t tokens = 0;
};

// The error with the row's place in front, unless it has it.
Error with_place(const Error& error, const Row& row) {
  return error.problems().front().where == row.where ? error : Error(error.code(), row.where, error.what());
}

void name_error(const Row& row, const std::function<void()>& run) {
  try {
    run();
  } catch (const Error& error) {
    throw with_place(error, row);
  }
}

class Loop {
 public:
  Loop(const Options& options, const AnswerRows& answer_rows, AnswerWriter& writer)
      : options_(options), answer_rows_(answer_rows), writer_(writer) {}

  void answer(std::vector<Row>& rows) {
    std::vector<Row> readable;
    for (Row& row : rows) {
      if (!row.error) {
        readable.push_back(std::move(row));
        continue;
      }
      answer_readable(readable);
      readable.clear();
      write_bad(row, *row.error);
    }
    answer_readable(readable);
    writer_.flush();
  }

  const Counts& counts() const { return counts_; }

 private:
  void answer_readable(std::span<const Row> rows) {
    if (rows.empty()) return;
    try {
      write(rows, answer_rows_(rows));
    } catch (const Error& error) {
      if (rows.size() == 1) return write_bad(rows.front(), error);
      for (const Row& row : rows) answer_readable({&row, 1});  // find out which
    }
  }
  void write(std::span<const Row> rows, const std::vector<RowAnswer>& answers) {
    for (size_t i = 0; i < rows.size(); ++i) {
      writer_.answer(rows[i], answers[i].answer);
      counts_.ok += 1;
      counts_.tokens += answers[i].tokens;
      counts_.cut += answers[i].cut_tokens > 0;
    }
  }
  void write_bad(const Row& row, const Error& error) {
    const Error named = with_place(error, row);
    const std::string& mode = options_.text("on-bad-row");
    if (mode == "fail") throw named;
    ++counts_.failed;
    if (mode == "report") writer_.bad(row, named);
  }

  const Options& options_;
  const AnswerRows& answer_rows_;
  AnswerWriter& writer_;
  Counts counts_;
};

// What a person should know at the end: only when rows failed or were cut.
void report(const Options& options, const Counts& counts) {
  if (counts.cut > 0) {
    note(options, fmt::format("note: {} of {} rows cut to {} tokens (--max-tokens, --truncate)", counts.cut,
                              counts.ok + counts.failed, options.integer("max-tokens")));
  }
  if (counts.failed > 0) note(options, fmt::format("rows: {} ok, {} failed", counts.ok, counts.failed));
}

// Groups of rows. When the source fails, the rows before come first.
class GroupReader {
 public:
  explicit GroupReader(RowSource& source) : source_(source) {}

  // Empty at the end.
  std::vector<Row> next() {
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    std::vector<Row> rows;
    try {
      read(rows);
    } catch (const Error&) {
      if (rows.empty()) throw;
      failure_ = std::current_exception();
    }
    return rows;
  }

 private:
  void read(std::vector<Row>& rows) {
    size_t bytes = 0;
    Row row;
    while (interrupted() == 0 && source_.next(row)) {
      bytes += row.text.size() + (row.pair ? row.pair->size() : 0);
      rows.push_back(std::move(row));
      if (rows.size() >= kGroupRows || bytes >= kGroupBytes || !source_.is_ready()) break;
    }
  }

  RowSource& source_;
  std::exception_ptr failure_;
};

}  // namespace

int run_rows(const Options& options, const std::vector<std::string>& columns, const AnswerRows& answer_rows) {
  const std::unique_ptr<RowSource> source = open_rows(options);
  Counts counts;
  with_output(options, [&](FileWriter& out) {
    AnswerWriter writer(format_of(options), columns, !options.flag("no-header"), out);
    Loop loop(options, answer_rows, writer);
    ProgressPrinter progress(options, options.arguments.empty());
    GroupReader groups(*source);
    for (std::vector<Row> rows = groups.next(); !rows.empty(); rows = groups.next()) {
      progress.clear();
      loop.answer(rows);
      progress.update(loop.counts().ok + loop.counts().failed, loop.counts().tokens, source->fraction_done());
    }
    progress.clear();
    if (interrupted() != 0 && !options.text("output").empty()) {
      throw Error(ErrorCode::kFileWrite, options.text("output"), "interrupted; the file was not written");
    }
    writer.finish();
    counts = loop.counts();
  });
  report(options, counts);
  if (interrupted() != 0) return interrupted();
  return counts.failed > 0 ? 1 : 0;
}

int collect_rows(const Options& options, const std::function<void(std::span<const Row> rows)>& take) {
  const std::unique_ptr<RowSource> source = open_rows(options);
  ProgressPrinter progress(options, options.arguments.empty());
  Counts counts;
  GroupReader groups(*source);
  for (std::vector<Row> rows = groups.next(); !rows.empty(); rows = groups.next()) {
    for (const Row& row : rows) {
      if (row.error) throw *row.error;
    }
    try {
      take(rows);
    } catch (const Error&) {
      for (const Row& row : rows) name_error(row, [&] { take({&row, 1}); });
      throw;
    }
    counts.ok += rows.size();
    progress.update(counts.ok + counts.failed, counts.tokens, source->fraction_done());
  }
  progress.clear();
  return interrupted();
}

}  // namespace deberta::cli
