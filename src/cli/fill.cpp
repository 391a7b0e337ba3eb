// The verb `fill`: the likeliest tokens for each mask.
#include "cli/verbs.h"
#include "deberta/error.h"
#include "deberta/pipeline.h"
#include "pipeline/answer_json.h"
#include "program/text_verb.h"

namespace deberta::cli {
namespace {

FillOptions fill_options(const FillVerb& options, const Tokenizer& tokenizer) {
  FillOptions fill;
  fill.rules = program::encoding_rules(options.encoding);
  fill.rules.encode.parse_mask = true;
  if (options.targets.is_given() && options.targets.value.empty())
    throw Error(ErrorCode::kUsage, "--targets", "expected words, got none");
  fill.targets = target_ids(tokenizer, options.targets.value, options.model.compat == Compat::kHf);
  if (options.top_k > 0)
    fill.top_k = options.top_k;
  else if (!fill.targets.empty())
    fill.top_k = fill.targets.size();
  return fill;
}

program::RowAnswer to_answer(const FillAnswer& result) {
  program::RowAnswer answer{{to_json(result), {}}, result.tokens, result.cut_tokens};
  for (size_t m = 0; m < result.masks.size(); ++m) {
    for (const FilledToken& token : result.masks[m].tokens) {
      answer.answer.lines.push_back({program::cell(uint64_t{m + 1}), token.token_str, program::cell(token.score),
                                     program::cell(static_cast<uint64_t>(token.token)), token.sequence});
    }
  }
  return answer;
}

}  // namespace

int run(const FillVerb& options) {
  const Pipeline pipeline = program::open_model(options.model);
  program::warn_of_plain_head(options.model, pipeline);
  const FillOptions settings = fill_options(options, pipeline.tokenizer);
  return program::run_text_verb(
      options, program::reading_of(options), pipeline,
      {std::vector<std::string>{"mask", "token_str", "score", "token", "sequence"}, true},
      [&](std::span<const TextInput> inputs) { return fill(pipeline, inputs, settings); },
      [](const Row&, const FillAnswer& result) { return to_answer(result); },
      row_encoder(pipeline.tokenizer, {settings.rules}));
}

}  // namespace deberta::cli
