// Encode, find the masks, forward with logits of those rows alone, rank.
#include "deberta/pipeline.h"

#include <fmt/core.h>

#include <algorithm>

#include "deberta/error.h"
#include "decode/masked_words.h"
#include "pipeline/batches.h"

namespace deberta {
namespace {

constexpr std::string_view kWordStart = "\xE2\x96\x81";  // U+2581

std::vector<size_t> mask_positions(const Encoding& encoding, int32_t mask_id) {
  std::vector<size_t> positions;
  for (size_t i = 0; i < encoding.size(); ++i) {
    if (encoding.ids[i] == mask_id) positions.push_back(i);
  }
  if (positions.empty() && encoding.cut_tokens > 0) {
    throw Error(ErrorCode::kInput, {{.where = "text",
                                     .message = "expected a mask token, got none in the part that was not cut",
                                     .argument = "max_tokens",
                                     .remedies = {{"raise {}", "max_tokens"}}}});
  }
  if (positions.empty())
    throw Error(ErrorCode::kInput, "text",
                "expected at least one mask token, got none; write [MASK] where a word is missing");
  return positions;
}

FillAnswer::Mask fill_one(const Tokenizer& tokenizer, const Encoding& encoding, size_t position,
                          std::span<const float> logits_V, const FillOptions& options) {
  FillAnswer::Mask mask{position, {}};
  std::vector<int32_t> ids = encoding.ids;
  for (const TokenScore& best : rank_tokens(logits_V, tokenizer.size(), options.top_k, options.targets)) {
    ids[position] = best.id;
    const int32_t one[] = {best.id};
    mask.tokens.push_back({best.id, std::string(tokenizer.piece(best.id)), tokenizer.decode(one, false), best.score,
                           best.logit, tokenizer.decode(ids)});
  }
  return mask;
}

}  // namespace

std::vector<int32_t> target_ids(const Tokenizer& tokenizer, const std::vector<std::string>& words) {
  std::vector<int32_t> ids;
  for (const std::string& word : words) {
    std::optional<int32_t> id = tokenizer.id_of(std::string(kWordStart) + word);
    if (!id) id = tokenizer.id_of(word);
    if (!id) {
      throw Error(ErrorCode::kInput, {{.message = fmt::format("expected words that are one token, got \"{}\"", word),
                                       .argument = "targets",
                                       .remedies = {{"{} shows its pieces", "encode()"}}}});
    }
    ids.push_back(*id);
  }
  return ids;
}

std::vector<FillAnswer> fill(const Pipeline& pipeline, std::span<const TextInput> inputs, const FillOptions& options) {
  check_masked_lm("fill", pipeline);
  std::vector<Encoding> encodings;
  std::vector<std::vector<size_t>> masks;
  for_each_input(inputs.size(), [&](size_t i) {
    encodings.push_back(encode_one(pipeline.tokenizer, inputs[i], options.rules));
    masks.push_back(mask_positions(encodings.back(), pipeline.tokenizer.special().mask));
  });
  std::vector<FillAnswer> answers(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    answers[i].tokens = encodings[i].size();
    answers[i].cut_tokens = encodings[i].cut_tokens;
  }
  for_each_masked(
      pipeline.model, encodings, masks, options.rules.batch_tokens,
      [&](size_t text, size_t i, std::span<const float> logits_V) {
        answers[text].masks.push_back(fill_one(pipeline.tokenizer, encodings[text], masks[text][i], logits_V, options));
      });
  return answers;
}

}  // namespace deberta
