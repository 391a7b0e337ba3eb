// One source per form of input; they share the choice of fields and the repair of bad UTF-8.
#include "cli/rows.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

#include "base/utf8.h"
#include "cli/row_chain.h"
#include "cli/row_fields.h"
#include "cli/row_form.h"
#include "data/conll.h"
#include "data/json_rows.h"
#include "data/lines.h"
#include "data/table.h"
#include "options/options.h"

namespace deberta::cli {
namespace {

constexpr size_t kMaxJsonBytes = size_t{64} << 20;
constexpr const char* kReplacement = "\xEF\xBF\xBD";  // U+FFFD

// Texts in groups of as many as the verb takes; with items all arguments are one row.
class ArgumentRows final : public RowSource {
 public:
  explicit ArgumentRows(const Options& options) : arguments_(options.arguments), shape_(row_shape(options)) {
    count_ = shape_.has_items ? arguments_.size() : shape_.needs_all ? shape_.texts() : 1;
    const size_t least = shape_.has_items ? shape_.names.size() : 1;
    if (arguments_.size() < least || arguments_.size() % count_ != 0) {
      throw Error(
          ErrorCode::kUsage, options.verb(),
          fmt::format("expected {}{} ({}), got {} texts", shape_.has_items ? "at least " : "texts in groups of ",
                      shape_.has_items ? least : count_, fmt::join(shape_.names, ", "), arguments_.size()));
    }
  }
  bool next(Row& row) override {
    if (next_ >= arguments_.size()) return false;
    row = {};
    row.where = fmt::format("argument {}", next_ + 1);
    std::vector<std::string> parts;
    for (size_t i = 0; i < count_; ++i) {
      row.is_repaired = row.is_repaired || !is_valid_utf8(arguments_[next_]);
      parts.push_back(replace_invalid_utf8(arguments_[next_++]));
    }
    fill_row(shape_, std::move(parts), row);
    return true;
  }

 private:
  std::vector<std::string> arguments_;
  RowShape shape_;
  size_t count_ = 1;
  size_t next_ = 0;
};

// What all forms with lines share.
class LineRows : public RowSource {
 public:
  explicit LineRows(const Options& options) : fields_(options) {}
  bool is_ready() const override { return lines().is_ready(); }
  std::optional<double> fraction_done() const override {
    const ByteSource& source = lines().source();
    if (source.total_bytes().value_or(0) == 0) return std::nullopt;
    return static_cast<double>(source.read_bytes()) / static_cast<double>(*source.total_bytes());
  }

 protected:
  virtual const LineReader& lines() const = 0;

  // Carries on what the reader found: its error, or what `fill` makes of the rest.
  template <class Record, class Fill>
  bool take(const Record& record, Row& row, const Fill& fill) {
    row = {};
    row.is_repaired = std::exchange(repaired_, lines().repaired()) != lines().repaired();
    row.where = record.where;
    row.error = record.error;
    if (row.error) return true;
    try {
      fill();
    } catch (const Error& error) {
      row.error = error;
    }
    return true;
  }

  RowFields fields_;

 private:
  size_t repaired_ = 0;  // lines before the row
};

class TextRows final : public LineRows {
 public:
  TextRows(const Options& options, ByteSource source)
      : LineRows(options), lines_(std::move(source)), shape_(row_shape(options)) {
    refuse_names(options, "lines of text from " + lines_.source().name());
  }

  bool next(Row& row) override {
    TextLine line;
    return read_text_line(lines_, line) && take(line, row, [&] { fill(line, row); });
  }

 private:
  const LineReader& lines() const override { return lines_; }
  // A verb of one text takes the line as it is, tabs and all.
  void fill(TextLine& line, Row& row) const {
    std::vector<std::string> parts;
    if (!shape_.needs_all || shape_.names.size() == 1) {
      parts.push_back(std::move(line.text));
    } else {
      for (size_t at = 0; at <= line.text.size();) {
        const bool is_rest = !shape_.has_items && parts.size() + 1 == shape_.texts();
        const size_t end = is_rest ? line.text.size() : std::min(line.text.find('\t', at), line.text.size());
        parts.push_back(line.text.substr(at, end - at));
        at = end + 1;
      }
    }
    fill_row(shape_, std::move(parts), row);
  }

