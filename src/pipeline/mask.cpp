// Encode, find the masks, forward with logits of those rows alone, rank.
#include "deberta/pipeline.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <unordered_set>

#include "deberta/error.h"
#include "decode/masked_words.h"
#include "pipeline/plan.h"

namespace deberta {
namespace {

constexpr std::string_view kWordStart = "\xE2\x96\x81";  // U+2581

void check_cut(const Encoding& encoding, int32_t mask_id) {
  if (encoding.cut_tokens == 0 || std::ranges::find(encoding.ids, mask_id) != encoding.ids.end()) return;
  throw Error(ErrorCode::kInput, {{.where = "text",
                                   .message = "expected a mask token, got none in the part that was not cut",
                                   .argument = "max_tokens",
                                   .remedies = {{"raise {}", "max_tokens"}}}});
}

// A text with one mask filled: the other masks stay, other special tokens do not.
std::string filled_text(const Tokenizer& tokenizer, std::vector<int32_t> ids) {
  std::erase_if(ids, [&](int32_t id) { return id != tokenizer.special().mask && tokenizer.is_special(id); });
  return tokenizer.decode(ids, false);
}

FillAnswer::Mask fill_one(const Tokenizer& tokenizer, const Encoding& encoding, size_t position,
                          std::span<const float> logits_V, const FillOptions& options) {
  FillAnswer::Mask mask{position, {}};
  std::vector<int32_t> ids = encoding.ids;
  for (const TokenScore& best : rank_tokens(logits_V, tokenizer.size(), options.top_k, options.targets)) {
    ids[position] = best.id;
    const int32_t filled_id[] = {best.id};
    mask.tokens.push_back({best.id, std::string(tokenizer.piece(best.id)), tokenizer.decode(filled_id, false),
                           best.score, best.logit, filled_text(tokenizer, ids)});
  }
  return mask;
}

}  // namespace

std::vector<int32_t> target_ids(const Tokenizer& tokenizer, const std::vector<std::string>& words,
                                bool as_transformers) {
  std::vector<int32_t> ids;
  std::unordered_set<std::string_view> seen;
  for (const std::string& word : words) {
    if (word.empty() || !seen.insert(word).second)
      throw Error(
          ErrorCode::kInput,
          {{.message = fmt::format("expected words that differ, got \"{}\"{}", word, word.empty() ? "" : " twice"),
            .argument = "targets"}});
  }
  for (const std::string& word : words) {
    const std::string marked = std::string(kWordStart) + word;
    std::optional<int32_t> id = tokenizer.id_of(as_transformers ? word : marked);
    if (!id) id = tokenizer.id_of(as_transformers ? marked : word);
    if (!id) {
      throw Error(ErrorCode::kInput, {{.message = fmt::format("expected words that are one token, got \"{}\"", word),
                                       .argument = "targets",
                                       .remedies = {{"{} shows its pieces", "encode()"}}}});
    }
    ids.push_back(*id);
  }
  return ids;
}

namespace {

struct Masked {
  std::vector<Encoding> texts;
  std::vector<std::vector<size_t>> masks;  // by text: its mask tokens
  std::vector<FillAnswer> answers;
};

}  // namespace

Planned<FillAnswer> plan_fill(const Pipeline& pipeline, std::span<const TextInput> inputs, const FillOptions& options) {
  check_masked_lm("fill", pipeline);
  const auto masked = std::make_shared<Masked>();
  EncodingRules rules = options.rules;
  rules.encode.parse_mask = true;
  for_each_input(inputs.size(), [&](size_t i) {
    const Encoding& text = masked->texts.emplace_back(encode_one(pipeline.tokenizer, inputs[i], rules));
    check_cut(text, pipeline.tokenizer.special().mask);
    masked->masks.push_back(mask_positions(text.ids, pipeline.tokenizer.special().mask));
    masked->answers.push_back({.masks = {}, .tokens = text.size(), .cut_tokens = text.cut_tokens});
  });
  SequencePlan plan;
  plan.sequences = SequenceSource(masked->texts);
  plan.rows = [masked](size_t text) { return std::span<const size_t>(masked->masks[text]); };
  plan.take = [masked, &pipeline, options](size_t text, std::span<const float> logits_RV) {
    const std::vector<size_t>& masks = masked->masks[text];
    const size_t columns = logits_RV.size() / masks.size();
    masked->answers[text].masks.clear();  // a pack that failed half-way is run again
    for (size_t i = 0; i < masks.size(); ++i)
      masked->answers[text].masks.push_back(fill_one(pipeline.tokenizer, masked->texts[text], masks[i],
                                                     logits_RV.subspan(i * columns, columns), options));
  };
  return {std::move(plan), [masked] { return std::move(masked->answers); }};
}

std::vector<FillAnswer> fill(const Pipeline& pipeline, std::span<const TextInput> inputs, const FillOptions& options) {
  return run_planned(pipeline, plan_fill(pipeline, inputs, options), options.rules);
}

}  // namespace deberta
