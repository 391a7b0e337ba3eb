// Models, layers, heads and texts of figures.
#include "cli/figure_maker.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/explanation.h"
#include "analysis/head_number.h"
#include "deberta/error.h"
#include "pipeline/encodings.h"
#include "program/model_options.h"
#include "rows/row_input.h"

namespace deberta::cli {

std::shared_ptr<const Pipeline> open_shared(const AnalyzeVerb& options) {
  return open_named(options, options.model.name);
}

std::shared_ptr<const Pipeline> open_named(const AnalyzeVerb& options, const std::string& name) {
  return std::make_shared<const Pipeline>(open_pipeline(
      program::model_root(name), program::model_options(options.model), program::open_options(options.model)));
}

Checkpoint open_checkpoint(const AnalyzeVerb& options) {
  return Checkpoint::open(program::weights_path(options.model.name), program::open_options(options.model));
}

std::optional<int32_t> chosen_layer(const AnalyzeVerb& options, int64_t layers) {
  const std::optional<int64_t> layer = options.figures.layer.value;
  if (!layer) return std::nullopt;
  if (*layer > layers) throw Error(ErrorCode::kUsage, "--layer", fmt::format("expected 1..{}, got {}", layers, *layer));
  return static_cast<int32_t>(*layer);
}

std::optional<size_t> chosen_head(const AnalyzeVerb& options, const ModelConfig& config) {
  const std::optional<int64_t> head = options.figures.head.value;
  if (!head) return std::nullopt;
  if (*head > config.num_attention_heads)
    throw Error(ErrorCode::kUsage, "--head", fmt::format("expected 1..{}, got {}", config.num_attention_heads, *head));
  return head_index(static_cast<size_t>(*head));
}

int32_t layer_or_last(const AnalyzeVerb& options, const ModelConfig& config) {
  if (config.num_hidden_layers < 1)
    throw Error(ErrorCode::kTask, "attention", "expected a model with layers, got one with none");
  return chosen_layer(options, config.num_hidden_layers).value_or(static_cast<int32_t>(config.num_hidden_layers));
}

std::vector<int32_t> layer_or_all(const AnalyzeVerb& options, const ModelConfig& config) {
  const std::optional<int32_t> layer = chosen_layer(options, config.num_hidden_layers);
  return layer ? std::vector<int32_t>{*layer} : std::vector<int32_t>{};
}

Encoding encode_tokens(const Tokenizer& tokenizer, const Row& row, const EncodingRules& rules) {
  Encoding encoding = encode_one(tokenizer, text_input(row), rules);
  if (std::ranges::all_of(encoding.is_special, [](uint8_t is_special) { return is_special != 0; }))
    throw Error(ErrorCode::kInput, "text", "expected at least one token, got none");
  return encoding;
}

Encoding encode_shown(const Tokenizer& tokenizer, const Row& row, const EncodingRules& rules) {
  Encoding encoding = encode_tokens(tokenizer, row, rules);
  if (const size_t tokens = encoding.size() + encoding.cut_tokens; tokens > kMostExplainedTokens)
    throw Error(
        ErrorCode::kTextTooLong,
        {{.where = "text",
          .message = fmt::format("expected at most {} tokens for a figure, got {}", kMostExplainedTokens, tokens),
          .limit = kMostExplainedTokens,
          .remedies = {{"split it"}}}});
  return encoding;
}

EncodedText texts_of(const Row& row) {
  return {row.text, row.pair ? std::string_view(*row.pair) : std::string_view()};
}

std::string WordPair::title() const {
  return fmt::format("how \"{}\" reads \"{}\"", query, key);
}

TermChoice WordPair::find(const Tokenizer& tokenizer, const Encoding& encoding, const EncodedText& texts) const {
  return {.queries = {find_token(tokenizer, encoding, texts, query, "query")},
          .keys = {find_token(tokenizer, encoding, texts, key, "key")}};
}

WordPair chosen_pair(const AnalyzeVerb& options) {
  WordPair pair{options.figures.query.value, options.figures.key.value};
  for (const bool is_query : {true, false}) {
    if ((is_query ? pair.query : pair.key).empty())
      throw Error(ErrorCode::kUsage, is_query ? "--query" : "--key", "expected a word of the text, got none");
  }
  return pair;
}

}  // namespace deberta::cli
