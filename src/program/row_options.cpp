// Shapes by verb, and the choice between arguments, files and standard input.
#include "program/row_options.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "deberta/error.h"
#include "program/answers.h"
#include "program/interrupt.h"
#include "rows/row_chain.h"

namespace deberta::cli {
namespace {

void say_guess(const Options& options, const FormGuess& guess) {
  const std::string_view form = to_string(guess.form);
  note(options,
       guess.is_followed
           ? fmt::format("note: {} looks like JSON and is read as {} (--input-format text reads its lines as texts)",
                         guess.file, form)
           : fmt::format("note: the lines of {} are read as texts, although it looks like {} (--input-format {})",
                         guess.file, form, form));
}

// A text that came as an argument and is the name of a file: perhaps the file was meant.
void note_file_names(const Options& options) {
  constexpr size_t kMaxPathBytes = 4096;
  for (const std::string& argument : options.arguments) {
    if (argument.size() > kMaxPathBytes || !is_regular_file(argument)) continue;
    note(options, fmt::format("note: \"{0}\" is read as a text, although a file has that name; -i {0} reads the file",
                              argument));
    return;
  }
}

bool is_stream(const std::string& path) {
  struct stat status {};
  return path == "-" || (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode));
}

// `convert` reads rows beside a model, not instead of arguments.
std::vector<std::string> input_paths(const Options& options) {
  std::vector<std::string> paths = options.files(has_option(options.verb(), "input") ? "input" : "calibration-data");
  if (!options.arguments.empty() && !paths.empty())
    throw Error(ErrorCode::kUsage, "--input", "expected texts or an input file, got both");
  if (options.arguments.empty() && paths.empty() && ::isatty(STDIN_FILENO) != 0)
    throw Error(ErrorCode::kUsage, options.verb(),
                "expected a text, --input FILE, or rows on standard input, got none");
  if (std::count(paths.begin(), paths.end(), "-") > 1)
    throw Error(ErrorCode::kUsage, "--input", "expected standard input once, got it twice");
  if (paths.empty()) paths.emplace_back("-");
  return paths;
}

std::unique_ptr<RowSource> open_plain_rows(const Options& options, const std::function<bool()>& is_stopped) {
  const std::vector<std::string> paths = input_paths(options);
  const RowRules rules = row_rules(options);
  if (!options.arguments.empty()) {
    std::unique_ptr<RowSource> rows = argument_rows(options.arguments, rules.fields, options.verb());
    note_file_names(options);
    return rows;
  }
  std::vector<std::unique_ptr<RowSource>> files;
  for (const std::string& path : paths) {
    const auto open = [rules, path, is_stopped] { return open_row_file(path, rules, is_stopped); };
    if (is_stream(path))
      files.push_back(late_rows(open));
    else
      files.push_back(open());
  }
  if (files.size() == 1) return std::move(files.front());
  return chained_rows(std::move(files));
}

}  // namespace

RowShape row_shape(const Options& options) {
  const std::string& verb = options.verb();
  if (verb == "qa") return {{"question", "context"}, false, true};
  if (verb == "choose") return {{"context", "question", "choices"}, true, true};
  if (verb == "rerank" && options.text("query").empty()) return {{"query", "documents"}, true, true};
  if (verb == "rerank" || verb == "zero-shot") return {{"text"}, false, true};
  const auto is_asked = [&](const char* flag) { return has_option(verb, flag) && options.flag(flag); };
  const bool is_pair = verb == "nli" || is_asked("pair") || is_asked("similarity");
  RowShape shape{{"text", "text_pair"}, false, is_pair};
  if (verb == "nli") shape.others = {{"premise", "hypothesis"}, {"sentence1", "sentence2"}};
  return shape;
}

Names kept_by_name(const Options& options) {
  Names names = options.list("keep");
  if (names.size() == 1 && (names[0] == "all" || names[0] == "none")) names.clear();
  for (auto name = names.begin(); name != names.end();) {
    name = std::find(names.begin(), name, *name) != name ? names.erase(name) : name + 1;
  }
  return names;
}

RowRules row_rules(const Options& options) {
  RowRules rules{.fields = {.shape = row_shape(options), .fields = options.list("input-field")}};
  if (has_option(options.verb(), "keep"))
    rules.fields.kept = {options.list("keep") == Names{"all"}, kept_by_name(options)};
  rules.form = {.given = parse_row_form(options.text("input-format")),
                .has_conll = options.verb() == "ner",
                .on_guess = [&options](const FormGuess& guess) { say_guess(options, guess); }};
  return rules;
}

std::unique_ptr<RowSource> open_rows(const Options& options, const std::function<bool()>& is_stopped) {
  std::unique_ptr<RowSource> rows = open_plain_rows(options, is_stopped);
  if (options.verb() != "rerank" || options.text("query").empty()) return rows;
  if (!kept_by_name(options).empty())
    throw Error(ErrorCode::kUsage, "--keep", "expected no names with --query: all documents form one row");
  return query_row("--query", options.text("query"), std::move(rows));
}

ReadAhead read_rows(const Options& options, EncodeRow encode) {
  return read_rows(options, std::move(encode),
                   [&](const std::function<bool()>& is_stopped) { return open_rows(options, is_stopped); });
}

ReadAhead read_rows(const Options& options, EncodeRow encode, const OpenRows& open) {
  ReadAheadRules rules{.encode = std::move(encode), .is_stopped = [] { return interrupted() != 0; }};
  if (has_option(options.verb(), "batch-tokens"))
    rules.batch_tokens = static_cast<size_t>(options.integer("batch-tokens"));
  return ReadAhead(open, std::move(rules));
}

}  // namespace deberta::cli
