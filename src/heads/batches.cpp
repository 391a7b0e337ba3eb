// Texts to encodings, encodings to packs.
#include "heads/batches.h"

#include <fmt/core.h>

#include "base/utf8.h"
#include "deberta/error.h"

namespace deberta {

Encoding encode_input(const Tokenizer& tokenizer, const TextInput& input, const EncodingRules& rules) {
  if (!is_valid_utf8(input.text) || !is_valid_utf8(input.pair.value_or("")))
    throw Error(ErrorCode::kInput, "text", "expected valid UTF-8");
  EncodeOptions options = rules.encode;
  if (rules.refuses_long) options.truncate = Truncate::kNone;
  Encoding encoding =
      input.pair ? tokenizer.encode_pair(input.text, *input.pair, options) : tokenizer.encode(input.text, options);
  if (encoding.size() == 0) throw Error(ErrorCode::kInput, "text", "expected at least one token, got none");
  if (rules.refuses_long && encoding.size() > options.max_tokens) {
    throw Error(ErrorCode::kTextTooLong, "text",
                fmt::format("expected at most {} tokens, got {}; split it or cut it with --truncate right",
                            options.max_tokens, encoding.size()));
  }
  return encoding;
}

Encoding encode_one(const Tokenizer& tokenizer, const TextInput& input, const EncodingRules& rules) {
  return input.encoding != nullptr ? *input.encoding : encode_input(tokenizer, input, rules);
}

std::vector<Encoding> encode_inputs(const Tokenizer& tokenizer, std::span<const TextInput> inputs,
                                    const EncodingRules& rules) {
  std::vector<Encoding> encodings;
  encodings.reserve(inputs.size());
  for (const TextInput& input : inputs) encodings.push_back(encode_one(tokenizer, input, rules));
  return encodings;
}

void for_each_batch(std::span<const Encoding> encodings, size_t batch_tokens,
                    const std::function<void(size_t first, const Batch& batch)>& run) {
  for (size_t first = 0; first < encodings.size();) {
    Batch batch;
    size_t last = first;
    while (last < encodings.size() && (last == first || batch.tokens() + encodings[last].size() <= batch_tokens)) {
      batch.add(encodings[last].ids, encodings[last].type_ids);
      ++last;
    }
    run(first, batch);
    first = last;
  }
}

}  // namespace deberta
