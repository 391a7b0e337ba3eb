// Which model a name means, and its size as lines and as an object.
#include "cli/sizes.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "analysis/model_size.h"
#include "base/file.h"
#include "config/published_sizes.h"
#include "deberta/error.h"
#include "pipeline/entity_model.h"
#include "program/answers.h"
#include "program/model_options.h"

namespace deberta::cli {
namespace {

// ---- which model

bool is_name_of_folder(const std::string& name) {
  return is_directory(name) || name.starts_with("builtin") || name.find('/') != std::string::npos;
}

ModelConfig config_named(const std::string& name) {
  if (const PublishedSize* size = find_published_size(name)) return published_config(*size);
  if (is_regular_file(name)) return load_model_config(name);
  if (is_regular_file(name + "/config.json")) return load_model_config(name + "/config.json");
  if (is_name_of_folder(name)) return load_folder_config(program::weights_path(name));
  throw Error(ErrorCode::kUsage, "--sizes",
              fmt::format("expected a config.json, a model's folder, or one of {}, got {}", list_published_sizes(),
                          quote_json(name)));
}

// ---- how it is shown

struct SizeRow {
  const char* part;
  std::string parameters = {}, operations = {};
};

std::string count_text(int64_t count) {
  return std::to_string(count);
}
std::string work_text(double operations) {
  return fmt::format("{:.0f}", operations);
}
std::string ratio_of(double value) {
  return fmt::format("{:.3f}", value);
}

std::vector<SizeRow> rows_of(const ModelSize& size) {
  const ParameterCounts& count = size.parameters;
  const Operations& work = size.operations;
  return {
      {"words", count_text(count.words)},
      {"positions", count_text(count.positions)},
      {"embeddings", count_text(count.embeddings), work_text(work.embedding)},
      {"layers", count_text(count.layers), work_text(work.layers())},
      {"attention", "", work_text(size.plain_operations.attention)},
      {"relative projections", count_text(count.relative_projections)},
      {"relative table", count_text(count.relative_table)},
      {"relative terms", "", work_text(size.relative_terms())},
      {"convolution", count_text(count.convolution), work_text(work.convolution)},
      {"head", count_text(count.head)},
      {"all", count_text(count.all()), work_text(work.all())},
      {"backbone", count_text(count.backbone())},
      {"all without relative terms", count_text(size.plain_parameters.all()), work_text(size.plain_operations.all())},
      {"ratio", ratio_of(size.parameter_ratio()), ratio_of(size.operation_ratio())},
      {"ratio of the scores", "", ratio_of(size.score_ratio())},
      {"relative table, at load", "", work_text(size.table)}};
}

JsonObject parameters_of(const ModelSize& size) {
  const ParameterCounts& count = size.parameters;
  return {{"words", count.words},
          {"positions", count.positions},
          {"embeddings", count.embeddings},
          {"layers", count.layers},
          {"relative_projections", count.relative_projections},
          {"relative_table", count.relative_table},
          {"convolution", count.convolution},
          {"head", count.head},
          {"all", count.all()},
          {"backbone", count.backbone()},
          {"all_without_relative_terms", size.plain_parameters.all()},
          {"ratio", size.parameter_ratio()}};
}

JsonObject operations_of(const ModelSize& size) {
  const Operations& work = size.operations;
  return {{"embeddings", work.embedding},
          {"layers", work.layers()},
          {"attention", size.plain_operations.attention},
          {"relative_terms", size.relative_terms()},
          {"convolution", work.convolution},
          {"all", work.all()},
          {"all_without_relative_terms", size.plain_operations.all()},
          {"ratio", size.operation_ratio()},
          {"ratio_of_scores", size.score_ratio()},
          {"relative_table_at_load", size.table}};
}

program::Answer answer_of(const std::string& name, int64_t length, const ModelSize& size) {
  program::Answer answer{
      {{"model", name}, {"length", length}, {"parameters", parameters_of(size)}, {"operations", operations_of(size)}},
      {}};
  for (const SizeRow& row : rows_of(size)) answer.lines.push_back({name, row.part, row.parameters, row.operations});
  return answer;
}

}  // namespace

void print_sizes(const InfoVerb& options) {
  std::vector<program::Answer> answers;
  for (const std::string& name : options.sizes) {
    const ModelSize size = model_size(config_named(name), static_cast<int32_t>(options.length.value));
    answers.push_back(answer_of(name, options.length.value, size));
  }
  program::print_table(options.output, {"model", "part", "parameters", "operations"}, answers);
}

}  // namespace deberta::cli
