// Limits follow from the memory of what is shown; texts are read as those of any other route.
#include "serve/short_text.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "analysis/explanation.h"
#include "pipeline/encodings.h"

namespace deberta::serve {
namespace {

constexpr size_t kTermBytes = 20;  // per query, key and head: three terms, their sum and the weight
constexpr size_t kFewestTokens = 8;

}  // namespace

size_t most_term_tokens(const ModelConfig& config, int64_t layers, size_t bytes) {
  const int64_t heads = std::max<int64_t>(1, layers * config.num_attention_heads);
  const size_t of_pair = kTermBytes * static_cast<size_t>(heads);
  return static_cast<size_t>(std::sqrt(bytes / of_pair));
}

size_t most_word_rows(const ModelConfig& config, size_t bytes) {
  const auto words = static_cast<size_t>(std::max<int64_t>(1, config.vocab_size));
  return std::max<size_t>(1, bytes / (words * sizeof(float)));
}

EncodingRules short_text_rules(size_t most_tokens) {
  return {.encode = {.max_tokens = std::clamp(most_tokens, kFewestTokens, kMostExplainedTokens)},
          .long_text = LongText::kRefuse};
}

ShortText read_text(Body& body) {
  std::optional<std::string> text = body.text("text");
  if (!text) body.refuse_missing("text");
  return {.text = std::move(*text)};
}

ShortText read_text_or_pair(Body& body) {
  ShortText text = read_text(body);
  text.pair = body.text("text_pair");
  return text;
}

Encoding encode_short(const ServedModel& model, const Body& body, const ShortText& text, const EncodingRules& rules) {
  const Tokenizer& tokenizer = model.pipeline.tokenizer;
  TextInput input{.text = text.text};
  if (text.pair) input.pair = *text.pair;
  const Places places(tokenizer, rules, nullptr, [&]() -> std::vector<PlacedText> {
    return {{text.text, body.pointer_of("text"), text.pair, body.pointer_of("text_pair")}};
  });
  return places.plan([&] { return encode_one(tokenizer, input, rules); });
}

}  // namespace deberta::serve
