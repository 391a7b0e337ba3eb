// From the body of a request to sequences that run, and from their values to the body of the response. A route is one
// function from a Body to an Answering.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "deberta/pipeline.h"
#include "pipeline/plan.h"
#include "serve/body.h"
#include "serve/http.h"

namespace deberta::serve {

// A model as it is served, and the rules for its texts.
struct ServedModel {
  std::string name;
  std::string path;
  Pipeline pipeline;
  size_t max_input_length = 512;  // tokens
  size_t max_client_batch = 256;  // texts, pairs, documents, candidates of one request
  bool cuts = true;               // texts that are too long, unless the request says otherwise
};

struct Answering {
  std::shared_ptr<const SequencePlan> plan;  // null: nothing runs
  uint64_t kind = 0;                         // of its sequences, as ModelWorker has it
  std::function<HttpResponse()> respond;
  size_t items = 0;
  size_t tokens = 0;
  size_t characters = 0;
  size_t answer_bytes = 0;  // that the answer may have, about; 0: less than the request
};

HttpResponse json_response(const Json& body);

// An answer of which `write` adds the i-th of `count` parts: what is long is made while it is read, and never there as
// a whole. `write` throws nothing.
HttpResponse parts_response(std::string begin, size_t count, std::function<void(size_t i, std::string& out)> write,
                            std::string end);

constexpr size_t kNumberBytes = 13;    // of the text of a number in an answer, with what separates it from the next
constexpr size_t kTokenBytes = 120;    // of what an answer says of a token or an entity, beside its text
constexpr size_t kLabelBytes = 60;     // of a label with its score, beside its name
constexpr size_t kSequenceBytes = 80;  // of a filled mask, beside the text

// Vectors of texts, each cut to its rows; they outlive the answering. Throws kNotFinite.
class VectorTexts {
 public:
  VectorTexts(std::vector<EmbeddingAnswer> answers, size_t columns);
  size_t texts() const { return answers_.size(); }
  size_t rows() const { return starts_.back(); }
  // The i-th row of all, behind what separates it from the one before: "[[" and "]]" around the rows of a text are
  // `open` and `close`.
  void add_row(size_t i, std::string_view open, std::string_view close, std::string& out) const;
  const std::vector<float>& vector(size_t text) const { return answers_[text].vectors; }
  size_t tokens(size_t text) const { return answers_[text].tokens; }

 private:
  std::vector<EmbeddingAnswer> answers_;
  size_t columns_;
  std::vector<size_t> starts_{0};  // of each text's rows
};

Answering answering_of(SequencePlan plan);  // without `respond`

template <class Answer, class ToJson>
Answering answering(Planned<Answer> planned, ToJson to_json) {
  Answering made = answering_of(std::move(planned.plan));
  made.respond = [finish = std::move(planned.finish), to_json = std::move(to_json)] {
    return json_response(to_json(finish()));
  };
  return made;
}

// ---- what routes share

// Texts with the pairs that belong to them; they live as long as this.
class Inputs {
 public:
  void add(std::string text) { texts_.push_back({std::move(text), {}}); }
  void add(std::string text, std::string pair) { texts_.push_back({std::move(text), std::move(pair)}); }
  size_t size() const { return texts_.size(); }
  size_t characters() const;
  std::vector<TextInput> views() const;

 private:
  std::vector<std::pair<std::string, std::optional<std::string>>> texts_;
};

Answering counted(Answering made, const Inputs& inputs);
Answering counted(Answering made, const std::string& text, const std::vector<std::string>& others);

// The same with the size that its answer may have.
inline Answering bounded(Answering made, size_t answer_bytes) {
  made.answer_bytes = answer_bytes;
  return made;
}

template <class Answer, class Respond>
Answering responding(Planned<Answer> planned, Respond respond) {
  Answering made = answering_of(std::move(planned.plan));
  made.respond = [finish = std::move(planned.finish), respond = std::move(respond)] { return respond(finish()); };
  return made;
}

// `dimensions`: vectors cut to their first values, and normalised after that instead of by the model's folder.
class VectorCut {
 public:
  VectorCut(const ServedModel& model, Body& body, bool normalizes, EmbeddingOptions& options);
  void apply(std::vector<float>& vector) const;
  size_t columns(size_t whole) const { return dimensions_.value_or(whole); }  // of a vector, once it is cut

 private:
  std::optional<size_t> dimensions_;
  bool normalizes_;
};

// `truncate`, `truncation_direction`.
EncodingRules rules_of(const ServedModel& model, Body& body);
// Throws kEmptyInput for none, kBatchTooLarge.
void check_count(const ServedModel& model, size_t count, const std::string& pointer);

Json vector_json(const std::vector<float>& values);

// ---- routes, by family

namespace tei {
Answering predict(const ServedModel& model, Body& body);
Answering rerank(const ServedModel& model, Body& body);
Answering embed(const ServedModel& model, Body& body);
Answering embed_all(const ServedModel& model, Body& body);
Answering similarity(const ServedModel& model, Body& body);
Answering tokenize(const ServedModel& model, Body& body);
Answering decode(const ServedModel& model, Body& body);
}  // namespace tei

namespace openai {
Answering embeddings(const ServedModel& model, Body& body);
}

namespace cohere {
Answering rerank(const ServedModel& model, Body& body);
}

namespace kserve {
Answering infer(const ServedModel& model, Body& body);
Json server_json(std::string_view version);
Json model_json(const ServedModel& model);
}  // namespace kserve

namespace hub {
// By the name of a task of the hub ("fill-mask"), for the client that a User-Agent names: old versions of
// huggingface_hub read one answer in another form. Throws kNotFound with the names there are.
using Task = Answering (*)(const ServedModel& model, Body& body);
Task find_task(const std::string& name, std::string_view user_agent);
std::string own_task(const ServedModel& model);  // that the model's head is for
// The task of the model's own URL: zero-shot classification where the body has candidate_labels and the head can tell.
Task find_asked_task(const ServedModel& model, Body& body, std::string_view user_agent);
// The same for POST /, where entities are grouped as the program groups them.
Task find_own_task(const ServedModel& model, Body& body, std::string_view user_agent);
}  // namespace hub

}  // namespace deberta::serve
