// Helpers that every family of routes uses: inputs and rules from a body, vectors and labels into a response.
#include "serve/answering.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "deberta/error.h"
#include "decode/offset_units.h"
#include "decode/pooling.h"
#include "serve/api_error.h"
#include "serve/fields.h"

namespace deberta::serve {

HttpResponse json_response(const Json& body) {
  return {.status = 200, .headers = {{"content-type", "application/json"}}, .body = body.dump()};
}

namespace {

// The parts of an answer; a piece has as many as fill it.
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

// A list has a part that opens it, and one for each item.
HttpResponse lists_response(std::vector<WrittenList> lists, std::function<Json(size_t list, size_t item)> item) {
  std::vector<size_t> starts{0};
  for (const WrittenList& list : lists) starts.push_back(starts.back() + 1 + list.items);
  const size_t parts = starts.back();
  const auto write = [lists = std::move(lists), starts = std::move(starts), item = std::move(item)](size_t part,
                                                                                                    std::string& out) {
    const auto i = static_cast<size_t>(std::ranges::upper_bound(starts, part) - starts.begin()) - 1;
    const size_t at = part - starts[i];
    if (at == 0) out += lists[i].begin;
    if (at > 1) out += ", ";
    if (at > 0) out += item(i, at - 1).dump();
    if (at == lists[i].items) out += lists[i].end;
  };
  return parts_response("", parts, write, "");
}

std::vector<WrittenList> lists_of_texts(const std::vector<size_t>& items, bool is_list) {
  std::vector<WrittenList> lists;
  const char* const first = is_list ? "[[" : "[";
  for (const size_t count : items)
    lists.push_back({.begin = lists.empty() ? first : ", [", .items = count, .end = "]"});
  if (is_list) lists.back().end += "]";
  return lists;
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
  Answering reply;
  for (const size_t tokens : plan.sequences.tokens()) reply.tokens += tokens;
  for (const Encoding& encoding : plan.sequences.encodings()) {
    reply.plan_bytes += encoding.size() * kHeldTokenBytes;
    reply.cut_inputs += encoding.cut_tokens > 0;
    reply.cut_tokens += encoding.cut_tokens;
  }
  if (plan.sequences.makes_sequences()) reply.plan_bytes += plan.sequences.size() * kMadeSequenceBytes;
  reply.plan = std::make_shared<SequencePlan>(std::move(plan));
  return reply;
}

void Inputs::add_all(const ServedModel& model, const Json& array, const std::string& pointer) {
  if (!array.is_array())
    Body::refuse_at(pointer, fmt::format("expected a string or an array of strings, got {}", array.describe()));
  add_all(listed_texts(model, array, pointer), pointer);
}

void Inputs::add_all(std::vector<std::string> texts, const std::string& pointer) {
  for (size_t i = 0; i < texts.size(); ++i) add(std::move(texts[i]), fmt::format("{}/{}", pointer, i));
}

size_t Inputs::characters() const {
  size_t bytes = 0;
  for (const PlacedText& text : texts_) bytes += text.text.size() + (text.pair ? text.pair->size() : 0);
  return bytes;
}

std::vector<TextInput> Inputs::views() const {
  std::vector<TextInput> views;
  for (const PlacedText& text : texts_) {
    TextInput& view = views.emplace_back(TextInput{text.text});
    if (text.pair) view.pair = *text.pair;
  }
  return views;
}

std::vector<std::string> Inputs::texts() const {
  std::vector<std::string> texts;
  for (const PlacedText& text : texts_) texts.push_back(text.text);
  return texts;
}

Places places_of(const ServedModel& model, const EncodingRules& rules, Body& parameters, const Inputs& inputs) {
  return {model.pipeline.tokenizer, rules, &parameters, [&inputs] { return inputs.placed(); }};
}

Places places_of(const ServedModel& model, const EncodingRules& rules, Body& parameters, const PlacedText& first,
                 const std::vector<std::string>& documents, const std::string& pointer) {
  return {model.pipeline.tokenizer, rules, &parameters, [&, pointer] {
            std::vector<PlacedText> placed;
            for (size_t i = 0; i < documents.size(); ++i)
              placed.push_back({first.text, first.pointer, documents[i], fmt::format("{}/{}", pointer, i)});
            return placed;
          }};
}

Answering counted(Answering reply, const Inputs& inputs) {
  reply.items = inputs.size();
  reply.characters = inputs.characters();
  return reply;
}

Answering counted(Answering reply, const std::string& text, const std::vector<std::string>& documents) {
  reply.items = documents.size();
  reply.characters = text.size();
  for (const std::string& document : documents) reply.characters += document.size();
  return reply;
}

VectorCut::VectorCut(const ServedModel& model, Body& body, bool normalizes, EmbeddingOptions& options)
    : normalizes_(normalizes) {
  const std::optional<int64_t> dimensions = body.whole(field::kDimensions);
  options.normalizes = normalizes && !dimensions;
  if (!dimensions) return;
  dimensions_ = static_cast<size_t>(*dimensions);
  const size_t columns = embedding_columns(model.pipeline, options);
  if (*dimensions_ > columns)
    body.refuse(field::kDimensions.name, fmt::format("expected at most {}, the model's, got {}", columns, *dimensions));
}

void VectorCut::apply(std::vector<float>& vector) const {
  if (!dimensions_) return;
  vector.resize(*dimensions_);
  if (normalizes_) normalize(vector);
}

EncodingRules rules_of(const ServedModel& model, LongText by_default) {
  EncodingRules rules;
  const bool cuts = model.cuts.value_or(by_default == LongText::kCut);
  rules.encode.max_tokens = model.max_input_length;
  rules.encode.most_tokens = model.most_tokens;
  rules.encode.truncate = cuts ? Truncate::kRight : Truncate::kNone;
  rules.long_text = cuts ? LongText::kCut : LongText::kRefuse;
  return rules;
}

EncodingRules rules_of(const ServedModel& model, Body& body, LongText by_default) {
  EncodingRules rules = rules_of(model, by_default);
  const bool cuts = body.flag_if_any(field::kTruncate).value_or(rules.long_text == LongText::kCut);
  const std::optional<std::string> direction = body.word(field::kTruncationDirection);
  rules.long_text = cuts ? LongText::kCut : LongText::kRefuse;
  if (cuts) rules.encode.truncate = direction == "left" ? Truncate::kLeft : Truncate::kRight;
  return rules;
}

namespace {

int64_t most_stride(const ServedModel& model) {
  return static_cast<int64_t>(model.max_input_length / 2);
}

void set_windows(const ServedModel& model, WindowScores scores, std::optional<int64_t> stride,
                 SequenceOptions& options) {
  const int64_t by_default = std::min(field::kStride.default_number(), most_stride(model) / 2);
  options.rules.long_text = LongText::kWindow;
  options.rules.stride = static_cast<size_t>(stride.value_or(by_default));
  options.window_scores = scores;
}

}  // namespace

void use_windows(const ServedModel& model, Body& body, SequenceOptions& options) {
  if (!model.window_scores || body.find(field::kTruncate.name) || body.find(field::kTruncationDirection.name)) return;
  set_windows(model, *model.window_scores, {}, options);
  options.benign_labels = model.benign_labels;
}

void read_windows(const ServedModel& model, Body& body, SequenceOptions& options) {
  const std::optional<WindowScores> scores = body.choice<WindowScores>(field::kWindowScores);
  const std::optional<std::vector<std::string>> benign = body.texts(field::kBenignLabels);
  const std::optional<int64_t> stride = body.whole(field::kStride, most_stride(model));
  if (!scores) {
    for (const auto& [name, is_given] :
         {std::pair(field::kBenignLabels.name, benign.has_value()), std::pair(field::kStride.name, stride.has_value())})
      if (is_given) body.refuse(name, fmt::format("expected {} as well", field::kWindowScores.name));
    return use_windows(model, body, options);
  }
  set_windows(model, *scores, stride, options);
  options.benign_labels = benign.value_or(std::vector<std::string>());
}

Json sequence_json(const SequenceAnswer& answer, std::string_view text, OffsetUnit unit, LabelsJson labels) {
  if (answer.windows.empty()) return labels(answer.labels);
  const OffsetUnits units(unit, text);
  JsonArray windows;
  for (const WindowAnswer& window : answer.windows) {
    const Offset offset = units.convert(window.chars, window.bytes);
    windows.push_back(
        JsonObject{{"start", int64_t{offset.begin}}, {"end", int64_t{offset.end}}, {"labels", labels(window.labels)}});
  }
  return windows;
}

OffsetUnit offsets_of(Body& body) {
  return body.choice<OffsetUnit>(field::kOffsets).value_or(OffsetUnit::kChars);
}

void check_first_id(const ServedModel& model, const Encoding& ids, const std::string& pointer) {
  const Tokenizer& tokenizer = model.pipeline.tokenizer;
  const int32_t first = tokenizer.special().cls;
  if (!ids.ids.empty() && ids.ids.front() == first) return;
  throw ApiError(
      ApiCode::kTokenizer,
      fmt::format("{}: expected ids that begin with {} ({}), as this model's tokenizer makes them, got {}; another "
                  "tokenizer's ids would be answered wrongly: send texts",
                  pointer, first, tokenizer.piece(first), ids.ids.empty() ? "none" : std::to_string(ids.ids.front())),
      pointer);
}

void check_most(const ServedModel& model, size_t count, const std::string& pointer) {
  if (count > model.max_client_batch)
    throw ApiError(ApiCode::kBatchTooLarge,
                   fmt::format("{}: expected at most {}, got {}", pointer, model.max_client_batch, count), pointer);
}

void check_count(const ServedModel& model, size_t count, const std::string& pointer) {
  if (count == 0)
    throw ApiError(ApiCode::kEmptyInput, fmt::format("{}: expected at least one, got none", pointer), pointer);
  check_most(model, count, pointer);
}

std::vector<std::string> listed_texts(const ServedModel& model, const Json& array, const std::string& pointer) {
  if (array.is_array()) check_count(model, array.as_array().size(), pointer);
  return texts_of(array, pointer);
}

std::vector<std::string> required_texts(const ServedModel& model, Body& body, std::string_view name) {
  const Json* listed = body.find(name);
  if (listed == nullptr) body.refuse_missing(name);
  return listed_texts(model, *listed, body.pointer_of(name));
}

Json vector_json(const std::vector<float>& values) {
  return JsonArray(values.begin(), values.end());
}

Json scored_labels_json(const std::vector<LabelScore>& labels) {
  JsonArray all;
  for (const LabelScore& label : labels) all.push_back(JsonObject{{"score", label.score}, {"label", label.label}});
  return all;
}

JsonObject usage_json(uint64_t tokens) {
  return {{"prompt_tokens", tokens}, {"total_tokens", tokens}};
}

}  // namespace deberta::serve
