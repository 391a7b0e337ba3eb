// The data of the explorer's views: terms in half precision, figures and thumbnails of heads, and what the answer loses
// without each word.
#include "cli/heads_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "analysis/explanation.h"
#include "base/base64.h"
#include "base/utf8.h"
#include "cli/explorer_page.h"
#include "cli/figure_maker.h"
#include "deberta/error.h"
#include "decode/classification.h"
#include "heads/head_facts.h"
#include "program/interrupt.h"
#include "program/model_options.h"
#include "program/progress_printer.h"

namespace deberta::cli {
namespace {

// By term, one string for each head of each layer.
JsonObject values_json(const AttentionTerms& terms) {
  const size_t count = terms.tokens * terms.tokens;
  JsonObject values;
  const auto add = [&](const char* name, std::vector<float> LayerTerms::*term) {
    JsonArray heads;
    for (const LayerTerms& layer : terms.layers) {
      const std::span<const float> all = layer.*term;
      for (size_t head = 0; head < all.size() / count; ++head)
        heads.push_back(to_base64(half_bytes(all.subspan(head * count, count))));
    }
    if (!heads.empty()) values.emplace_back(name, std::move(heads));
  };
  add("c2c", &LayerTerms::c2c_HLL);
  add("c2p", &LayerTerms::c2p_HLL);
  add("p2c", &LayerTerms::p2c_HLL);
  return values;
}

// The words between white space, in bytes.
std::vector<Offset> words_of(const std::string& text) {
  constexpr const char* kSpace = " \t\n\v\f\r";
  std::vector<Offset> words;
  for (size_t at = text.find_first_not_of(kSpace); at != std::string::npos; at = text.find_first_not_of(kSpace, at)) {
    const size_t end = std::min(text.find_first_of(kSpace, at), text.size());
    words.push_back({static_cast<uint32_t>(at), static_cast<uint32_t>(end)});
    at = end;
  }
  return words;
}

// The scores of a text and of the text without each of its words, in order. With a long text and a large model this
// takes minutes.
std::vector<SequenceAnswer> without_words(const AnalyzeVerb& verb, const Pipeline& pipeline, const Row& row,
                                          const std::vector<Offset>& words) {
  constexpr size_t kAtOnce = 16;
  std::vector<std::string> texts{row.text};
  for (const Offset& word : words) texts.push_back(row.text.substr(0, word.begin) + row.text.substr(word.end));
  std::vector<TextInput> inputs;
  for (std::string& text : texts) {
    if (text.empty()) text = " ";
    inputs.push_back({.text = text});
    if (row.pair) inputs.back().pair = *row.pair;
  }
  SequenceOptions options;
  options.rules = program::encoding_rules(verb.encoding);
  program::ProgressPrinter progress(verb.progress, words.size() > kAtOnce, {.items = "words"});
  std::vector<SequenceAnswer> answers;
  for (size_t begin = 0; begin < inputs.size(); begin += kAtOnce) {
    program::check_interrupted();
    const auto part = std::span(inputs).subspan(begin, std::min(kAtOnce, inputs.size() - begin));
    for (SequenceAnswer& answer : classify(pipeline, part, options)) answers.push_back(std::move(answer));
    progress.update(answers.size() - 1, 0, static_cast<double>(answers.size()) / static_cast<double>(inputs.size()));
  }
  return answers;
}

// How much the score of the first label falls without each word; null unless the model has labels.
Json occlusion_json(const AnalyzeVerb& verb, const Pipeline& pipeline, const Row& row) {
  if (!facts_of(pipeline.model.head()).is_per_sequence()) return {};
  const std::vector<Offset> words = words_of(row.text);
  const std::vector<SequenceAnswer> answers = without_words(verb, pipeline, row, words);
  const std::vector<float>& whole = answers.front().scores;
  const auto best = static_cast<size_t>(std::max_element(whole.begin(), whole.end()) - whole.begin());
  JsonArray falls;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string_view before = std::string_view(row.text).substr(0, words[i].begin);
    const std::string_view word = std::string_view(row.text).substr(words[i].begin, words[i].end - words[i].begin);
    const size_t start = count_code_points(before);
    falls.push_back(JsonObject{{"start", uint64_t{start}},
                               {"end", uint64_t{start + count_code_points(word)}},
                               {"fall", whole[best] - answers[i + 1].scores[best]}});
  }
  return JsonObject{{"label", label_name(pipeline.config.labels, best)}, {"score", whole[best]}, {"words", falls}};
}

void check_page(const Pipeline& pipeline, const Row& row, size_t tokens) {
  if (tokens > kMostExplainedTokens)
    throw Error(ErrorCode::kTextTooLong, row.where,
                fmt::format("expected at most {} tokens for a page, got {}", kMostExplainedTokens, tokens));
  constexpr uint64_t kMostBytes = 256'000'000;  // a browser reads them as one string
  const ModelConfig& config = pipeline.config;
  const auto heads = static_cast<uint64_t>(config.num_hidden_layers * config.num_attention_heads);
  const uint64_t bytes = heads * tokens * tokens * 3 * 8 / 3;  // three terms of two bytes, four letters for three bytes
  if (bytes > kMostBytes)
    throw Error(ErrorCode::kTextTooLong, row.where,
                fmt::format("expected a page of at most {} MB, got {} MB for {} tokens and {} heads",
                            kMostBytes / 1000000, bytes / 1000000, tokens, heads));
}

}  // namespace

std::string heads_page(const AnalyzeVerb& options, const Pipeline& pipeline, const Row& row) {
  const EncodingRules rules = program::encoding_rules(options.encoding);
  const Encoding encoding = encode_tokens(pipeline.tokenizer, row, rules);
  check_page(pipeline, row, encoding.size());
  const AttentionTerms terms = attention_terms(pipeline.model, encoding);
  check_finite(terms);
  const Thumbnails pictures = thumbnails(terms, 40);
  const JsonObject data{
      {"model", JsonObject{{"name", options.model.name}}},
      {"text", row.text},
      {"second", row.pair.value_or("")},
      {"about", explanation_json(pipeline.config, pipeline.tokenizer, encoding, terms)},
      {"values", values_json(terms)},
      {"heads", heads_json(terms)},
      {"thumbnails", to_base64({reinterpret_cast<const char*>(pictures.pixels.data()), pictures.pixels.size()})},
      {"occlusion", occlusion_json(options, pipeline, row)},
  };
  return explorer_page(data);
}

}  // namespace deberta::cli
