// Standard output is an unbuffered descriptor: what is written is out, and a failure shows up where it happens.
#include "program/output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include "base/ascii.h"
#include "base/folder.h"
#include "base/output_file.h"
#include "deberta/error.h"
#include "eval/results.h"
#include "options/options.h"
#include "program/interrupt.h"
#include "program/note.h"
#include "program/read_places.h"

namespace deberta::program {
namespace {

class StandardOutput final : public FileWriter {
 public:
  void write(Bytes bytes) override {
    while (!bytes.empty()) {
      const ssize_t count = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && errno == EPIPE) throw ReaderGone{};
      if (count < 0)
        throw Error(ErrorCode::kFileWrite, "standard output", fmt::format("write failed: {}", std::strerror(errno)));
      bytes = bytes.subspan(static_cast<size_t>(count));
    }
  }
};

bool is_standard_output(const std::string& path) {
  return path.empty() || path == "-";
}

// Options that name an output file, where one was given.
std::vector<const OptionRow*> output_files(const Options& options) {
  std::vector<const OptionRow*> rows;
  for (const OptionRow* row : options_of(options.verb())) {
    const bool is_file = row->section == kOutputSection && row->type == OptionType::kText && row->range == "FILE";
    if (is_file && !options.text(*row).empty()) rows.push_back(row);
  }
  return rows;
}

// The choices of --format; none for a verb that writes tensors.
std::string_view formats_of(std::string_view verb) {
  const OptionRow* row = find_option(verb, "format");
  return row == nullptr ? "" : row->range;
}

bool has_format(std::string_view verb, std::string_view name) {
  return fmt::format("|{}|", formats_of(verb)).find(fmt::format("|{}|", name)) != std::string::npos;
}

// The --format value that an extension stands for; "" if none.
std::string_view format_of_ending(std::string_view ending) {
  for (const std::string_view name : {"json", "jsonl", "csv", "tsv", "conll", "trec"}) {
    if (ending == name) return name;
  }
  return ending == "ndjson" ? "jsonl" : ending == "tab" ? "tsv" : "";
}

void check_compression(const std::string& name, const std::string& path) {
  const std::string ending = ending_of(path);
  for (const std::string_view known : {"gz", "bz2", "xz", "zst", "zip"}) {
    if (ending == known)
      throw Error(ErrorCode::kUsage, name,
                  fmt::format("expected a name that does not end in .{}, got {}: output is not compressed; write to - "
                              "and pipe it through a compressor",
                              known, path));
  }
}

// What is no file: its name says nothing of what it carries. A folder is refused for what it is.
bool is_no_file(const std::string& path) {
  return is_stream(path) || is_directory(path);
}

std::string_view kind_of(std::string_view ending) {
  return ending == "html" ? "a page" : ending == "svg" ? "a picture" : "an array";
}

// A file whose extension does not match its contents would be misread by its next user.
void check_ending(const std::string& verb, const OutputSettings& output) {
  const std::string& path = *output.file;
  const std::string ending = ending_of(path);
  const std::string_view format = format_of_ending(ending);
  const auto refuse = [&](const std::string& what) { throw Error(ErrorCode::kUsage, "--output", what); };
  const std::string_view format_word = word_of(output.format.value_or(Format::kAuto));
  if (ending.empty() || (ending == "txt" && output.format)) return;  // text of any format
  if (writes_array(*find_verb(verb), ending)) {
    if (format_word != "auto")
      refuse(fmt::format("{} is {}; --format {} contradicts that", path, kind_of(ending), format_word));
  } else if (format_word != "auto") {
    if (ending == "npy" || ending == "safetensors" || (!format.empty() && format != format_word))
      note(fmt::format("note: {} is written as {} because of --format, despite its extension", path, format_word));
  } else if (!output.format) {
    if (!is_no_file(path))
      refuse(fmt::format("expected a name that ends in .{}, got {}", find_verb(verb)->arrays, path));
  } else if (!has_format(verb, format) && !is_no_file(path)) {
    refuse(fmt::format("expected a name with the extension of a format of {} ({}), or --format, got {}", verb,
                       formats_of(verb), path));
  }
}

// The page of `analyze` is HTML, unless its name asks for the picture alone.
void check_page_ending(const std::string& name, const std::string& path) {
  const std::string ending = ending_of(path);
  if (ending.empty() || ending == "html" || ending == "htm" || ending == "svg" || is_no_file(path)) return;
  throw Error(ErrorCode::kUsage, name, fmt::format("expected a name that ends in .html or .svg, got {}", path));
}

// Every file that the run writes, and standard output if answers go there.
std::vector<NamedOutput> named_outputs(const Options& options, const OutputSettings& output) {
  std::vector<NamedOutput> outputs;
  if (output.file.value_or("").empty()) outputs.push_back({"standard output", "-"});
  for (const OptionRow* row : output_files(options))
    outputs.push_back({fmt::format("--{}", row->name), options.text(*row)});
  return outputs;
}

// The folder that --output-dir names, if any.
std::string output_folder(const Options& options) {
  const OptionRow* row = find_option(options.verb(), "output-dir");
  return row == nullptr ? "" : options.text(*row);
}

// `eval` has one more, which it brings up to date.
void add_results(const Options& options, std::vector<NamedOutput>& outputs) {
  const std::string folder = output_folder(options);
  if (options.verb() == EvalVerb::kName && !folder.empty())
    outputs.push_back({"--output-dir", fmt::format("{}/{}", folder, kResultsName)});
}

// A run of training may replace whatever is in its folder.
void add_files_of_run(const Options& options, std::vector<NamedOutput>& outputs) {
  const std::string folder = options.verb() == EvalVerb::kName ? "" : output_folder(options);
  for (const std::string& name : folder.empty() ? std::vector<std::string>() : names_in(folder)) {
    const std::string path = fmt::format("{}/{}", folder, name);
    if (is_regular_file(path)) outputs.push_back({"--output-dir", path, folder});
  }
}

void check_are_different(const std::vector<NamedOutput>& outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    for (size_t before = 0; before < i; ++before) {
      const std::string& path = outputs[i].path;
      if (!is_same_file(outputs[before].path, path)) continue;
      const std::string& other = outputs[before].path;
      throw Error(ErrorCode::kUsage, outputs[i].option,
                  path == "-"     ? "expected a file, got standard output, which is already in use"
                  : path == other ? fmt::format("expected two different files, got {} twice", path)
                                  : fmt::format("expected two different files, got {} and {}", other, path));
    }
  }
}

}  // namespace

