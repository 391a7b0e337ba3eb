// Where answers go: standard output, or the file that -o and similar options name; which of those are refused before a
// model is loaded; and the format that a file name's extension asks for.
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "base/file.h"
#include "options/verb_options.h"

namespace deberta::program {

// Thrown when the reader of standard output is gone (`| head -1`): the program ends silently.
struct ReaderGone {};

// Writes all of it at once. Throws ReaderGone, kFileWrite.
void print(std::string_view text);

// Opens any closed standard streams, so that no file of ours gets their numbers; using them still fails.
void keep_standard_streams();

// "X.JSON" -> "json"; "" without one.
std::string ending_of(const std::string& path);

// As --format has it: "jsonl".
std::string_view word_of(Format format);

// Checks every file that an option names for output: it can be written to, no two are the same, and its extension does
// not contradict its format. Throws kFileWrite, kUsage.
void check_outputs(const Options& options);

// --format, or if that is auto, what the extension of -o asks for, if anything.
Format output_format(const OutputSettings& output);

// `-` is standard output; else as write_output_file(). After Ctrl-C, a file that would be replaced whole is left as is.
// Throws kFileWrite, Interrupted, ReaderGone.
void write_output(const std::string& path, const std::function<void(FileWriter&)>& fill);

// Says that `path` stays as it is, and throws Interrupted.
[[noreturn]] void leave_unwritten(const std::string& path);

// write_output() to the place that -o names, or to standard output.
void with_output(const OutputSettings& output, const std::function<void(FileWriter&)>& run);

}  // namespace deberta::program
