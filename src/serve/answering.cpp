#include "serve/answering.h"

#include <fmt/format.h>

#include "serve/api_error.h"

namespace deberta::serve {

size_t Inputs::characters() const {
  size_t bytes = 0;
  for (const auto& [text, pair] : texts_) bytes += text.size() + (pair ? pair->size() : 0);
  return bytes;
}

std::vector<TextInput> Inputs::views() const {
  std::vector<TextInput> views;
  for (const auto& [text, pair] : texts_) {
    TextInput& view = views.emplace_back(TextInput{text});
    if (pair) view.pair = *pair;
  }
  return views;
}

EncodingRules rules_of(const ServedModel& model, Body& body) {
  EncodingRules rules;
  rules.encode.max_tokens = model.max_input_length;
  const bool cuts = body.flag("truncate").value_or(model.cuts);
  const std::optional<std::string> direction = body.choice("truncation_direction", {"left", "right"});
  rules.long_text = cuts ? LongText::kCut : LongText::kRefuse;
  if (cuts) rules.encode.truncate = direction == "left" ? Truncate::kLeft : Truncate::kRight;
  return rules;
}

void check_count(const ServedModel& model, size_t count, const std::string& pointer) {
  if (count == 0)
    throw ApiError(ApiCode::kEmptyInput, fmt::format("{}: expected at least one, got none", pointer), pointer);
  if (count > model.max_client_batch)
    throw ApiError(ApiCode::kBatchTooLarge,
                   fmt::format("{}: expected at most {}, got {}", pointer, model.max_client_batch, count), pointer);
}

Json vector_json(const std::vector<float>& values) {
  return JsonArray(values.begin(), values.end());
}

}  // namespace deberta::serve