  LineReader lines_;
  RowShape shape_;
};

// TSV and CSV: columns by the names of the header line, or by number.
class ColumnRows final : public LineRows {
 public:
  ColumnRows(const Options& options, ByteSource source, char separator)
      : LineRows(options),
        reader_(LineReader(std::move(source)),
                {.separator = separator, .has_quotes = separator == ',', .has_header = !fields_.counts_columns()}) {
    reader_.begin();
    check_columns();
  }

  bool next(Row& row) override {
    TableRow record;
    if (!reader_.next(record)) return false;
    check_columns();
    return take(record, row, [&] {
      JsonObject object;
      for (size_t i = 0; i < record.cells.size(); ++i)
        object.emplace_back(reader_.columns()[i], std::move(record.cells[i]));
      fields_.read(object, row);
    });
  }

 private:
  const LineReader& lines() const override { return reader_.lines(); }
  // Once there are any: the columns of a file without a header are those of its first row.
  void check_columns() {
    if (is_checked_ || reader_.columns().empty()) return;
    fields_.check_columns(reader_.columns(), reader_.lines().source().name());
    is_checked_ = true;
  }

  TableReader reader_;
  bool is_checked_ = false;
};

// Each row says by itself what keys it has; but when none of the first rows has the text, the key is wrong and not the
// rows.
class JsonLineRows final : public LineRows {
 public:
  JsonLineRows(const Options& options, ByteSource source) : LineRows(options), reader_(LineReader(std::move(source))) {}

  bool is_ready() const override { return !ahead_.empty() || LineRows::is_ready(); }
  bool next(Row& row) override {
    if (!std::exchange(has_looked_, true)) look_ahead();
    if (!ahead_.empty()) {
      row = std::move(ahead_.front());
      ahead_.pop_front();
      return true;
    }
    if (read(row)) return true;
    if (!lines().source().is_stopped()) refuse(fields_.missing_kept(lines().source().name()));
    return false;
  }

 private:
  static constexpr size_t kRowsAhead = 100;

  const LineReader& lines() const override { return reader_.lines(); }
  bool read(Row& row) {
    JsonRow record;
    return reader_.next(record) && take(record, row, [&] { fields_.read(record.value, row); });
  }
  static void refuse(const std::optional<Error>& error) {
    if (error) throw *error;
  }
  // Rows that are there already, until one has the text.
  void look_ahead() {
    bool is_end = false;
    while (!fields_.has_had_text() && !is_end && ahead_.size() < kRowsAhead) {
      if (!ahead_.empty() && !lines().is_ready()) return;
      is_end = !read(ahead_.emplace_back());
      if (is_end) ahead_.pop_back();
    }
    if (!lines().source().is_stopped()) refuse(fields_.missing_text(lines().source().name()));
  }

  JsonLineReader reader_;
  std::deque<Row> ahead_;
  bool has_looked_ = false;
};

// Sentences: the words are the row's items and, with spaces between, its text; labels are kept.
class ConllRows final : public LineRows {
 public:
  ConllRows(const Options& options, ByteSource source)
      : LineRows(options), reader_(LineReader(std::move(source))), keeps_labels_(fields_.keeps("labels")) {
    if (kept_by_name(options) != Names{"labels"}) refuse_names(options, "sentences with labels");
  }

  bool next(Row& row) override {
    ConllSentence sentence;
    return reader_.next(sentence) && take(sentence, row, [&] { fill(sentence, row); });
  }

 private:
  const LineReader& lines() const override { return reader_.lines(); }
  void fill(const ConllSentence& sentence, Row& row) const {
    JsonArray labels;
    for (size_t token = 0; token < sentence.tokens(); ++token) {
      row.items.push_back(replace_invalid_utf8(sentence.word(token)));
      row.text += (token == 0 ? "" : " ") + row.items.back();
      labels.push_back(replace_invalid_utf8(sentence.label(token)));
    }
    if (keeps_labels_) row.kept.emplace_back("labels", std::move(labels));
  }

