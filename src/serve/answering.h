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

// A model as it is served, and the rules for its texts.
struct ServedModel {
  std::string name;
  std::string path;
  Pipeline pipeline;
  size_t max_input_length = 512;  // tokens
  size_t max_client_batch = 256;  // texts, pairs, documents, candidates of one request
  size_t most_tokens = SIZE_MAX;  // of all sequences of a request
  // Whether texts that are too long are cut where a request does not say; nothing: as the client's family does.
  std::optional<bool> cuts = {};
};

constexpr size_t kReadTokenBytes = 100;  // of a token while its text is read: in its text, its windows and on the way
constexpr size_t kHeldTokenBytes = 64;   // the same from then on until its answer
constexpr size_t kMadeSequenceBytes = 200;  // of a sequence that is made when it runs: in the plan, queue and answer

struct Answering {
  std::shared_ptr<const SequencePlan> plan;  // null: nothing runs
  std::function<HttpResponse()> respond;
  size_t items = 0;
  size_t tokens = 0;      // of all sequences, also of those that are made when they run
  size_t plan_bytes = 0;  // that the plan has until the answer
  size_t characters = 0;
  size_t cut_inputs = 0, cut_tokens = 0;  // texts that were too long, and what they lost
  size_t answer_bytes = 0;                // that the answer may have, about; 0: less than the request
  // That what it is made from has until it is written, where it is made in pieces; without it, answer_bytes.
  std::optional<size_t> held_bytes = {};
};

HttpResponse json_response(const Json& body);

// An answer of which `write` adds the i-th of `count` parts: what is long is made while it is read, and never there as
// a whole. `write` throws nothing.
HttpResponse parts_response(std::string begin, size_t count, std::function<void(size_t i, std::string& out)> write,
                            std::string end);

constexpr size_t kNumberBytes = 13;    // of the text of a number in an answer, with what separates it from the next
constexpr size_t kEncodedBytes = 32;   // of a token of an encoding
constexpr size_t kTokenBytes = 120;    // of what an answer says of a token or an entity, beside its text
constexpr size_t kLabelBytes = 60;     // of a label with its score, beside its name
constexpr size_t kSequenceBytes = 80;  // of a filled mask, beside the text
constexpr size_t kScoreBytes = 150;    // of how probable a text is, beside its tokens

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
  Answering reply = answering_of(std::move(planned.plan));
  reply.respond = [finish = std::move(planned.finish), to_json = std::move(to_json)] {
    return json_response(to_json(finish()));
  };
  return reply;
}

// What is answered to one input, or to a list of them.
inline Json one_or_list(JsonArray all, bool is_list) {
  return is_list ? Json(std::move(all)) : std::move(all.front());
}

// ---- what routes share

// Texts with the pairs that belong to them, and where they are in the body; they live as long as this.
class Inputs {
 public:
  void add(std::string text, std::string pointer) { texts_.push_back({std::move(text), std::move(pointer), {}, {}}); }
  void add(std::string text, std::string pointer, std::string pair, std::string pair_pointer) {
    texts_.push_back({std::move(text), std::move(pointer), std::move(pair), std::move(pair_pointer)});
  }
  // The strings of an array at `pointer`. Throws kValidation.
  void add_all(const Json& array, const std::string& pointer);
  size_t size() const { return texts_.size(); }
  size_t characters() const;
  std::vector<TextInput> views() const;
  std::vector<std::string> texts() const;  // without pairs
  const std::vector<PlacedText>& placed() const { return texts_; }

 private:
  std::vector<PlacedText> texts_;
};

// Of tasks that read each of the inputs by itself.
Places places_of(const ServedModel& model, const EncodingRules& rules, Body& parameters, const Inputs& inputs);
// Of tasks that read one text with each of others: a query with its documents, /query with /texts/0, /texts/1, ...
Places places_of(const ServedModel& model, const EncodingRules& rules, Body& parameters, const PlacedText& first,
                 const std::vector<std::string>& others, const std::string& pointer);

Answering counted(Answering reply, const Inputs& inputs);
Answering counted(Answering reply, const std::string& text, const std::vector<std::string>& others);

// The same where the answer is so many numbers of vectors, in pieces.
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

// How texts are read that are too long where neither the request nor the server says: kCut, or kRefuse in a family
// whose servers refuse them.
EncodingRules rules_of(const ServedModel& model, LongText by_default);
// The same with `truncate`, `truncation_direction`.
EncodingRules rules_of(const ServedModel& model, Body& body, LongText by_default);
// `window_scores` (mean, max, each), with `stride` and `benign_labels`: texts that are too long are read in windows.
void read_windows(const ServedModel& model, Body& body, SequenceOptions& options);
// The labels of an answer, or those of each of its windows with their places in the text.
using LabelsJson = Json (*)(const std::vector<LabelScore>& labels);
Json sequence_json(const SequenceAnswer& answer, std::string_view text, OffsetUnit unit, LabelsJson labels);
// Of the text itself, or in `offsets`: chars, bytes or utf16.
OffsetUnit offsets_of(Body& body);
// Throws kTokenizer unless ids begin as the model's tokenizer begins: others are most likely another tokenizer's, and
// their answer would be wrong.
void check_first_id(const ServedModel& model, const Encoding& ids, const std::string& pointer);
// Throws kEmptyInput for none, kBatchTooLarge.
void check_count(const ServedModel& model, size_t count, const std::string& pointer);

Json vector_json(const std::vector<float>& values);

// ---- routes, by family

namespace tei {
// Servers of this family refuse texts that are too long; for clients of others `long_text` says what becomes of them.
Answering predict(const ServedModel& model, Body& body);
Answering rerank(const ServedModel& model, Body& body);
// `parameters`: where the request says what becomes of a long text.
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

namespace cohere {
Answering rerank(const ServedModel& model, Body& body);
Answering rerank(const ServedModel& model, Body& body, Body& parameters);
}  // namespace cohere

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
std::vector<std::string_view> task_names();
std::string own_task(const ServedModel& model);  // that the model's head is for
// The task of the model's own URL: zero-shot classification where the body has candidate_labels and the head can tell.
Task find_asked_task(const ServedModel& model, Body& body, std::string_view user_agent);
// The same for POST /, where entities are grouped as the program groups them.
Task find_own_task(const ServedModel& model, Body& body, std::string_view user_agent);
}  // namespace hub

}  // namespace deberta::serve
