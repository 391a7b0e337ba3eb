#include "serve/answering.h"

#include <fmt/format.h>

#include "decode/pooling.h"
#include "serve/api_error.h"

namespace deberta::serve {
namespace {

constexpr int64_t kMostDimensions = 65536;

}  // namespace

HttpResponse json_response(const Json& body) {
  return {.status = 200, .headers = {{"content-type", "application/json"}}, .body = body.dump()};
}

Answering answering_of(SequencePlan plan) {
  Answering made;
  made.kind = plan.layer ? 1 + static_cast<uint64_t>(*plan.layer) : 0;
  for (const Encoding& sequence : plan.sequences) made.tokens += sequence.size();
  made.plan = std::make_shared<SequencePlan>(std::move(plan));
  return made;
}

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

Answering counted(Answering made, const Inputs& inputs) {
  made.items = inputs.size();
  made.characters = inputs.characters();
  return made;
}

Answering counted(Answering made, const std::string& text, const std::vector<std::string>& others) {
  made.items = others.size();
  made.characters = text.size();
  for (const std::string& other : others) made.characters += other.size();
  return made;
}

VectorCut::VectorCut(const ServedModel& model, Body& body, bool normalizes, EmbeddingOptions& options)
    : normalizes_(normalizes) {
  const std::optional<int64_t> given = body.whole("dimensions", 1, kMostDimensions);
  options.normalizes = normalizes && !given;
  if (!given) return;
  dimensions_ = static_cast<size_t>(*given);
  const size_t columns = embedding_columns(model.pipeline, options);
  if (*dimensions_ > columns)
    body.refuse("dimensions", fmt::format("expected at most {}, the model's, got {}", columns, *given));
}

void VectorCut::apply(std::vector<float>& vector) const {
  if (!dimensions_) return;
  vector.resize(*dimensions_);
  if (normalizes_) normalize(vector);
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