  ConllReader reader_;
  bool keeps_labels_;
};

// One JSON document: an array of rows, or one row.
class JsonRows final : public RowSource {
 public:
  JsonRows(const Options& options, ByteSource source) : fields_(options), path_(source.name()) {
    Json document = read_json_document(
        source, {.max_bytes = kMaxJsonBytes, .max_depth = JsonLineReader::kMaxDepth, .max_nodes = 10000000},
        &is_repaired_);
    rows_ = document.is_array() ? std::move(document.as_array()) : JsonArray{std::move(document)};
    RowFields fields(options);
    for (const Json& value : rows_) {
      Row row;
      read(fields, value, row);
    }
    for (const auto& error : {fields.missing_text(path_), fields.missing_kept(path_)}) {
      if (error) throw *error;
    }
  }
  bool next(Row& row) override {
    if (next_ >= rows_.size()) return false;
    row = {};
    row.where = fmt::format("{}: item {}", path_, next_ + 1);
    row.is_repaired = is_repaired_ && rows_[next_].dump().find(kReplacement) != std::string::npos;
    read(fields_, rows_[next_++], row);
    return true;
  }

 private:
  static void read(RowFields& fields, const Json& value, Row& row) {
    try {
      fields.read(value, row);
    } catch (const Error& error) {
      row.error = error;
    }
  }

  RowFields fields_;
  std::string path_;
  bool is_repaired_ = false;
  JsonArray rows_;
  size_t next_ = 0;
};

// `rerank --query`: all rows are documents of one query.
class DocumentRows final : public RowSource {
 public:
  DocumentRows(const Options& options, std::unique_ptr<RowSource> documents)
      : query_(options.text("query")), documents_(std::move(documents)) {
    if (!kept_by_name(options).empty())
      throw Error(ErrorCode::kUsage, "--keep", "expected no names with --query: all documents form one row");
  }

  bool next(Row& row) override {
    if (is_done_) return false;
    is_done_ = true;
    row = {};
    row.where = "--query";
    row.text = query_;
    for (Row document; documents_->next(document);) {
      if (document.error) throw *document.error;
      row.is_repaired = row.is_repaired || document.is_repaired;
      row.items.push_back(std::move(document.text));
    }
    return true;
  }

 private:
  std::string query_;
  std::unique_ptr<RowSource> documents_;
  bool is_done_ = false;
};

std::unique_ptr<RowSource> open_file(const Options& options, const std::string& path,
                                     const std::function<bool()>& is_stopped) {
  ByteSource source(path, is_stopped);
  const std::string form = row_form(options, source);
  if (form == "tsv") return std::make_unique<ColumnRows>(options, std::move(source), '\t');
  if (form == "csv") return std::make_unique<ColumnRows>(options, std::move(source), ',');
  if (form == "jsonl") return std::make_unique<JsonLineRows>(options, std::move(source));
  if (form == "conll") return std::make_unique<ConllRows>(options, std::move(source));
  if (form == "json") return std::make_unique<JsonRows>(options, std::move(source));
  return std::make_unique<TextRows>(options, std::move(source));
}

bool is_stream(const std::string& path) {
  struct stat status {};
  return path == "-" || (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode));
}

std::unique_ptr<RowSource> open_plain_rows(const Options& options, const std::function<bool()>& is_stopped) {
  // `convert` reads rows beside a model, not instead of arguments.
  std::vector<std::string> paths = options.files(has_option(options.verb(), "input") ? "input" : "calibrate");
  if (!options.arguments.empty()) {
    if (!paths.empty()) throw Error(ErrorCode::kUsage, "--input", "expected texts or an input file, got both");
    refuse_names(options, "texts as arguments");
    note_file_names(options);
    return std::make_unique<ArgumentRows>(options);
  }
  if (paths.empty() && ::isatty(STDIN_FILENO) != 0) {
    throw Error(ErrorCode::kUsage, options.verb(),
                "expected a text, --input FILE, or rows on standard input, got none");
  }
  if (std::count(paths.begin(), paths.end(), "-") > 1)
    throw Error(ErrorCode::kUsage, "--input", "expected standard input once, got it twice");
  if (paths.empty()) paths.emplace_back("-");
  std::vector<std::unique_ptr<RowSource>> files;
  for (const std::string& path : paths) {
    const auto open = [&options, path, is_stopped] { return open_file(options, path, is_stopped); };
    if (is_stream(path))
      files.push_back(late_rows(open));
    else
      files.push_back(open());
  }
  if (files.size() == 1) return std::move(files.front());
  return chained_rows(std::move(files));
}

}  // namespace

std::unique_ptr<RowSource> open_rows(const Options& options, const std::function<bool()>& is_stopped) {
  std::unique_ptr<RowSource> rows = open_plain_rows(options, is_stopped);
  if (options.verb() != "rerank" || options.text("query").empty()) return rows;
  return std::make_unique<DocumentRows>(options, std::move(rows));
}

}  // namespace deberta::cli
