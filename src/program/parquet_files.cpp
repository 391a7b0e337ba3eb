// Options become parameters by the table; what is none, and belongs neither to the model nor to the job, is refused.
#include "program/parquet_files.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "deberta/error.h"
#include "pipeline/parameters.h"
#include "program/config_file.h"
#include "program/file_jobs.h"
#include "program/interrupt.h"
#include "program/model_options.h"
#include "program/row_loop.h"

namespace deberta::program {
namespace {

// Options that have their effect before any row is read, or beside it.
constexpr std::array<std::string_view, 21> kOfModelAndJob = {
    "model",   "load",     "no-crc", "device",    "kernels",      "dtype",       "allow-uncalibrated",
    "threads", "compat",   "emd",    "tokenizer", "batch-tokens", "files",       "files-from",
    "to",      "progress", "quiet",  "config",    "print-config", "input-field", "similarity"};

JsonObject given_parameters(const Options& values) {
  JsonObject given;
  for (const OptionRow* row : options_of(values.verb())) {
    if (!values.is_given(*row) || std::ranges::find(kOfModelAndJob, row->name) != kOfModelAndJob.end()) continue;
    if (row->parameter == nullptr)
      throw Error(ErrorCode::kUsage, fmt::format("--{}", row->name),
                  "expected none with Parquet, whose answers are columns beside those of the file");
    given.emplace_back(row->parameter->name, option_value(*row, values));
  }
  return given;
}

bool wants_similarity(const Options& values) {
  const OptionRow* row = find_option(values.verb(), "similarity");
  return row != nullptr && values.flag(*row);
}

ParquetTask parquet_task(const Options& values, const TextVerb& options) {
  JsonObject parameters = given_parameters(values);
  if (options.model.kernels == "check")
    throw Error(ErrorCode::kUsage, "--kernels", "expected kernels to answer Parquet with, got check");
  Pipeline pipeline = open_model(options.model);
  warn_of_plain_head(options.model, pipeline);
  return {.verb = wants_similarity(values) ? "similarity" : values.verb(),
          .columns = options.rows.input_field,
          .parameters = std::move(parameters),
          .folder = model_root(options.model.name),
          .pipeline = std::move(pipeline),
          .as_transformers = options.model.compat == Compat::kHf,
          .batch_tokens = *options.encoding.batch_tokens};
}

}  // namespace

int run_parquet(const Options& values, const TextVerb& options, OpenParquet open) {
  if (open == nullptr) refuse_parquet(options.job->files.front().input);
  const AnswerParquet answer_file = open(parquet_task(values, options));
  const auto counts_of = [](const ParquetRows& rows) {
    return RowCounts{.ok = rows.rows - rows.bad_rows, .failed = rows.bad_rows, .cut = rows.cut_rows};
  };
  const auto answer = [&](const std::string& path, FileWriter& out, RowProgress& progress) {
    try {
      const ParquetRows rows = answer_file(path, out, [&](const ParquetRows& done) {
        progress.update(counts_of(done), done.fraction);
        return interrupted() == 0;
      });
      progress.clear();
      return counts_of(rows);
    } catch (const Error&) {  // rows that were answered are not yet written
      progress.update({}, std::nullopt);
      throw;
    }
  };
  return run_files(options, answer, [&](const RowCounts& counts) {
    note_cut_rows(options.encoding, counts.cut, counts.rows(), encoding_rules(options.encoding).encode.max_tokens);
  });
}

void refuse_parquet(const std::string& path) {
  throw Error(ErrorCode::kUsage, path,
              "expected rows as text, TSV, CSV, JSON or JSONL, got Parquet; the command deberta of the Python package "
              "answers it, with --files and --to (pip install deberta-cpp pyarrow)");
}

}  // namespace deberta::program
