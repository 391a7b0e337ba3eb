// The tasks by name: parameters to a function that answers inputs as the program's JSON does
// (docs/reference/output.md).
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "deberta/pipeline.h"
#include "python/src/parameters.h"
#include "text/tokenizer_settings.h"

namespace deberta::python {

// A model with what its folder and its user say about texts. A value of its own, so that a call may outlive a close.
struct OpenedModel {
  Pipeline pipeline;
  TextLimits limits;             // of the folder
  bool as_transformers = false;  // compat="hf"
  size_t batch_tokens = 16000;   // of one pack
};

// Answers in the order of the inputs. Throws what the library's functions throw, for no inputs too: a model without
// the head is refused.
using AnswerTexts = std::function<std::vector<JsonObject>(std::span<const TextInput> inputs)>;

// `model` must outlive the result. Throws kUsage for an unknown task or a wrong parameter.
AnswerTexts answering(const OpenedModel& model, std::string_view task, JsonObject parameters);

// The options of classify, for its scores by class. Throws as answering().
SequenceOptions score_options(const OpenedModel& model, JsonObject parameters);

// How the vectors of embed are made, and what is cut from them.
struct VectorRules {
  EmbeddingOptions options;
  size_t columns = 0;   // of each vector
  bool is_cut = false;  // to `columns`
  bool normalizes = false;

  // One vector for each text, or one for each of its tokens.
  void apply(EmbeddingAnswer& answer, size_t model_columns) const;
};
// `prompt`: in place of the folder's.
VectorRules vector_rules(const OpenedModel& model, JsonObject parameters, const std::optional<std::string>& prompt);

}  // namespace deberta::python
