// The verb `fill`: the likeliest tokens for each mask.
#include "cli/verbs.h"
#include "deberta/pipeline.h"
#include "options/options.h"
#include "program/text_verb.h"

namespace deberta::cli {
namespace {

FillOptions fill_options(const Options& options, const Tokenizer& tokenizer) {
  FillOptions fill;
  fill.rules = encoding_rules(options);
  fill.targets = target_ids(tokenizer, options.list("targets"));
  if (options.integer("top-k") > 0)
    fill.top_k = static_cast<size_t>(options.integer("top-k"));
  else if (!fill.targets.empty())
    fill.top_k = fill.targets.size();
  return fill;
}

RowAnswer to_answer(const FillAnswer& result) {
  RowAnswer answer{{}, result.tokens, result.cut_tokens};
  JsonArray masks;
  for (size_t m = 0; m < result.masks.size(); ++m) {
    JsonArray tokens;
    for (const FilledToken& token : result.masks[m].tokens) {
      answer.answer.lines.push_back({cell(uint64_t{m + 1}), token.token_str, cell(token.score),
                                     cell(static_cast<uint64_t>(token.token)), token.sequence});
      tokens.push_back(JsonObject{{"token_str", token.token_str},
                                  {"token", int64_t{token.token}},
                                  {"piece", token.piece},
                                  {"score", token.score},
                                  {"logit", token.logit},
                                  {"sequence", token.sequence}});
    }
    masks.push_back(
        JsonObject{{"position", static_cast<uint64_t>(result.masks[m].position)}, {"tokens", std::move(tokens)}});
  }
  answer.answer.object = {{"masks", std::move(masks)}};
  return answer;
}

}  // namespace

int run_fill(const Options& options) {
  const Pipeline pipeline = open_model(options);
  warn_of_plain_head(options, pipeline);
  const FillOptions settings = fill_options(options, pipeline.tokenizer);
  fill(pipeline, {}, settings);  // refuses a model without the head before any row is read
  return run_text_verb(
      options, pipeline, {std::vector<std::string>{"mask", "token_str", "score", "token", "sequence"}, true},
      [&](std::span<const TextInput> inputs) { return fill(pipeline, inputs, settings); },
      [](const Row&, const FillAnswer& result) { return to_answer(result); });
}

}  // namespace deberta::cli
