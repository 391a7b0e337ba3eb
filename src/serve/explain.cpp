// Runs a text with its attention terms, keeps the most recent ones, and hands them out as bytes or JSON.
#include "serve/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "analysis/explanation.h"
#include "analysis/head_figures.h"
#include "analysis/head_number.h"
#include "base/utf8.h"
#include "heads/head_facts.h"
#include "serve/api_error.h"
#include "serve/short_text.h"

namespace deberta::serve {

namespace {

// With the bytes that %XX stands for: a client that makes an address of values writes org/name as org%2Fname.
std::string unescaped(std::string_view value) {
  std::string text;
  for (size_t i = 0; i < value.size(); ++i) {
    unsigned byte = 0;
    const std::string_view digits = value.substr(i).size() > 2 ? value.substr(i + 1, 2) : std::string_view();
    const bool is_escape = value[i] == '%' && !digits.empty() &&
                           std::from_chars(digits.data(), digits.data() + 2, byte, 16).ptr == digits.data() + 2;
    text += is_escape ? static_cast<char>(byte) : value[i];
    if (is_escape) i += 2;
  }
  return replace_invalid_utf8(text);
}

}  // namespace

std::string query_value(std::string_view query, std::string_view name) {
  while (!query.empty()) {
    const std::string_view part = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), part.size() + 1));
    if (part.size() > name.size() && part.starts_with(name) && part[name.size()] == '=')
      return unescaped(part.substr(name.size() + 1));
  }
  return {};
}

namespace {

constexpr size_t kMostKept = 8;
constexpr size_t kMostLength = 4096;     // tokens of a text of which no more than the length is given
constexpr int64_t kKeptTime = 60000000;  // microseconds after it was asked last

[[noreturn]] void refuse(std::string_view name, const std::string& message) {
  throw ApiError(ApiCode::kValidation, fmt::format("{}: {}", name, message));
}

size_t number_of(std::string_view query, std::string_view name, size_t low, size_t high, std::string_view remedy = {}) {
  const std::string text = query_value(query, name);
  size_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || read.ec != std::errc() || read.ptr != text.data() + text.size() || number < low || number > high)
    refuse(name, fmt::format("expected a whole number in {}..{}, got {}{}{}", low, high, quote_json(text),
                             remedy.empty() ? "" : "; ", remedy));
  return number;
}

HttpResponse bytes_response(std::string body, std::vector<Header> headers) {
  headers.emplace_back("content-type", "application/octet-stream");
  return {.status = 200, .headers = std::move(headers), .body = std::move(body)};
}

const std::vector<float>& term_of(const LayerTerms& layer, std::string_view name) {
  if (name == "c2c") return layer.c2c_HLL;
  if (name == "c2p") return layer.c2p_HLL;
  if (name == "p2c") return layer.p2c_HLL;
  if (name == "sum") return layer.sum_HLL;
  if (name == "softmax") return layer.softmax_HLL;
  refuse("term", fmt::format("expected c2c, c2p, p2c, sum or softmax, got {}", quote_json(name)));
}

// value = zero + scale * byte
struct Quantized {
  std::string bytes;
  float scale = 0, zero = 0;
};
Quantized quantized(std::span<const float> values) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  Quantized result{.bytes = {}, .scale = (*high - *low) / 255, .zero = *low};
  for (const float value : values)
    result.bytes += static_cast<char>(result.scale > 0 ? std::lround((value - result.zero) / result.scale) : 0);
  return result;
}

size_t bytes_of(const AttentionTerms& terms) {
  size_t floats = 0;
  for (const LayerTerms& layer : terms.layers)
    floats += layer.c2c_HLL.size() + layer.c2p_HLL.size() + layer.p2c_HLL.size() + layer.sum_HLL.size() +
              layer.softmax_HLL.size();
  return floats * sizeof(float);
}

size_t length_of(std::string_view query) {
  return number_of(query, "length", 1, kMostLength);
}

void append(JsonObject fields, JsonObject& object) {
  for (JsonMember& field : fields) object.push_back(std::move(field));
}

}  // namespace

HttpResponse explain_positions(const ServedModel& model, std::string_view query) {
  const ModelConfig& config = model.pipeline.config;
  const size_t length = length_of(query);
  return json_response(JsonObject{{"model", model.name},
                                  {"length", uint64_t{length}},
                                  {"table_rows", config.relative_attention ? 2 * config.span() : int64_t{0}},
                                  {"rows", position_rows_json(config, length)}});
}

namespace {

HttpResponse size_response(std::string_view name, size_t length, const ModelSize& size) {
  JsonObject about{{"model", name}, {"length", uint64_t{length}}};
  append(size_json(size), about);
  JsonArray names;
  for (const PublishedSize& published : published_sizes()) names.emplace_back(published.name);
  about.emplace_back("published", std::move(names));
  return json_response(std::move(about));
}

}  // namespace

