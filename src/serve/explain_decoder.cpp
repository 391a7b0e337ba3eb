// The mask decoder of a model on one text: its passes, what it changes in the predictions, words at the masks.
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "analysis/explanation.h"
#include "analysis/mask_decoder.h"
#include "serve/explain.h"
#include "serve/fields.h"
#include "serve/short_text.h"

namespace deberta::serve {
namespace {

constexpr size_t kForms = 4;  // with, without, shifted, swapped
constexpr size_t kMostMasks = 16;
constexpr size_t kMostFilledTokens = 8192;  // in the copies of a text that words at its masks take

// The passes have logits for every token, and terms of all heads; a shifted text needs one more position.
size_t most_tokens(const ModelConfig& config, size_t bytes) {
  return std::min({most_term_tokens(config, config.mask_decoder_passes, bytes), most_word_rows(config, bytes),
                   static_cast<size_t>(std::max<int64_t>(1, config.max_position_embeddings - 1))});
}

void check_masks(const Encoding& encoding, const Tokenizer& tokenizer, size_t most, const Body& body) {
  const int32_t mask = tokenizer.special().mask;
  const auto masks = static_cast<size_t>(std::ranges::count(encoding.ids, mask));
  if (masks == 0)
    body.refuse("text", fmt::format("expected at least one mask token, got none; write {} where a word is missing",
                                    tokenizer.piece(mask)));
  if (masks > most) body.refuse("text", fmt::format("expected at most {} mask tokens, got {}", most, masks));
}

JsonArray fillings_of(const ServedModel& model, Body& body, const std::string& text, const EncodingRules& rules) {
  const std::vector<std::string> words = body.texts(field::kWords).value_or(std::vector<std::string>());
  if (words.empty()) return {};
  WordFillingOptions options{.encode = rules.encode, .most_tokens = kMostFilledTokens};
  options.encode.most_tokens = rules.encode.max_tokens;  // once a word of many pieces stands in it
  const Pipeline& pipeline = model.pipeline;
  const Places places(pipeline.tokenizer, rules, &body, [] { return std::vector<PlacedText>(); });
  return places.plan(
      [&] { return fillings_json(word_fillings(pipeline.model, pipeline.tokenizer, text, words, options)); });
}

}  // namespace

HttpResponse explain_decoder(Explanations& kept, const ServedModel& model, Body& body, const std::string& owner,
                             int64_t now) {
  const Pipeline& pipeline = model.pipeline;
  check_mask_decoder(pipeline.model);
  const auto top_k = static_cast<size_t>(body.whole_or_default(field::kTopPredictions));
  EncodingRules rules = short_text_rules(most_tokens(pipeline.config, kept.most_bytes()));
  rules.encode.parse_mask = true;
  const ShortText text = read_text(body);
  const Encoding encoding = encode_short(model, body, text, rules);
  const size_t most_masks = most_word_rows(pipeline.config, kept.most_bytes() / kForms);
  check_masks(encoding, pipeline.tokenizer, std::min(kMostMasks, most_masks), body);
  JsonArray fillings = fillings_of(model, body, text.text, rules);
  AttentionTerms terms = decoder_terms(pipeline.model, encoding);
  check_finite(terms);
  const DecoderEffect effect = decoder_effect(pipeline.model, encoding, pipeline.tokenizer.special().mask);
  JsonObject about = explanation_json(pipeline.config, pipeline.tokenizer, encoding, terms, "passes");
  about.emplace_back("model", model.name);
  about.emplace_back("masks", predictions_json(effect, pipeline.tokenizer, top_k));
  about.emplace_back("fillings", std::move(fillings));
  about.emplace_back("explain_id", kept.keep(std::move(terms), owner, now));
  return json_response(std::move(about));
}

}  // namespace deberta::serve
