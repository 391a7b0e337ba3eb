// One source per form of input; they share the choice of fields and the repair of bad UTF-8.
#include "cli/rows.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/checked.h"
#include "base/utf8.h"
#include "data/json_rows.h"
#include "data/lines.h"
#include "data/table.h"

namespace deberta::cli {
namespace {

constexpr size_t kMaxJsonBytes = size_t{64} << 20;

// nli always takes pairs; others when asked, where the verb knows pairs at all.
bool takes_pairs(const Options& options) {
  if (options.verb() == "nli") return true;
  return has_option(options.verb(), "pair") && options.flag("pair");
}

// Which fields are the text and its pair, and which others are kept.
class FieldRules {
 public:
  explicit FieldRules(const Options& options) {
    if (has_option(options.verb(), "keep")) keep_ = options.list("keep");
    const auto names = options.list("input-field");
    is_given_ = !names.empty();
    if (names.size() > 2) {
      throw Error(ErrorCode::kUsage, "--input-field", fmt::format("expected one or two names, got {}", names.size()));
    }
    text_ = is_given_ ? names[0] : "text";
    pair_ = is_given_ ? (names.size() > 1 ? names[1] : "") : "text_pair";
  }

  bool counts_columns() const { return is_given_ && parse_number<size_t>(text_).has_value(); }
  const std::string& text() const { return text_; }
  const std::string& pair() const { return pair_; }
  bool keeps(std::string_view name) const {
    if (name == text_ || name == pair_) return false;
    if (keep_.size() == 1 && keep_[0] == "all") return true;
    return std::find(keep_.begin(), keep_.end(), name) != keep_.end();
  }

  // The row of an object: a text field, perhaps a pair, the rest kept.
  void read(const Json& object, Row& row) const {
    if (object.is_string()) {
      row.text = object.as_string();
      return;
    }
    if (!object.is_object())
      throw Error(ErrorCode::kInput, row.where, "expected an object or a text, got " + object.describe());
    for (const auto& [key, value] : object.as_object()) {
      if (keeps(key)) row.kept.emplace_back(key, value);
    }
    row.text = text_of(object, text_, row.where);
    const Json* pair = pair_.empty() ? nullptr : object.find(pair_);
    if (pair == nullptr && is_given_ && !pair_.empty()) text_of(object, pair_, row.where);  // throws: it was asked for
    if (pair != nullptr && !pair->is_null()) row.pair = text_of(object, pair_, row.where);
  }

 private:
  static std::string text_of(const Json& object, const std::string& key, const std::string& where) {
    const Json* value = object.find(key);
    if (value == nullptr) {
      std::vector<std::string_view> names;
      for (const auto& member : object.as_object()) names.push_back(member.first);
      throw Error(ErrorCode::kInput, where,
                  fmt::format("no key \"{}\" among {}; name it with --input-field", key, fmt::join(names, ", ")));
    }
    if (!value->is_string())
      throw Error(ErrorCode::kInput, where, fmt::format("{}: expected a text, got {}", key, value->describe()));
    return value->as_string();
  }

  std::vector<std::string> keep_;
  bool is_given_ = false;
  std::string text_;
  std::string pair_;
};

class ArgumentRows final : public RowSource {
 public:
  ArgumentRows(const Options& options) : arguments_(options.arguments), takes_pairs_(takes_pairs(options)) {
    if (takes_pairs_ && arguments_.size() % 2 != 0) {
      throw Error(ErrorCode::kUsage, "--pair",
                  fmt::format("expected an even number of texts, got {}", arguments_.size()));
    }
  }
  bool next(Row& row) override {
    if (next_ >= arguments_.size()) return false;
    row = {};
    row.where = fmt::format("argument {}", next_ + 1);
    row.text = replace_invalid_utf8(arguments_[next_++]);
    if (takes_pairs_) row.pair = replace_invalid_utf8(arguments_[next_++]);
    return true;
  }

 private:
  std::vector<std::string> arguments_;
  bool takes_pairs_;
  size_t next_ = 0;
};

// What all forms with lines share.
class LineRows : public RowSource {
 public:
  explicit LineRows(const Options& options) : rules_(options) {}
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
  static bool take(const Record& record, Row& row, const Fill& fill) {
    row = {};
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

  FieldRules rules_;
};

class TextRows final : public LineRows {
 public:
  TextRows(const Options& options, ByteSource source)
      : LineRows(options), lines_(std::move(source)), takes_pairs_(takes_pairs(options)) {}

