// Where answers go: standard output, or what -o and its like name; what is refused of that before a model is loaded;
// and the form that a name's ending asks for.
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "base/file.h"
#include "options/verb_options.h"

namespace deberta::cli {

// Thrown when nobody reads standard output any more (`| head -1`): the program ends without a word.
struct ReaderGone {};

// All of it, at once. Throws ReaderGone, kFileWrite.
void print(std::string_view text);

// Opens what is closed of the standard streams, so that no file of ours gets their numbers; using them still fails.
void keep_standard_streams();

// "X.JSON" -> "json"; "" without one.
std::string ending_of(const std::string& path);

// Every file that an option names for output: it can be written to, no two are the same, and its ending does not say
// what it will not be. Throws kFileWrite, kUsage.
void check_outputs(const Options& options);

// --format, or where it is auto what the ending of -o asks for, if anything.
Format output_format(const OutputSettings& output);

// `-` is standard output; else as write_output_file(). A file that is replaced whole is left as it is after Ctrl-C.
// Throws kFileWrite, Interrupted, ReaderGone.
void write_output(const std::string& path, const std::function<void(FileWriter&)>& fill);

// Says that `path` stays as it is, and throws Interrupted.
[[noreturn]] void leave_unwritten(const std::string& path);

// write_output() to the place that -o names, or to standard output.
void with_output(const OutputSettings& output, const std::function<void(FileWriter&)>& run);

}  // namespace deberta::cli
