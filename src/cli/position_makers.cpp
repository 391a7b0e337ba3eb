// Figures of positions and of the other tables: all but that of a query read the configuration and the weights, and run
// no model.
#include <fmt/format.h>

#include <utility>

#include "analysis/position_figures.h"
#include "analysis/table_figure.h"
#include "cli/figure_maker.h"
#include "deberta/error.h"
#include "pipeline/entity_model.h"
#include "program/model_options.h"
#include "rows/row_input.h"

namespace deberta::cli {
namespace {

ModelConfig config_of(const AnalyzeVerb& options) {
  return load_folder_config(program::weights_path(options.model.name), program::config_rules(options.model));
}

DistanceRule distances_of(const AnalyzeVerb& options) {
  return program::model_options(options.model).distance;
}

PositionChoice position_choice(const AnalyzeVerb& options, const ModelConfig& config) {
  return {options.figures.vectors.value, layer_or_last(options, config), chosen_head(options, config)};
}

}  // namespace

FigureMaker open_index(const AnalyzeVerb& options) {
  constexpr int64_t kUsual = 8, kMost = 512;
  const int64_t length = options.figures.length.value.value_or(kUsual);
  if (length > kMost)
    throw Error(ErrorCode::kUsage, "--length", fmt::format("expected 1..{} for this figure, got {}", kMost, length));
  return {[config = config_of(options), length, rule = distances_of(options)](const Row&) {
    return MadeFigure{index_figure(config, length, rule)};
  }};
}

FigureMaker open_buckets(const AnalyzeVerb& options) {
  constexpr int64_t kUsual = 2048;
  const int64_t length = options.figures.length.value.value_or(kUsual);
  return {[config = config_of(options), length, rule = distances_of(options)](const Row&) {
    return MadeFigure{bucket_figure(config, length, rule)};
  }};
}

FigureMaker open_cosines(const AnalyzeVerb& options) {
  const ModelConfig config = config_of(options);
  return {[checkpoint = open_checkpoint(options), config, choice = position_choice(options, config),
           rule = distances_of(options)](const Row&) {
    return MadeFigure{cosine_figure(checkpoint, config, choice, rule)};
  }};
}

FigureMaker open_angles(const AnalyzeVerb& options) {
  return {[config = config_of(options), checkpoint = open_checkpoint(options)](const Row&) {
    return MadeFigure{angle_figure(table_angles(checkpoint, config))};
  }};
}

FigureMaker open_query(const AnalyzeVerb& options) {
  if (options.figures.query.value.empty())
    throw Error(ErrorCode::kUsage, "--query", "expected a word of the text, got none");
  const auto pipeline = open_shared(options);
  const EncodingRules rules = program::encoding_rules(options.encoding);
  const auto make = [pipeline, rules, checkpoint = open_checkpoint(options), word = options.figures.query.value,
                     choice = position_choice(options, pipeline->config),
                     distances = distances_of(options)](const Row& row) {
    const Encoding encoding = encode_shown(pipeline->tokenizer, row, rules);
    const size_t token = find_token(pipeline->tokenizer, encoding, texts_of(row), word, "query");
    std::vector<float> scores_R = position_scores(pipeline->model, checkpoint, encoding, token, choice);
    return MadeFigure{query_figure(pipeline->config, std::move(scores_R), word, choice, distances), encoding.size(),
                      encoding.cut_tokens};
  };
  return {make, row_encoder(pipeline->tokenizer, {rules}), pipeline};
}

}  // namespace deberta::cli