  bool next(Row& row) override {
    TextLine line;
    return read_text_line(lines_, line) && take(line, row, [&] { fill(line, row); });
  }

 private:
  const LineReader& lines() const override { return lines_; }
  void fill(TextLine& line, Row& row) const {
    if (takes_pairs_) {
      const size_t tab = line.text.find('\t');
      if (tab == std::string::npos)
        throw Error(ErrorCode::kInput, row.where, "expected two texts with a tab between, got one");
      row.pair = line.text.substr(tab + 1);
      line.text.resize(tab);
    }
    row.text = std::move(line.text);
  }

  LineReader lines_;
  bool takes_pairs_;
};

// TSV and CSV: columns by the names of the header line, or by number.
class ColumnRows final : public LineRows {
 public:
  ColumnRows(const Options& options, ByteSource source, char separator)
      : LineRows(options),
        reader_(LineReader(std::move(source)),
                {.separator = separator, .has_quotes = separator == ',', .has_header = !rules_.counts_columns()}) {}

  bool next(Row& row) override {
    TableRow record;
    return reader_.next(record) && take(record, row, [&] {
             JsonObject object;
             for (size_t i = 0; i < record.cells.size(); ++i)
               object.emplace_back(reader_.columns()[i], std::move(record.cells[i]));
             rules_.read(object, row);
           });
  }

 private:
  const LineReader& lines() const override { return reader_.lines(); }
  TableReader reader_;
};

class JsonLineRows final : public LineRows {
 public:
  JsonLineRows(const Options& options, ByteSource source) : LineRows(options), reader_(LineReader(std::move(source))) {}

  bool next(Row& row) override {
    JsonRow record;
    return reader_.next(record) && take(record, row, [&] { rules_.read(record.value, row); });
  }

 private:
  const LineReader& lines() const override { return reader_.lines(); }
  JsonLineReader reader_;
};

// One JSON document: an array of rows, or one row.
class JsonRows final : public RowSource {
 public:
  JsonRows(const Options& options, ByteSource source) : rules_(options), path_(source.name()) {
    Json document = read_json_document(
        source, {.max_bytes = kMaxJsonBytes, .max_depth = JsonLineReader::kMaxDepth, .max_nodes = 10000000});
    rows_ = document.is_array() ? std::move(document.as_array()) : JsonArray{std::move(document)};
  }
  bool next(Row& row) override {
    if (next_ >= rows_.size()) return false;
    row = {};
    row.where = fmt::format("{}: item {}", path_, next_ + 1);
    try {
      rules_.read(rows_[next_], row);
    } catch (const Error& error) {
      row.error = error;
    }
    ++next_;
    return true;
  }

 private:
  FieldRules rules_;
  std::string path_;
  JsonArray rows_;
  size_t next_ = 0;
};

std::string format_of(const Options& options, const std::string& path) {
  const std::string& format = options.text("input-format");
  if (format != "auto") return format;
  for (const std::string_view known : {"tsv", "csv", "jsonl", "json"}) {
    if (without_compression_ending(path).ends_with(fmt::format(".{}", known))) return std::string(known);
  }
  return "text";
}

}  // namespace

std::unique_ptr<RowSource> open_rows(const Options& options, const std::function<bool()>& is_stopped) {
  // `convert` reads rows beside a model, not instead of arguments.
  const std::string& input = options.text(has_option(options.verb(), "input") ? "input" : "calibrate");
  if (!options.arguments.empty()) {
    if (!input.empty()) throw Error(ErrorCode::kUsage, "--input", "expected texts or an input file, got both");
    return std::make_unique<ArgumentRows>(options);
  }
  if (input.empty() && ::isatty(STDIN_FILENO) != 0) {
    throw Error(ErrorCode::kUsage, options.verb(),
                "expected a text, --input FILE, or rows on standard input, got none");
  }
  const std::string path = input.empty() ? "-" : input;
  const std::string format = format_of(options, path);
  ByteSource source(path, is_stopped);
  if (format == "tsv") return std::make_unique<ColumnRows>(options, std::move(source), '\t');
  if (format == "csv") return std::make_unique<ColumnRows>(options, std::move(source), ',');
  if (format == "jsonl") return std::make_unique<JsonLineRows>(options, std::move(source));
  if (format == "json") return std::make_unique<JsonRows>(options, std::move(source));
  return std::make_unique<TextRows>(options, std::move(source));
}

}  // namespace deberta::cli
