// Encodings to packs of at most so many tokens, in order.
#pragma once
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "deberta/pipeline.h"

namespace deberta {

// The encoding that came with the input, or a new one.
Encoding encode_one(const Tokenizer& tokenizer, const TextInput& input, const EncodingRules& rules);
std::vector<Encoding> encode_inputs(const Tokenizer& tokenizer, std::span<const TextInput> inputs,
                                    const EncodingRules& rules);

// Calls run(first, batch) for consecutive packs; the pack holds encodings[first], encodings[first + 1], ...
void for_each_batch(std::span<const Encoding> encodings, size_t batch_tokens,
                    const std::function<void(size_t first, const Batch& batch)>& run);

}  // namespace deberta
