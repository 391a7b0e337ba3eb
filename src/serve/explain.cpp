#include "serve/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "analysis/head_figures.h"
#include "checkpoint/cast.h"
#include "serve/api_error.h"

namespace deberta::serve {
namespace {

constexpr size_t kMostTokens = 256;
constexpr size_t kMostKept = 8;
constexpr size_t kMostBytes = size_t{256} << 20;
constexpr int64_t kKeptTime = 60000000;  // microseconds after it was asked last

[[noreturn]] void refuse(std::string_view name, const std::string& message) {
  throw ApiError(ApiCode::kValidation, fmt::format("{}: {}", name, message));
}

// The value of a name in a query of plain words and numbers.
std::string_view value_of(std::string_view query, std::string_view name) {
  while (!query.empty()) {
    const std::string_view part = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), part.size() + 1));
    if (part.size() > name.size() && part.starts_with(name) && part[name.size()] == '=')
      return part.substr(name.size() + 1);
  }
  return {};
}

size_t number_of(std::string_view query, std::string_view name, size_t low, size_t high) {
  const std::string_view text = value_of(query, name);
  size_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || read.ec != std::errc() || read.ptr != text.data() + text.size() || number < low || number > high)
    refuse(name, fmt::format("expected a whole number in {}..{}, got {}", low, high, quote_json(text)));
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

std::string halves_of(std::span<const float> values) {
  std::string bytes(values.size() * sizeof(uint16_t), '\0');
  for (size_t i = 0; i < values.size(); ++i) {
    const uint16_t bits = f16_bits(values[i]);
    std::memcpy(bytes.data() + i * sizeof bits, &bits, sizeof bits);
  }
  return bytes;
}

// value = zero + scale * byte
struct Quantized {
  std::string bytes;
  float scale = 0, zero = 0;
};
Quantized quantized(std::span<const float> values) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  Quantized made{.bytes = {}, .scale = (*high - *low) / 255, .zero = *low};
  for (const float value : values)
    made.bytes += static_cast<char>(made.scale > 0 ? std::lround((value - made.zero) / made.scale) : 0);
  return made;
}

JsonArray tokens_json(const Tokenizer& tokenizer, const Encoding& encoding) {
  JsonArray tokens;
  for (size_t i = 0; i < encoding.size(); ++i) {
    const bool is_special = encoding.is_special[i] != 0;
    tokens.push_back(JsonObject{{"text", tokenizer.piece(encoding.ids[i])},
                                {"special", is_special},
                                {"segment", int64_t{encoding.type_ids[i]}},
                                {"start", is_special ? Json() : Json(int64_t{encoding.chars[i].begin})},
                                {"end", is_special ? Json() : Json(int64_t{encoding.chars[i].end})}});
  }
  return tokens;
}

// Terms that the model has, by the names of the paper.
JsonArray names_of(const AttentionTerms& terms) {
  JsonArray names{"c2c"};
  if (!terms.layers.front().c2p_HLL.empty()) names.push_back("c2p");
  if (!terms.layers.front().p2c_HLL.empty()) names.push_back("p2c");
  return names;
}

JsonArray rows_of(const ServedModel& model, size_t tokens) {
  JsonArray rows;
  if (!model.pipeline.config.relative_attention) return rows;
  for (const int32_t row : relative_position_rows(model.pipeline.config, static_cast<int64_t>(tokens)))
    rows.push_back(int64_t{row});
  return rows;
}

size_t bytes_of(const AttentionTerms& terms) {
  size_t floats = 0;
  for (const LayerTerms& layer : terms.layers)
    floats += layer.c2c_HLL.size() + layer.c2p_HLL.size() + layer.p2c_HLL.size() + layer.sum_HLL.size() +
              layer.softmax_HLL.size();
  return floats * sizeof(float);
}

}  // namespace

