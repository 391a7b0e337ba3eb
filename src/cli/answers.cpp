// Formats of answers (docs/formats.md).
#include "cli/answers.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/utf8.h"
#include "deberta/error.h"

namespace deberta::cli {
namespace {

// TSV has no quoting: the four characters that would break a line are written as two.
std::string escape_tsv(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '\t':
        out += "\\t";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\\':
        out += "\\\\";
        break;
      default:
        out += c;
    }
  }
  return out;
}

class StandardOutput final : public FileWriter {
 public:
  void write(Bytes bytes) override {
    while (!bytes.empty()) {
      const ssize_t count = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) throw Error(ErrorCode::kFileWrite, "standard output", std::strerror(errno));
      bytes = bytes.subspan(static_cast<size_t>(count));
    }
  }
};

}  // namespace

std::string escape_table(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F)
      out += fmt::format("\\x{:02x}", byte);
    else
      out += c;
  }
  return out;
}

std::string cell(float value) {
  char buffer[32];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value);
  return {buffer, end};
}
std::string cell(uint64_t value) {
  return std::to_string(value);
}

Format format_of(const Options& options) {
  const std::string& name = options.text("format");
  if (name == "table") return Format::kTable;
  if (name == "json") return Format::kJson;
  if (name == "jsonl") return Format::kJsonl;
  if (name == "tsv") return Format::kTsv;
  if (name == "conll") return Format::kConll;
  if (has_option(options.verb(), "json") && options.flag("json")) return Format::kJsonl;
  const auto rows = options_of(options.verb());
  const bool has_output =
      std::any_of(rows.begin(), rows.end(), [](const OptionRow* row) { return row->name == "output"; });
  const bool is_file = has_output && !options.text("output").empty();
  return !is_file && ::isatty(STDOUT_FILENO) != 0 ? Format::kTable : Format::kTsv;
}

AnswerWriter::AnswerWriter(Format format, std::vector<std::string> columns, bool has_header, FileWriter& out,
                           std::vector<std::string> kept)
    : format_(format), kept_(std::move(kept)), columns_(kept_), has_header_(has_header), out_(out) {
  std::move(columns.begin(), columns.end(), std::back_inserter(columns_));
  if (format_ == Format::kTsv && has_header_) line(columns_);
  if (format_ == Format::kJson) pending_ = "[";
}

void AnswerWriter::answer(const Row& row, const Answer& answer) {
  if (format_ == Format::kJson || format_ == Format::kJsonl) return object(row, answer.object);
  if (format_ == Format::kConll) return sentence(answer.words);
  if (format_ == Format::kTable && !answer.painted.empty()) {
    write_table();
    pending_ += answer.painted + '\n';
    has_header_ = false;
    return;
  }
  for (const Cells& cells : answer.lines) line(row, cells);
}

void AnswerWriter::bad(const Row& row, const Error& error) {
  if (format_ == Format::kJson || format_ == Format::kJsonl) {
    JsonObject detail{{"code", error_code_info(error.code()).name}, {"message", std::string(error.what())}};
    return object(row, {{"error", std::move(detail)}});
  }
  if (format_ == Format::kConll) return sentence({{"!error", error.what()}});
  Cells cells(columns_.size() - kept_.size());
  cells.front() = "!error";
  if (cells.size() > 1) {
    cells[1] = error.what();
  } else {
    cells.front() += std::string(" ") + error.what();
  }
  line(row, std::move(cells));
}

void AnswerWriter::object(const Row& row, JsonObject result) {
  JsonObject whole;
  for (const JsonMember& kept : row.kept) {  // a key of the input never hides one of the answer
    const bool is_taken =
        std::any_of(result.begin(), result.end(), [&](const JsonMember& member) { return member.first == kept.first; });
    whole.emplace_back(is_taken ? "input_" + kept.first : kept.first, kept.second);
  }
  std::move(result.begin(), result.end(), std::back_inserter(whole));
  if (format_ == Format::kJson) pending_ += written_ == 0 ? "\n" : ",\n";
  pending_ += Json(std::move(whole)).dump();
  if (format_ == Format::kJsonl) pending_ += '\n';
  ++written_;
}

void AnswerWriter::sentence(const std::vector<Cells>& words) {
  for (const Cells& cells : words) line(cells);
  pending_ += '\n';
}

void AnswerWriter::line(const Row& row, Cells cells) {
  Cells whole;
  for (const std::string& name : kept_) {
    const auto found =
        std::find_if(row.kept.begin(), row.kept.end(), [&](const JsonMember& member) { return member.first == name; });
    if (found == row.kept.end())
      whole.emplace_back();
    else
      whole.push_back(found->second.is_string() ? found->second.as_string() : found->second.dump());
  }
  std::move(cells.begin(), cells.end(), std::back_inserter(whole));
  line(whole);
}

void AnswerWriter::line(const Cells& cells) {
  if (format_ == Format::kTable) {
    table_.push_back(cells);
    return;
  }
  for (size_t i = 0; i < cells.size(); ++i) pending_ += (i == 0 ? "" : "\t") + escape_tsv(cells[i]);
  pending_ += '\n';
}

void AnswerWriter::write_table() {
  if (table_.empty()) return;
  if (has_header_) table_.insert(table_.begin(), columns_);
  std::vector<size_t> widths(columns_.size());
  for (Cells& cells : table_) {
    for (size_t i = 0; i < cells.size(); ++i) {
      cells[i] = escape_table(cells[i]);
      widths[i] = std::max(widths[i], std::min<size_t>(60, count_code_points(cells[i])));
    }
  }
  for (const Cells& cells : table_) {
    std::string text;
    for (size_t i = 0; i < cells.size(); ++i) {
      text += cells[i];
      const size_t used = count_code_points(cells[i]);
      if (i + 1 < cells.size()) text.append(2 + (used < widths[i] ? widths[i] - used : 0), ' ');
    }
    pending_ += text.substr(0, text.find_last_not_of(' ') + 1) + '\n';
  }
  table_.clear();
  has_header_ = false;
}

void AnswerWriter::flush() {
  write_table();
  out_.write(std::exchange(pending_, {}));
}

void AnswerWriter::finish() {
  if (format_ == Format::kJson) pending_ += written_ == 0 ? "]\n" : "\n]\n";
  flush();
}

void with_output(const Options& options, const std::function<void(FileWriter&)>& run) {
  const std::string& path = options.text("output");
  if (!path.empty()) return write_file_atomically(path, run);
  StandardOutput out;
  run(out);
}

void note(const Options& options, const std::string& text) {
  if (!options.flag("quiet")) std::fputs((text + '\n').c_str(), stderr);
}

void print_table(const Options& options, const std::vector<std::string>& columns, const std::vector<Answer>& answers) {
  StandardOutput out;
  const auto rows = options_of(options.verb());
  const bool can_drop_header =
      std::any_of(rows.begin(), rows.end(), [](const OptionRow* row) { return row->name == "no-header"; });
  AnswerWriter writer(format_of(options), columns, !(can_drop_header && options.flag("no-header")), out);
  for (const Answer& answer : answers) writer.answer({}, answer);
  writer.finish();
}

}  // namespace deberta::cli
