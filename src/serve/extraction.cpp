// Labels are checked before they are copied; what entities may take follows from the words and labels of a plan.
#include "serve/extraction.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <span>
#include <utility>

#include "decode/entity_candidates.h"
#include "pipeline/entity_labels.h"
#include "serve/api_error.h"

namespace deberta::serve {
namespace {

// ---- labels

EntityLabel checked_label(std::string name, std::string_view description, const std::string& pointer) {
  const size_t bytes = std::max(name.size(), description.size());
  if (bytes > kMostLabelBytes)
    Body::refuse_at(pointer, fmt::format("expected at most {} bytes, got {}", kMostLabelBytes, bytes));
  return entity_label(std::move(name), description);
}

// A list of labels, or an object of labels with their descriptions, each of which may be null.
std::vector<EntityLabel> read_set(const ServedModel& model, const Json& value, const std::string& pointer) {
  std::vector<EntityLabel> labels;
  if (value.is_object()) {
    check_most(model, value.as_object().size(), pointer);
    const Body set(value, pointer);
    for (const auto& [name, description] : value.as_object()) {
      if (!description.is_string() && !description.is_null())
        set.refuse(name, fmt::format("expected a string, got {}", description.describe()));
      const std::string_view text = description.is_null() ? std::string_view() : description.as_string();
      labels.push_back(checked_label(name, text, set.pointer_of(name)));
    }
    return labels;
  }
  if (!value.is_array())
    Body::refuse_at(pointer,
                    fmt::format("expected a list of labels, or an object of labels with their descriptions, got {}",
                                value.describe()));
  check_most(model, value.as_array().size(), pointer);
  for (std::string& name : texts_of(value, pointer))
    labels.push_back(checked_label(std::move(name), {}, fmt::format("{}/{}", pointer, labels.size())));
  return labels;
}

bool is_set(const Json& value) {
  return value.is_array() || value.is_object();
}

AskedLabels read_sets(const ServedModel& model, const Json& value, const std::string& pointer, size_t texts) {
  AskedLabels labels{pointer, {}, value.is_array() && std::ranges::any_of(value.as_array(), is_set)};
  if (!labels.are_by_text) {
    labels.sets.push_back(read_set(model, value, pointer));
    return labels;
  }
  const JsonArray& sets = value.as_array();
  if (sets.size() != texts)
    Body::refuse_at(pointer, fmt::format("expected labels for each of {} texts, got {}", texts, sets.size()));
  for (size_t i = 0; i < sets.size(); ++i)
    labels.sets.push_back(read_set(model, sets[i], fmt::format("{}/{}", pointer, i)));
  return labels;
}

void add_preset(std::string_view name, AskedLabels& labels) {
  const std::vector<EntityLabel> preset = preset_labels(name);
  for (std::vector<EntityLabel>& set : labels.sets) set.insert(set.end(), preset.begin(), preset.end());
}

// As they were read, and in the prompt of their texts.
size_t memory_of(const AskedLabels& labels) {
  size_t bytes = 0;
  for (const std::vector<EntityLabel>& set : labels.sets) {
    for (const EntityLabel& label : set) bytes += 2 * sizeof(EntityLabel) + 2 * (label.name.size() + label.text.size());
  }
  return bytes;
}

// ---- plans

// The text or the labels that the task refuses.
[[noreturn]] void refuse(const Error& error, const AskedEntities& asked) {
  const Problem& problem = error.problems().front();
  if (!problem.input) throw;
  ApiError refusal = api_error_of(std::make_exception_ptr(error));
  refusal.field = asked.pointer(*problem.input);
  if (problem.where == "labels") {
    const AskedLabels& labels = asked.labels;
    refusal.field = labels.are_by_text ? fmt::format("{}/{}", labels.pointer, *problem.input) : labels.pointer;
  }
  refusal.message = fmt::format("{}: {}", refusal.field, error.message());
  throw refusal;
}

// Spans of words that may be above the threshold.
size_t count_possible(const EntityRequest& request, bool has_spans) {
  if (has_spans) return request.rows;
  const size_t words = request.words.words();
  return words * (words + 1) / 2 * request.words.labels.size();
}

// What a plan keeps beside its tokens: words without tokens, and spans until their entities are chosen.
size_t kept_bytes(const SequencePlan& plan, size_t texts, size_t entities, bool has_spans) {
  size_t bytes = 0, spans = 0;
  for (size_t i = 0; i < plan.sequences.size(); ++i) {
    const EntityRequest& request = plan.entities(i);
    const size_t words = request.words.words(), pieces = request.words.pieces.size();
    if (words > pieces) bytes += (words - pieces) * kEncodedBytes;
    spans += count_possible(request, has_spans);
  }
  const bool is_in_windows = plan.sequences.size() > texts;
  return bytes + std::min(is_in_windows ? spans : entities, kMostKeptSpans) * sizeof(EntityCandidate);
}

}  // namespace

AskedLabels labels_of(const ServedModel& model, Body& body, std::string_view name, size_t texts,
                      std::string_view by_default) {
  const Json* value = body.find(name);
  const bool is_empty = value != nullptr && value->is_array() && value->as_array().empty();
  const bool has_none = value == nullptr || (is_empty && !by_default.empty());
  const std::string preset = body.word(field::kPreset).value_or(has_none ? std::string(by_default) : "");
  if (value == nullptr && preset.empty()) body.refuse_missing(name);
  AskedLabels labels{.pointer = body.pointer_of(name), .sets = std::vector<std::vector<EntityLabel>>(1)};
  if (value != nullptr) labels = read_sets(model, *value, labels.pointer, texts);
  add_preset(preset, labels);
  return labels;
}

ExtractOptions extract_options(const ServedModel& model, Body& body, const Field& flat_ner) {
  ExtractOptions options;
  const size_t stride = options.rules.stride;
  options.rules = rules_of(model, LongText::kCut);
  options.rules.long_text = LongText::kWindow;
  options.rules.stride = std::min(stride, model.max_input_length / 4);
  options.threshold = body.number(field::kSpanThreshold);
  options.is_nested = !body.flag(flat_ner);
  options.is_multi_label = body.flag(field::kMultiLabelSpans);
  options.joins_neighbours = body.flag(field::kJoin);
  options.most_candidates = kMostKeptSpans;
  return options;
}

AskedEntities asked_entities(const Inputs& inputs, AskedLabels labels, ExtractOptions options) {
  return {.texts = inputs.views(),
          .pointer = [&inputs](size_t text) { return inputs.placed()[text].pointer; },
          .labels = std::move(labels),
          .options = std::move(options)};
}

// Labels that all texts have are read once.
Planned<TokenAnswer> plan_entities(const ServedModel& model, AskedEntities& asked) {
  const AskedLabels& labels = asked.labels;
  const bool are_shared = !labels.are_by_text && !labels.sets.front().empty();
  if (are_shared) asked.options.labels = labels.sets.front();
  for (size_t i = 0; !are_shared && i < asked.texts.size(); ++i)
    asked.texts[i].labels = std::span<const EntityLabel>(labels.of(i));
  try {
    return plan_extract(model.pipeline, asked.texts, asked.options);
  } catch (const Error& error) {
    refuse(error, asked);
  }
}

EntityBounds bounds_of(const SequencePlan& plan, const ServedModel& model, const AskedEntities& asked) {
  const ExtractOptions& options = asked.options;
  EntityBounds bounds;
  size_t most_labels = 1;
  for (size_t i = 0; i < plan.sequences.size(); ++i) {
    const LabelledWords& request = plan.entities(i).words;
    const size_t spans = request.words() * (options.is_nested ? 2 : 1);  // none crosses another
    bounds.entities += spans * (options.is_multi_label ? request.labels.size() : 1);
    most_labels = std::max(most_labels, request.labels.size());
  }
  bounds.entities = std::min(bounds.entities, kMostKeptSpans);
  size_t bytes = 0;
  for (const TextInput& text : asked.texts) bytes += text.text.size();
  const ExtractionConfig& config = *model.pipeline.config.extraction;
  if (options.is_nested) bytes *= static_cast<size_t>(config.has_spans() ? config.max_width : config.max_len);
  bounds.text_bytes = bytes * (options.is_multi_label ? most_labels : 1);
  for (const std::vector<EntityLabel>& set : asked.labels.sets) {
    for (const EntityLabel& label : set) bounds.name_bytes = std::max(bounds.name_bytes, label.name.size());
  }
  return bounds;
}

Answering sized(Answering reply, const ServedModel& model, const AskedEntities& asked, const EntityBounds& bounds) {
  const bool has_spans = model.pipeline.config.extraction->has_spans();
  reply.plan_bytes += memory_of(asked.labels);
  reply.plan_bytes += kept_bytes(*reply.plan, asked.texts.size(), bounds.entities, has_spans);
  reply.answer_bytes = bounds.entities * (kTokenBytes + bounds.name_bytes) + bounds.text_bytes;
  reply.held_bytes = bounds.entities * (sizeof(Entity) + bounds.name_bytes);
  return reply;
}

}  // namespace deberta::serve
