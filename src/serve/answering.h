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
#include "decode/offset_units.h"
#include "pipeline/plan.h"
#include "serve/body.h"
#include "serve/http.h"
#include "serve/places.h"

namespace deberta::serve {

struct ModelStatistics;  // metrics.h

// A model as it is served, and the rules for its texts.
struct ServedModel {
  std::string name;
  std::string path;
  Pipeline pipeline;
  size_t max_input_length = 512;  // tokens
  size_t max_client_batch = 256;  // texts, pairs, documents or candidates of one request
  size_t most_tokens = SIZE_MAX;  // in all sequences of a request
  // Whether texts that are too long are cut where a request does not set it; none: as the client's family does.
  std::optional<bool> cuts = {};
  // How labels of texts that are too long are found, in windows, where a request says nothing of such texts.
  std::optional<WindowScores> window_scores = {};
  std::vector<std::string> benign_labels = {};
  std::vector<std::string> aliases = {};  // more names by which requests may name it
};

constexpr size_t kReadTokenBytes = 100;     // memory of a token while its text is read: text, windows, temporary copies
constexpr size_t kHeldTokenBytes = 64;      // memory of a token after that, until its answer
constexpr size_t kMadeSequenceBytes = 200;  // memory of a sequence that is made when it runs: plan, queue, answer

struct Answering {
  std::shared_ptr<const SequencePlan> plan;  // null: nothing runs
  std::function<HttpResponse()> respond;
  size_t items = 0;
  size_t tokens = 0;      // in all sequences, also in those that are made when they run
  size_t plan_bytes = 0;  // memory of the plan until the answer
  size_t characters = 0;
  size_t cut_inputs = 0, cut_tokens = 0;  // texts that were too long, tokens that they lost
  size_t answer_bytes = 0;                // about the most that the answer has; 0: less than the request
  // Memory of what an answer in pieces is made from, until it is written; none: answer_bytes.
  std::optional<size_t> held_bytes = {};
};

HttpResponse json_response(const Json& body);

// An answer whose i-th of `count` parts `write` appends: a long answer is made while its client reads it, and is never
// in memory as a whole. `write` throws nothing.
HttpResponse parts_response(std::string begin, size_t count, std::function<void(size_t i, std::string& out)> write,
                            std::string end);

// A list of an answer in parts: what stands before its items, the comma behind the list before it included, and what
// stands after them.
struct WrittenList {
  std::string begin;
  size_t items = 0;
  std::string end;
};
// An answer of lists, each item a part: as JSON values all of them have several times the memory of their text.
// `item` throws nothing.
HttpResponse lists_response(std::vector<WrittenList> lists, std::function<Json(size_t list, size_t item)> item);
// The lists of texts with `items` items each; without `is_list` the answer is the list of the only text.
std::vector<WrittenList> lists_of_texts(const std::vector<size_t>& items, bool is_list);

constexpr size_t kNumberBytes = 13;      // text of a number in an answer, with its separator
constexpr size_t kEncodedBytes = 32;     // memory of a token of an encoding
constexpr size_t kTokenBytes = 120;      // a token or an entity in an answer, beside its text
constexpr size_t kLabelBytes = 60;       // a label with its score, beside its name
constexpr size_t kHeldLabelBytes = 240;  // memory of a label and its score as JSON values
constexpr size_t kSequenceBytes = 80;    // a filled mask, beside the text
constexpr size_t kScoreBytes = 150;      // the probability of a text, beside its tokens

// The vectors of texts, as rows of `columns` values, while an answer is written from them. Throws kNotFinite.
class VectorTexts {
 public:
  VectorTexts(std::vector<EmbeddingAnswer> answers, size_t columns);
  size_t texts() const { return answers_.size(); }
  size_t rows() const { return starts_.back(); }
  // Appends the i-th row of all texts and what separates it from the row before; `open` and `close`, such as "[[" and
  // "]]", enclose the rows of a text.
  void add_row(size_t i, std::string_view open, std::string_view close, std::string& out) const;
  const std::vector<float>& vector(size_t text) const { return answers_[text].vectors; }
  size_t tokens(size_t text) const { return answers_[text].tokens; }

