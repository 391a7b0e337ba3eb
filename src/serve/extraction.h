// What the routes of entities by labels of the client's own have in common: labels and options from a body, the plan
// with the places of its errors, and the most memory that plan and answer take.
#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "deberta/pipeline.h"
#include "serve/answering.h"
#include "serve/fields.h"

namespace deberta::serve {

constexpr size_t kMostLabelBytes = 1024;            // of a label, and of its description
constexpr size_t kMostKeptSpans = size_t{1} << 18;  // of a request: spans above the threshold while it runs, entities

// The labels of texts.
struct AskedLabels {
  std::string pointer;                         // of their field
  std::vector<std::vector<EntityLabel>> sets;  // one for all texts, or one for each
  bool are_by_text = false;

  const std::vector<EntityLabel>& of(size_t text) const { return sets[are_by_text ? text : 0]; }
};

// The field `name`: a list of labels, an object of labels with their descriptions, or a list with one of these for each
// text; and the labels of the field `preset`. Without both, those of the preset `by_default`. Throws kValidation, also
// where there are none at all, and kBatchTooLarge.
AskedLabels labels_of(const ServedModel& model, Body& body, std::string_view name, size_t texts,
                      std::string_view by_default = {});

// The fields threshold, multi_label and join, and `flat_ner`, whose default differs among clients. Long texts are read
// in windows.
ExtractOptions extract_options(const ServedModel& model, Body& body, const Field& flat_ner);

struct AskedEntities {
  std::vector<TextInput> texts = {};                // views
  std::function<std::string(size_t text)> pointer;  // where a text is in the body
  AskedLabels labels;
  ExtractOptions options;
};
AskedEntities asked_entities(const Inputs& inputs, AskedLabels labels, ExtractOptions options);

// Throws what plan_extract() throws, as ApiError with its place where a text or the labels are at fault.
Planned<TokenAnswer> plan_entities(const ServedModel& model, AskedEntities& asked);

// The most that an answer has.
struct EntityBounds {
  size_t entities = 0;
  size_t text_bytes = 0;  // of all of them
  size_t name_bytes = 0;  // of the label of one
};
EntityBounds bounds_of(const SequencePlan& plan, const ServedModel& model, const AskedEntities& asked);

// The reply with the memory that its plan takes, and that of an answer which lists the entities.
Answering sized(Answering reply, const ServedModel& model, const AskedEntities& asked, const EntityBounds& bounds);

}  // namespace deberta::serve