void print(std::string_view text) {
  StandardOutput().FileWriter::write(text);
}

void keep_standard_streams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) >= 0) continue;
    // The lowest free descriptor is this one. Opened the wrong way round, so that reading and writing fail.
    [[maybe_unused]] const int opened = ::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

std::string_view word_of(Format format) {
  for (const auto& [word, meaning] : kChoiceWords<Format>) {
    if (meaning == format) return word;
  }
  return "auto";
}

std::string ending_of(const std::string& path) {
  const size_t name = path.rfind('/') + 1, dot = path.rfind('.');  // no slash: npos + 1 is 0
  if (dot == std::string::npos || dot < name) return "";
  return lower_case(std::string_view(path).substr(dot + 1));
}

void check_outputs(const Options& options) {
  const OutputSettings output(options);
  if (output.bom.value_or(false) && output_format(output) != Format::kCsv)
    throw Error(ErrorCode::kUsage, "--bom", "expected --format csv, or -o with a name that ends in .csv");
  std::vector<NamedOutput> outputs = named_outputs(options, output);
  for (const NamedOutput& named : outputs) {
    if (is_standard_output(named.path)) continue;
    check_compression(named.option, named.path);
    if (named.option == "--output") check_ending(options.verb(), output);
    if (named.option == "--page") check_page_ending(named.option, named.path);
    check_output_file(named.path);
  }
  add_results(options, outputs);
  check_are_different(outputs);
  add_files_of_run(options, outputs);
  check_keeps_inputs(options, outputs);
}

Format output_format(const OutputSettings& output) {
  const Format requested = output.format.value_or(Format::kAuto);
  if (requested != Format::kAuto || !output.file) return requested;
  const std::string_view named = format_of_ending(ending_of(*output.file));
  for (const auto& [word, meaning] : kChoiceWords<Format>) {
    if (word == named) return meaning;
  }
  return Format::kAuto;
}

void write_output(const std::string& path, const std::function<void(FileWriter&)>& fill) {
  if (is_standard_output(path)) {
    StandardOutput out;
    return fill(out);
  }
  const bool is_whole = is_replaced_whole(path);
  write_output_file(path, [&](FileWriter& out) {
    fill(out);
    if (is_whole && interrupted() != 0) leave_unwritten(path);
  });
}

void leave_unwritten(const std::string& path) {
  std::fputs(fmt::format("{}: interrupted; the file was not written\n", path).c_str(), stderr);
  throw Interrupted{};
}

void with_output(const OutputSettings& output, const std::function<void(FileWriter&)>& run) {
  write_output(output.file.value_or(""), run);
}

}  // namespace deberta::program