 private:
  std::vector<EmbeddingAnswer> answers_;
  size_t columns_;
  std::vector<size_t> starts_{0};  // first row of each text, then the number of all rows
};

Answering answering_of(SequencePlan plan);  // without `respond`

template <class Answer, class ToJson>
Answering answering(Planned<Answer> planned, ToJson to_json) {
  Answering reply = answering_of(std::move(planned.plan));
  reply.respond = [finish = std::move(planned.finish), to_json = std::move(to_json)] {
    return json_response(to_json(finish()));
  };
  return reply;
}

// The answer to one input, or to a list of them.
inline Json one_or_list(JsonArray all, bool is_list) {
  return is_list ? Json(std::move(all)) : std::move(all.front());
}

// ---- helpers of the routes

// Texts, the pairs that belong to them, and where they are in the body; the views live as long as this object.
class Inputs {
 public:
  void add(std::string text, std::string pointer) { texts_.push_back({std::move(text), std::move(pointer), {}, {}}); }
  void add(std::string text, std::string pointer, std::string pair, std::string pair_pointer) {
    texts_.push_back({std::move(text), std::move(pointer), std::move(pair), std::move(pair_pointer)});
  }
  // The strings of an array at `pointer`. Throws what listed_texts() throws.
  void add_all(const ServedModel& model, const Json& array, const std::string& pointer);
  // Those of an array at `pointer` that was read before.
  void add_all(std::vector<std::string> texts, const std::string& pointer);
  size_t size() const { return texts_.size(); }
  size_t characters() const;
  std::vector<TextInput> views() const;
  std::vector<std::string> texts() const;  // without pairs
  const std::vector<PlacedText>& placed() const { return texts_; }

 private:
  std::vector<PlacedText> texts_;
};

// For tasks that read each of the inputs by itself.
Places places_of(const ServedModel& model, const EncodingRules& rules, Body& parameters, const Inputs& inputs);
// For tasks that read one text with each of several: a query with its documents, /query with /texts/0, /texts/1, ...
Places places_of(const ServedModel& model, const EncodingRules& rules, Body& parameters, const PlacedText& first,
                 const std::vector<std::string>& documents, const std::string& pointer);

Answering counted(Answering reply, const Inputs& inputs);
Answering counted(Answering reply, const std::string& text, const std::vector<std::string>& documents);

// The reply with the sizes of an answer of `values` vector components, written in pieces.
inline Answering of_vectors(Answering reply, size_t values) {
  reply.answer_bytes = values * kNumberBytes;
  reply.held_bytes = values * sizeof(float);
  return reply;
}

template <class Answer, class Respond>
Answering responding(Planned<Answer> planned, Respond respond) {
  Answering reply = answering_of(std::move(planned.plan));
  reply.respond = [finish = std::move(planned.finish), respond = std::move(respond)] { return respond(finish()); };
  return reply;
}

// The field `dimensions`: vectors are cut to their first values and normalised after that, not by the model's folder.
class VectorCut {
 public:
  VectorCut(const ServedModel& model, Body& body, bool normalizes, EmbeddingOptions& options);
  void apply(std::vector<float>& vector) const;
  size_t columns(size_t whole) const { return dimensions_.value_or(whole); }  // of a cut vector

