// Parquet among --files. The program has the options, the model and the files with their claims; who runs it may bring
// what reads the rows and writes the answers, as the Python package does.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/json.h"
#include "deberta/pipeline.h"
#include "options/verb_options.h"

namespace deberta::program {

// Of one file so far.
struct ParquetRows {
  size_t rows = 0, bad_rows = 0, cut_rows = 0;
  double fraction = 0;
};

// Answers one file. `advance` takes what is done after each group of rows, and says whether to go on; without the rest
// the file counts for nothing. Throws Error.
using AnswerParquet = std::function<ParquetRows(const std::string& path, FileWriter& out,
                                                const std::function<bool(const ParquetRows&)>& advance)>;

// What the options ask for.
struct ParquetTask {
  std::string verb;                  // or "similarity", of embed
  std::vector<std::string> columns;  // none: those of the task
  JsonObject parameters;             // that were given, by the names of pipeline/parameters.h
  std::string folder;                // of the model
  Pipeline pipeline;
  bool as_transformers = false;
  size_t batch_tokens = 0;
};
// Throws Error for a task that the model or the columns do not allow.
using OpenParquet = AnswerParquet (*)(ParquetTask task);

// The files of options.job. Returns as run_files(). Throws kUsage for options that rows of Parquet have no use for, and
// without `open`.
int run_parquet(const Options& values, const TextVerb& options, OpenParquet open);

// For who reads none.
[[noreturn]] void refuse_parquet(const std::string& path);

}  // namespace deberta::program