HttpResponse Explanations::explain(const ServedModel& model, Body& body, int64_t now) {
  const std::optional<std::string> text = body.text("text");
  if (!text) body.refuse_missing("text");
  const std::optional<std::string> pair = body.text("text_pair");
  TextInput input{.text = *text};
  if (pair) input.pair = *pair;
  const Tokenizer& tokenizer = model.pipeline.tokenizer;
  const Encoding encoding = encode_input(tokenizer, input, EncodingRules());
  if (encoding.size() > kMostTokens)
    body.refuse("text", fmt::format("expected at most {} tokens, got {}", kMostTokens, encoding.size()));
  AttentionTerms terms = attention_terms(model.pipeline.model, encoding);
  for (const LayerTerms& layer : terms.layers) {
    if (!std::all_of(layer.softmax_HLL.begin(), layer.softmax_HLL.end(), [](float v) { return std::isfinite(v); }))
      throw ApiError(ApiCode::kBackendNan, fmt::format("layer {}: a weight is not a number", layer.layer));
  }
  const ModelConfig& config = model.pipeline.config;
  const JsonArray names = names_of(terms);
  const double head_size = static_cast<double>(config.attention_head_size);
  JsonObject about{{"model", model.name},
                   {"tokens", tokens_json(tokenizer, encoding)},
                   {"layers", uint64_t{terms.layers.size()}},
                   {"heads", uint64_t{terms.heads}},
                   {"terms", names},
                   {"scale", 1 / std::sqrt(head_size * static_cast<double>(names.size()))},
                   {"rows", rows_of(model, encoding.size())}};
  about.emplace_back("explain_id", keep(std::move(terms), now));
  return json_response(std::move(about));
}

std::string Explanations::keep(AttentionTerms terms, int64_t now) {
  const std::lock_guard lock(mutex_);
  Kept one{new_id(), nullptr, bytes_of(terms), now};
  one.terms = std::make_shared<const AttentionTerms>(std::move(terms));
  kept_.push_front(std::move(one));
  forget(now);
  return kept_.front().id;
}

// What is old, too many or too large; the newest stays whatever it is.
void Explanations::forget(int64_t now) {
  size_t count = 0, bytes = 0;
  for (auto at = kept_.begin(); at != kept_.end();) {
    ++count;
    bytes += at->bytes;
    const bool goes = count > 1 && (count > kMostKept || bytes > kMostBytes || now - at->asked > kKeptTime);
    at = goes ? kept_.erase(at) : std::next(at);
  }
}

std::shared_ptr<const AttentionTerms> Explanations::find(std::string_view query, int64_t now) {
  const std::string_view id = value_of(query, "id");
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(kept_.begin(), kept_.end(), [&](const Kept& one) { return one.id == id; });
  if (found == kept_.end())
    throw ApiError(ApiCode::kNotFound, fmt::format("no explanation {}: they are kept for a minute", quote_json(id)));
  found->asked = now;
  kept_.splice(kept_.begin(), kept_, found);
  return kept_.front().terms;
}

HttpResponse Explanations::terms(std::string_view query, int64_t now) {
  const std::shared_ptr<const AttentionTerms> terms = find(query, now);
  const size_t layer = number_of(query, "layer", 1, terms->layers.size());
  const size_t head = number_of(query, "head", 0, terms->heads - 1);
  const std::string_view name = value_of(query, "term"), dtype = value_of(query, "dtype");
  const std::vector<float>& all = term_of(terms->layers[layer - 1], name);
  if (all.empty()) refuse("term", fmt::format("the model has no {}", name));
  const size_t count = terms->tokens * terms->tokens;
  const std::span<const float> values = std::span(all).subspan(head * count, count);
  std::vector<Header> headers = {{"x-shape", fmt::format("{},{}", terms->tokens, terms->tokens)}};
  if (dtype == "f16") return bytes_response(halves_of(values), headers);
  if (dtype != "u8") refuse("dtype", fmt::format("expected f16 or u8, got {}", quote_json(dtype)));
  Quantized made = quantized(values);
  headers.emplace_back("x-scale", fmt::format("{}", made.scale));
  headers.emplace_back("x-zero", fmt::format("{}", made.zero));
  return bytes_response(std::move(made.bytes), headers);
}

HttpResponse Explanations::heads(std::string_view query, int64_t now) {
  JsonArray all;
  for (const HeadFigures& one : head_figures(*find(query, now)))
    all.push_back(JsonObject{{"layer", int64_t{one.layer}},
                             {"head", uint64_t{one.head}},
                             {"entropy", one.entropy},
                             {"distance", one.distance},
                             {"cls", one.first},
                             {"shares", JsonObject{{"c2c", one.c2c}, {"c2p", one.c2p}, {"p2c", one.p2c}}}});
  return json_response(JsonObject{{"heads", std::move(all)}});
}

HttpResponse Explanations::thumbnails(std::string_view query, int64_t now) {
  const std::shared_ptr<const AttentionTerms> terms = find(query, now);
  const Thumbnails made = deberta::thumbnails(*terms, number_of(query, "size", 1, 64));
  return bytes_response(
      std::string(made.pixels.begin(), made.pixels.end()),
      {{"x-shape", fmt::format("{},{},{},{}", terms->layers.size(), terms->heads, made.size, made.size)}});
}

}  // namespace deberta::serve