 private:
  std::optional<size_t> dimensions_;
  bool normalizes_;
};

// `by_default`: what happens to texts that are too long where neither the request nor the server sets it: kCut, or
// kRefuse in a family whose servers refuse them.
EncodingRules rules_of(const ServedModel& model, LongText by_default);
// The same with the request's fields `truncate` and `truncation_direction`.
EncodingRules rules_of(const ServedModel& model, Body& body, LongText by_default);
// Texts that are too long are read in windows where the server does that and the request has none of the fields that
// rules_of() reads.
void use_windows(const ServedModel& model, Body& body, SequenceOptions& options);
// Reads `window_scores` (mean, max, each), `stride` and `benign_labels`: with the first of them, texts that are too
// long are read in windows. Without it as use_windows().
void read_windows(const ServedModel& model, Body& body, SequenceOptions& options);
// The labels of an answer, or those of each of its windows with their places in the text.
using LabelsJson = Json (*)(const std::vector<LabelScore>& labels);
Json sequence_json(const SequenceAnswer& answer, std::string_view text, OffsetUnit unit, LabelsJson labels);
// Reads the field `offsets`: chars, which is the default, bytes or utf16.
OffsetUnit offsets_of(Body& body);
// Throws kTokenizer unless the ids begin with the token that the model's tokenizer puts first: otherwise they are most
// likely another tokenizer's, and their answer would be wrong.
void check_first_id(const ServedModel& model, const Encoding& ids, const std::string& pointer);
// Throws kBatchTooLarge for more than the model takes of one request.
void check_most(const ServedModel& model, size_t count, const std::string& pointer);
// The same, and kEmptyInput for none.
void check_count(const ServedModel& model, size_t count, const std::string& pointer);

// The strings of an array that are texts, documents or choices, counted before the first is copied: a body may have
// half a million. Throws kValidation, and what check_count() throws.
std::vector<std::string> listed_texts(const ServedModel& model, const Json& array, const std::string& pointer);
// The same of a field that must be there.
std::vector<std::string> required_texts(const ServedModel& model, Body& body, std::string_view name);

Json vector_json(const std::vector<float>& values);
Json scored_labels_json(const std::vector<LabelScore>& labels);  // as text-embeddings-inference and infinity have them
JsonObject usage_json(uint64_t tokens);

// ---- routes, by family

namespace tei {
// Servers of this family refuse texts that are too long; `long_text`: what happens to those of other families' clients.
Answering predict(const ServedModel& model, Body& body);
Answering rerank(const ServedModel& model, Body& body);
// `parameters`: the object whose fields set what happens to a long text.
Answering rerank(const ServedModel& model, Body& body, Body& parameters, LongText long_text);
Answering embed(const ServedModel& model, Body& body);
Answering embed(const ServedModel& model, Body& body, LongText long_text);
Answering embed_all(const ServedModel& model, Body& body);
Answering similarity(const ServedModel& model, Body& body);
Answering similarity(const ServedModel& model, Body& body, LongText long_text);
Answering tokenize(const ServedModel& model, Body& body);
Answering decode(const ServedModel& model, Body& body);
}  // namespace tei

namespace openai {
Answering embeddings(const ServedModel& model, Body& body);
}

namespace vllm {
Answering score(const ServedModel& model, Body& body);
Answering classify(const ServedModel& model, Body& body);  // with `raw_scores` the request is one of infinity's clients
}  // namespace vllm

namespace cohere {
Answering rerank(const ServedModel& model, Body& body);
Answering rerank(const ServedModel& model, Body& body, Body& parameters);
}  // namespace cohere

namespace gliner {
Answering entities(const ServedModel& model, Body& body);  // as the server of the package gliner has it, and more
Answering restore(const ServedModel& model, Body& body);   // texts that entities() redacted, as they were
Answering extract(const ServedModel& model, Body& body);   // as NeMo Guardrails asks
}  // namespace gliner

namespace kserve {
Answering infer(const ServedModel& model, Body& body);
// What its clients are told of the server and of the models: kserve_models.cpp.
Json server_json(std::string_view version);
Json model_json(const ServedModel& model);
Json statistics_json(const std::string& name, const ModelStatistics& statistics);
Json index_json(const std::string& name, std::string_view state);  // the state as ModelSet reports it
}  // namespace kserve

namespace hub {
// The task with a name of the hub ("fill-mask"), for the client that a User-Agent names: old versions of
// huggingface_hub read one answer in another form. Throws kNotFound with the known names.
using Task = Answering (*)(const ServedModel& model, Body& body);
Task find_task(const std::string& name, std::string_view user_agent);
std::vector<std::string_view> task_names();
std::string own_task(const ServedModel& model);  // the task of the model's head
// The task of the model's own URL: zero-shot classification where the body has candidate_labels and the head classifies
// texts.
Task find_asked_task(const ServedModel& model, Body& body, std::string_view user_agent);
// The same for POST /, where entities are grouped as the program groups them.
Task find_own_task(const ServedModel& model, Body& body, std::string_view user_agent);
}  // namespace hub

}  // namespace deberta::serve