HttpResponse explain_size(const ServedModel& model, std::string_view query) {
  const size_t length = length_of(query);
  const Model& own = model.pipeline.model;
  return size_response(
      model.name, length,
      model_size(model.pipeline.config, facts_of(own.head()), own.labels(), static_cast<int32_t>(length)));
}

HttpResponse explain_size(const PublishedSize& size, std::string_view query) {
  const size_t length = length_of(query);
  return size_response(size.name, length, model_size(published_config(size), static_cast<int32_t>(length)));
}

HttpResponse Explanations::explain(const ServedModel& model, Body& body, const std::string& owner, int64_t now) {
  const Pipeline& pipeline = model.pipeline;
  const size_t most = most_term_tokens(pipeline.config, pipeline.config.num_hidden_layers, most_bytes_);
  const Encoding encoding = encode_short(model, body, read_text_or_pair(body), short_text_rules(most));
  AttentionTerms terms = attention_terms(pipeline.model, encoding);
  check_finite(terms);
  JsonObject about{{"model", model.name}};
  append(explanation_json(pipeline.config, pipeline.tokenizer, encoding, terms), about);
  about.emplace_back("explain_id", keep(std::move(terms), owner, now));
  return json_response(std::move(about));
}

std::string Explanations::keep(AttentionTerms terms, const std::string& owner, int64_t now) {
  const std::lock_guard lock(mutex_);
  Kept kept{new_secret(), owner, nullptr, bytes_of(terms), now};
  kept.terms = std::make_shared<const AttentionTerms>(std::move(terms));
  kept_.push_front(std::move(kept));
  forget(now);
  return kept_.front().id;
}

// What is old, too many or too large; the newest stays.
void Explanations::forget(int64_t now) {
  size_t count = 0, bytes = 0;
  for (auto at = kept_.begin(); at != kept_.end();) {
    ++count;
    bytes += at->bytes;
    const bool goes = count > 1 && (count > kMostKept || bytes > most_bytes_ || now - at->asked > kKeptTime);
    at = goes ? kept_.erase(at) : std::next(at);
  }
}

std::shared_ptr<const AttentionTerms> Explanations::find(std::string_view query, const std::string& owner,
                                                         int64_t now) {
  const std::string id = query_value(query, "id");
  const std::lock_guard lock(mutex_);
  const auto entry =
      std::find_if(kept_.begin(), kept_.end(), [&](const Kept& kept) { return kept.id == id && kept.owner == owner; });
  if (entry == kept_.end())
    throw ApiError(ApiCode::kNotFound,
                   fmt::format("no explanation {}; an explanation is kept for a minute", quote_json(id)));
  entry->asked = now;
  kept_.splice(kept_.begin(), kept_, entry);
  return kept_.front().terms;
}

HttpResponse Explanations::terms(std::string_view query, const std::string& owner, int64_t now) {
  const std::shared_ptr<const AttentionTerms> terms = find(query, owner, now);
  const size_t layer = number_of(query, "layer", 1, terms->layers.size());
  const size_t head = head_index(number_of(query, "head", 1, terms->heads, kHeadRemedy));
  const std::string name = query_value(query, "term"), dtype = query_value(query, "dtype");
  const std::vector<float>& all = term_of(terms->layers[layer - 1], name);
  if (all.empty()) refuse("term", fmt::format("the model has no {}", name));
  const size_t count = terms->tokens * terms->tokens;
  const std::span<const float> values = std::span(all).subspan(head * count, count);
  std::vector<Header> headers = {{"x-shape", fmt::format("{},{}", terms->tokens, terms->tokens)}};
  if (dtype == "f16") return bytes_response(half_bytes(values), headers);
  if (dtype != "u8") refuse("dtype", fmt::format("expected f16 or u8, got {}", quote_json(dtype)));
  Quantized packed = quantized(values);
  headers.emplace_back("x-scale", fmt::format("{}", packed.scale));
  headers.emplace_back("x-zero", fmt::format("{}", packed.zero));
  return bytes_response(std::move(packed.bytes), headers);
}

HttpResponse Explanations::heads(std::string_view query, const std::string& owner, int64_t now) {
  return json_response(JsonObject{{"heads", heads_json(*find(query, owner, now))}});
}

HttpResponse Explanations::thumbnails(std::string_view query, const std::string& owner, int64_t now) {
  const std::shared_ptr<const AttentionTerms> terms = find(query, owner, now);
  const Thumbnails images = deberta::thumbnails(*terms, number_of(query, "size", 1, 64));
  return bytes_response(
      std::string(images.pixels.begin(), images.pixels.end()),
      {{"x-shape", fmt::format("{},{},{},{}", terms->layers.size(), terms->heads, images.size, images.size)}});
}

}  // namespace deberta::serve
