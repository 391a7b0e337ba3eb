#include "serve/answering.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "deberta/error.h"
#include "decode/pooling.h"
#include "serve/api_error.h"

namespace deberta::serve {
namespace {

constexpr int64_t kMostDimensions = 65536;

}  // namespace

HttpResponse json_response(const Json& body) {
  return {.status = 200, .headers = {{"content-type", "application/json"}}, .body = body.dump()};
}

namespace {

// The parts of an answer, as many at once as make a piece.
class Parts {
 public:
  Parts(std::string begin, size_t count, std::function<void(size_t, std::string&)> write, std::string end)
      : waiting_(std::move(begin)), count_(count), write_(std::move(write)), end_(std::move(end)) {}

  bool has_ended() const { return has_ended_; }
  std::string next() {
    std::string piece = std::exchange(waiting_, {});
    while (next_ < count_ && piece.size() < kPieceBytes) write_(next_++, piece);
    if (next_ == count_ && !std::exchange(has_ended_, true)) piece += end_;
    return piece;
  }

 private:
  std::string waiting_;
  size_t next_ = 0, count_;
  std::function<void(size_t, std::string&)> write_;
  std::string end_;
  bool has_ended_ = false;
};

}  // namespace

HttpResponse parts_response(std::string begin, size_t count, std::function<void(size_t i, std::string& out)> write,
                            std::string end) {
  HttpResponse response{.status = 200, .headers = {{"content-type", "application/json"}}};
  auto parts = std::make_shared<Parts>(std::move(begin), count, std::move(write), std::move(end));
  std::string first = parts->next();
  if (parts->has_ended()) {
    response.body = std::move(first);
    return response;
  }
  response.pieces = [parts, first = std::move(first)]() mutable {
    return first.empty() ? parts->next() : std::exchange(first, {});
  };
  return response;
}

VectorTexts::VectorTexts(std::vector<EmbeddingAnswer> answers, size_t columns)
    : answers_(std::move(answers)), columns_(columns) {
  for (const EmbeddingAnswer& answer : answers_) {
    if (!std::ranges::all_of(answer.vectors, [](float value) { return std::isfinite(value); }))
      throw Error(ErrorCode::kNotFinite, "vectors", "a number is not finite");
    starts_.push_back(starts_.back() + answer.vectors.size() / columns);
  }
}

void VectorTexts::add_row(size_t i, std::string_view open, std::string_view close, std::string& out) const {
  const auto text = static_cast<size_t>(std::ranges::upper_bound(starts_, i) - starts_.begin()) - 1;
  const size_t row = i - starts_[text];
  if (i > 0) out += ", ";
  if (row == 0) out += open;
  append_json(out, std::span(answers_[text].vectors).subspan(row * columns_, columns_));
  if (i + 1 == starts_[text + 1]) out += close;
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
