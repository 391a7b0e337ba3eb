// One source per form of input; they share the choice of fields and the repair of bad UTF-8.
#include "rows/row_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/utf8.h"
#include "data/conll.h"
#include "data/json_rows.h"
#include "data/lines.h"
#include "data/table.h"

namespace deberta {
namespace {

constexpr const char* kReplacement = "\xEF\xBF\xBD";  // U+FFFD

// Texts in groups of as many as the verb takes; with items all arguments are one row.
class ArgumentRows final : public RowSource {
 public:
  ArgumentRows(std::vector<std::string> texts, RowShape shape, const std::string& where)
      : arguments_(std::move(texts)), shape_(std::move(shape)) {
    count_ = shape_.has_items ? arguments_.size() : shape_.needs_all ? shape_.texts() : 1;
    const size_t least = shape_.has_items ? shape_.names.size() : 1;
    if (arguments_.size() < least || arguments_.size() % count_ != 0) {
      throw Error(
          ErrorCode::kUsage, where,
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
  explicit LineRows(const FieldRules& rules) : fields_(rules) {}
  bool is_ready() const override { return lines().is_ready(); }
  std::optional<double> fraction_done() const override { return lines().source().fraction_read(); }

 protected:
  virtual const LineReader& lines() const = 0;

  // Passes on what the reader found: its error, or what `fill` reads from the rest.
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
  TextRows(const FieldRules& rules, ByteSource source)
      : LineRows(rules), lines_(std::move(source)), shape_(rules.shape) {
    refuse_names(rules, "lines of text from " + lines_.source().name());
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
        const size_t end = std::min(line.text.find('\t', at), line.text.size());
        parts.push_back(line.text.substr(at, end - at));
        at = end + 1;
      }
    }
    fill_row(shape_, std::move(parts), row);
  }

  LineReader lines_;
  RowShape shape_;
};

// The texts' names, those in published files too.
Names all_names(const RowShape& shape) {
  Names names = shape.names;
  for (const Names& published_names : shape.published_names)
    names.insert(names.end(), published_names.begin(), published_names.end());
  return names;
}

// TSV and CSV: columns by the names of the header line, or by number.
class ColumnRows final : public LineRows {
 public:
  ColumnRows(const RowRules& rules, ByteSource source, RowForm form)
      : LineRows(rules.fields),
        on_quotes_(rules.form.on_quotes),
        on_header_(rules.form.on_header),
        names_(all_names(rules.fields.shape)),
        keeps_columns_(rules.fields.kept.has_all && rules.fields.kept.has_texts),
        reader_(LineReader(std::move(source)),
                {.separator = rules.form.separator.value_or(form == RowForm::kCsv ? kFindSeparator : '\t'),
                 .has_quotes = form == RowForm::kCsv,
                 .has_header = !fields_.counts_columns()}) {
    reader_.begin();
    check_columns();
  }

  bool next(Row& row) override {
    TableRow record;
    if (!reader_.next(record)) return false;
    check_columns();
    if (const auto tell = std::exchange(on_header_, {}); tell && fields_.counts_columns() && has_name(record.cells))
      tell(reader_.lines().source().name());
    if (on_quotes_ && reader_.looks_quoted()) std::exchange(on_quotes_, {})(reader_.lines().source().name());
    const bool is_there = take(record, row, [&] { fields_.read(reader_.by_column(std::move(record)), row); });
    row.columns = columns_;
    return is_there;
  }

 private:
  const LineReader& lines() const override { return reader_.lines(); }
  // Once there are any: the columns of a file without a header are those of its first row.
  void check_columns() {
    if (is_checked_ || reader_.columns().empty()) return;
    fields_.check_columns(reader_.columns(), reader_.lines().source().name());
    if (keeps_columns_) columns_ = std::make_shared<const Names>(reader_.columns());
    is_checked_ = true;
  }

  bool has_name(const Names& cells) const {
    const auto is_name = [&](const std::string& cell) {
      return std::find(names_.begin(), names_.end(), lower_case(cell)) != names_.end();
    };
    return std::any_of(cells.begin(), cells.end(), is_name);
  }

  std::function<void(const std::string&)> on_quotes_, on_header_;
  Names names_;
  bool keeps_columns_;
  std::shared_ptr<const Names> columns_;
  TableReader reader_;
  bool is_checked_ = false;
};

// Each row says for itself which keys it has; but if none of the first rows has the text, the key is wrong, not the
// rows.
class JsonLineRows final : public LineRows {
 public:
  JsonLineRows(const FieldRules& rules, ByteSource source) : LineRows(rules), reader_(LineReader(std::move(source))) {}

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
  // Rows that are available already, until one has the text.
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
  ConllRows(const FieldRules& rules, ByteSource source)
      : LineRows(rules), reader_(LineReader(std::move(source))), keeps_labels_(fields_.keeps("labels")) {
    if (rules.kept.names != Names{"labels"}) refuse_names(rules, "sentences with labels");
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
  JsonRows(const FieldRules& rules, ByteSource source) : fields_(rules), path_(source.name()) {
    Json document = read_json_document(
        source,
        {.max_bytes = kMaxJsonDocumentBytes, .max_depth = kMaxJsonRowDepth, .max_nodes = kMaxJsonDocumentValues},
        &is_repaired_);
    rows_ = document.is_array() ? std::move(document.as_array()) : JsonArray{std::move(document)};
    RowFields fields(rules);
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

}  // namespace

std::unique_ptr<RowSource> open_row_file(const std::string& path, const RowRules& rules,
                                         const std::function<bool()>& is_stopped) {
  ByteSource source(path, is_stopped);
  const RowForm form = find_row_form(rules.form, all_names(rules.fields.shape), source);
  switch (form) {
    case RowForm::kText:
      return std::make_unique<TextRows>(rules.fields, std::move(source));
    case RowForm::kTsv:
    case RowForm::kCsv:
      return std::make_unique<ColumnRows>(rules, std::move(source), form);
    case RowForm::kJsonl:
      return std::make_unique<JsonLineRows>(rules.fields, std::move(source));
    case RowForm::kJson:
      return std::make_unique<JsonRows>(rules.fields, std::move(source));
    case RowForm::kConll:
      return std::make_unique<ConllRows>(rules.fields, std::move(source));
  }
  throw Error(ErrorCode::kInternal, path, "expected a form of rows");
}

std::unique_ptr<RowSource> argument_rows(std::vector<std::string> texts, const FieldRules& rules,
                                         const std::string& where) {
  refuse_names(rules, "texts as arguments");
  return std::make_unique<ArgumentRows>(std::move(texts), rules.shape, where);
}

}  // namespace deberta
