// Encodings to packs of at most so many tokens, in order.
#pragma once
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/batch.h"
#include "text/tokenizer.h"

namespace deberta {

// One input of a task: a text or a pair of texts, valid UTF-8.
struct TextInput {
  std::string_view text;
  std::string_view pair;
  bool has_pair = false;
};

// What a head needs to turn texts into packs.
struct EncodingRules {
  EncodeOptions encode;
  bool refuses_long = false;    // a text above encode.max_tokens throws kTextTooLong instead of being cut
  size_t batch_tokens = 16000;  // tokens of one pack; a longer text gets a pack of its own
};

Encoding encode_input(const Tokenizer& tokenizer, const TextInput& input, const EncodingRules& rules);
std::vector<Encoding> encode_inputs(const Tokenizer& tokenizer, std::span<const TextInput> inputs,
                                    const EncodingRules& rules);

// Calls run(first, batch) for consecutive packs; the pack holds encodings[first], encodings[first + 1], ...
void for_each_batch(std::span<const Encoding> encodings, size_t batch_tokens,
                    const std::function<void(size_t first, const Batch& batch)>& run);

}  // namespace deberta
