// The open inference protocol of KServe, version 2, as the HTTP clients of Triton speak it: texts or token ids in,
// logits or vectors out. Tensors are JSON, or bytes behind it (Inference-Header-Content-Length).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <numeric>

#include "deberta/error.h"
#include "heads/head_facts.h"
#include "serve/answering.h"
#include "serve/api_error.h"
#include "serve/fields.h"

namespace deberta::serve::kserve {
namespace {

static_assert(std::endian::native == std::endian::little);  // the byte order of a tensor

constexpr size_t kMostTensors = 8;          // in a request
constexpr size_t kMostElements = 1u << 20;  // in a tensor of a request
constexpr size_t kMostValues = 16u << 20;   // in the answer's tensor: 64 MiB
constexpr size_t kNumbersAtOnce = 1024;     // in a part of the answer

[[noreturn]] void refuse(const std::string& pointer, const std::string& message) {
  throw ApiError(ApiCode::kBadRequest, fmt::format("{}: {}", pointer, message), pointer);
}

// A tensor of a request; one of the two vectors has its elements, in row-major order.
struct Tensor {
  std::string name, datatype, pointer;
  bool is_nested = false, is_binary = false;  // the form of `data`
  std::vector<size_t> shape;
  std::vector<std::string> texts;  // BYTES
  std::vector<int64_t> numbers;    // INT32, INT64

  size_t elements() const {
    size_t count = 1;
    for (const size_t side : shape) count *= side;
    return count;
  }
  // Where an element is in the body.
  std::string element_pointer(size_t i) const {
    if (is_binary) return pointer;
    return is_nested ? fmt::format("{}/data/{}/{}", pointer, i / shape.back(), i % shape.back())
                     : fmt::format("{}/data/{}", pointer, i);
  }
};

std::vector<size_t> shape_of(const Json& value, const std::string& pointer) {
  if (!value.is_array()) refuse(pointer, fmt::format("expected an array, got {}", value.describe()));
  std::vector<size_t> shape;
  size_t elements = 1;
  for (const Json& side : value.as_array()) {
    if (!side.is_integer() || side.as_integer() < 1 || side.as_integer() > int64_t{kMostElements})
      refuse(pointer, fmt::format("expected dimensions of 1 to {}, got {}", kMostElements, side.describe()));
    shape.push_back(static_cast<size_t>(side.as_integer()));
    elements *= shape.back();
    if (elements > kMostElements) refuse(pointer, fmt::format("expected at most {} elements", kMostElements));
  }
  if (shape.empty() || shape.size() > 2)
    refuse(pointer, fmt::format("expected 1 or 2 dimensions, got {}", shape.size()));
  return shape;
}

// Adds the elements of `data`, which may be nested as the shape is. `path`: the indices of `value` in it.
void add_elements(const Json& value, std::vector<size_t>& path, Tensor& tensor) {
  if (value.is_array()) {
    path.push_back(0);
    for (const Json& element : value.as_array()) {
      add_elements(element, path, tensor);
      ++path.back();
    }
    path.pop_back();
    tensor.is_nested |= path.size() == 1;
    return;
  }
  const bool is_text = tensor.datatype == "BYTES";
  if (is_text ? !value.is_string() : !value.is_integer())
    refuse(fmt::format("{}/data/{}", tensor.pointer, fmt::join(path, "/")),
           fmt::format("expected {}, got {}", is_text ? "a string" : "an integer", value.describe()));
  if (is_text)
    tensor.texts.push_back(value.as_string());
  else
    tensor.numbers.push_back(value.as_integer());
}

// Adds the texts of BYTES: each follows its length in 4 bytes.
void add_texts(std::string_view bytes, Tensor& tensor) {
  while (!bytes.empty()) {
    uint32_t size = 0;
    if (bytes.size() >= sizeof size) std::memcpy(&size, bytes.data(), sizeof size);
    if (bytes.size() < sizeof size || bytes.size() - sizeof size < size)
      refuse(tensor.pointer, "expected each text to follow its length in 4 bytes");
    tensor.texts.emplace_back(bytes.substr(sizeof size, size));
    bytes.remove_prefix(sizeof size + size);
  }
}

template <class Number>
void add_numbers(std::string_view bytes, Tensor& tensor) {
  if (bytes.size() % sizeof(Number) != 0)
    refuse(tensor.pointer, fmt::format("expected a multiple of {} bytes, got {}", sizeof(Number), bytes.size()));
  for (size_t at = 0; at < bytes.size(); at += sizeof(Number)) {
    Number number;
    std::memcpy(&number, bytes.data() + at, sizeof number);
    tensor.numbers.push_back(number);
  }
}

// Takes the tensor's bytes from the front of `tail`, if its parameters have a binary_data_size.
bool read_binary(Body& body, std::string_view& tail, Tensor& tensor) {
  std::optional<Body> parameters = body.object("parameters");
  if (!parameters) return false;
  const std::optional<int64_t> size = parameters->whole(field::kBinaryDataSize);
  if (!size) return false;
  if (static_cast<uint64_t>(*size) > tail.size())
    refuse(parameters->pointer_of(field::kBinaryDataSize.name),
           fmt::format("expected at most the {} bytes behind the JSON, got {}", tail.size(), *size));
  tensor.is_binary = true;
  const std::string_view bytes = tail.substr(0, static_cast<size_t>(*size));
  tail.remove_prefix(bytes.size());
  if (tensor.datatype == "BYTES") {
    add_texts(bytes, tensor);
  } else if (tensor.datatype == "INT64") {
    add_numbers<int64_t>(bytes, tensor);
  } else {
    add_numbers<int32_t>(bytes, tensor);
  }
  return true;
}

Tensor tensor_of(Body body, const std::string& pointer, std::string_view& tail) {
  Tensor tensor;
  tensor.pointer = pointer;
  tensor.name = body.text("name").value_or("");
  tensor.datatype = body.text("datatype").value_or("");
  if (tensor.datatype != "BYTES" && tensor.datatype != "INT64" && tensor.datatype != "INT32")
    refuse(body.pointer_of("datatype"),
           fmt::format("expected BYTES, INT64 or INT32, got {}", quote_json(tensor.datatype)));
  const Json* shape = body.find("shape");
  if (shape == nullptr) body.refuse_missing("shape");
  tensor.shape = shape_of(*shape, body.pointer_of("shape"));
  if (!read_binary(body, tail, tensor)) {
    const Json* data = body.find("data");
    if (data == nullptr) body.refuse_missing("data");
    if (!data->is_array()) refuse(body.pointer_of("data"), fmt::format("expected an array, got {}", data->describe()));
    std::vector<size_t> path;
    add_elements(*data, path, tensor);
  }
  const size_t count = tensor.texts.size() + tensor.numbers.size();
  if (count != tensor.elements())
    refuse(pointer, fmt::format("expected {} elements, as its shape says, got {}", tensor.elements(), count));
  return tensor;
}

class Tensors {
 public:
  explicit Tensors(Body& body) {
    const Json* inputs = body.find("inputs");
    if (inputs == nullptr) body.refuse_missing("inputs");
    const std::string pointer = body.pointer_of("inputs");
    if (!inputs->is_array() || inputs->as_array().empty() || inputs->as_array().size() > kMostTensors)
      refuse(pointer, fmt::format("expected an array of 1 to {} tensors, got {}", kMostTensors, inputs->describe()));
    std::string_view tail = body.tail();
    const auto at = [&](size_t i) { return fmt::format("{}/{}", pointer, i); };
    for (size_t i = 0; i < inputs->as_array().size(); ++i)
      all_.push_back(tensor_of(body.part(inputs->as_array()[i], at(i)), at(i), tail));
    if (!tail.empty()) refuse(pointer, fmt::format("{} bytes behind the JSON belong to no tensor", tail.size()));
    for (const Tensor& tensor : all_) {
      constexpr std::array kNames = {"text", "text_pair", "input_ids", "attention_mask", "token_type_ids"};
      if (std::find(kNames.begin(), kNames.end(), tensor.name) == kNames.end() || find(tensor.name) != &tensor)
        refuse(tensor.pointer + "/name", fmt::format("expected each of {} once at most, got {}",
                                                     fmt::join(kNames, ", "), quote_json(tensor.name)));
    }
  }

  const Tensor* find(std::string_view name) const {
    const auto tensor = std::find_if(all_.begin(), all_.end(), [&](const Tensor& t) { return t.name == name; });
    return tensor == all_.end() ? nullptr : &*tensor;
  }
  const Tensor* find(std::string_view name, std::string_view datatype_begins) const {
    const Tensor* tensor = find(name);
    if (tensor != nullptr && !std::string_view(tensor->datatype).starts_with(datatype_begins))
      refuse(tensor->pointer + "/datatype",
             fmt::format("{}: expected {}, got {}", name, datatype_begins == "INT" ? "INT64 or INT32" : datatype_begins,
                         tensor->datatype));
    return tensor;
  }

 private:
  std::vector<Tensor> all_;
};

// ---- the sequences of a request

// The number of a row's tokens that are text: the mask has ones for them and zeros behind them.
size_t length_of(const Tensor* mask, size_t row, size_t columns) {
  if (mask == nullptr) return columns;
  const auto begin = mask->numbers.begin() + static_cast<ptrdiff_t>(row * columns);
  const auto end = begin + static_cast<ptrdiff_t>(columns);
  const auto zeros = std::find_if(begin, end, [](int64_t n) { return n != 1; });
  if (zeros == begin || !std::all_of(zeros, end, [](int64_t n) { return n == 0; }))
    refuse(mask->pointer, fmt::format("row {}: expected ones and then zeros (padding at the end)", row));
  return static_cast<size_t>(zeros - begin);
}

int32_t checked(const Tensor& tensor, size_t at, int64_t limit) {
  const int64_t number = tensor.numbers[at];
  if (number < 0 || number >= limit)
    throw ApiError(
        ApiCode::kTokenizer,
        fmt::format("{}: {}: expected 0 to {}, got {}", tensor.element_pointer(at), tensor.name, limit - 1, number),
        tensor.element_pointer(at));
  return static_cast<int32_t>(number);
}

std::vector<Encoding> encodings_of(const ServedModel& model, const Tensor& ids, const Tensors& tensors) {
  if (ids.shape.size() != 2) refuse(ids.pointer + "/shape", "expected the shape [texts, tokens]");
  const Tensor* mask = tensors.find("attention_mask", "INT");
  const Tensor* types = tensors.find("token_type_ids", "INT");
  for (const Tensor* other : {mask, types}) {
    if (other != nullptr && other->shape != ids.shape)
      refuse(other->pointer + "/shape", "expected the shape of input_ids");
  }
  const ModelConfig& config = model.pipeline.config;
  const size_t columns = ids.shape[1];
  std::vector<Encoding> encodings(ids.shape[0]);
  for (size_t row = 0; row < encodings.size(); ++row) {
    const size_t length = length_of(mask, row, columns);
    if (length > model.max_input_length)
      refuse(ids.pointer,
             fmt::format("row {}: expected at most {} tokens, got {}", row, model.max_input_length, length));
    for (size_t i = row * columns; i < row * columns + length; ++i) {
      encodings[row].ids.push_back(checked(ids, i, config.vocab_size));
      encodings[row].type_ids.push_back(types ? checked(*types, i, std::max<int64_t>(1, config.type_vocab_size)) : 0);
      encodings[row].is_special.push_back(0);
    }
    check_first_id(model, encodings[row], ids.pointer);
  }
  return encodings;
}

Inputs texts_of(const Tensor& text, const Tensor* pair) {
  if (pair != nullptr && pair->elements() != text.elements()) refuse(pair->pointer, "expected as many as of text");
  Inputs inputs;
  for (size_t i = 0; i < text.texts.size(); ++i) {
    if (pair == nullptr) {
      inputs.add(text.texts[i], text.element_pointer(i));
    } else {
      inputs.add(text.texts[i], text.element_pointer(i), pair->texts[i], pair->element_pointer(i));
    }
  }
  return inputs;
}

// The texts or ids of a request; owns them.
struct RequestInputs {
  Inputs texts;
  std::vector<Encoding> encodings;  // of a request with ids
  size_t columns = 0;               // tokens of a row of ids, padding included

  std::vector<TextInput> views() const {
    std::vector<TextInput> views = texts.views();
    for (const Encoding& encoding : encodings) views.push_back(TextInput{.text = {}, .encodings = {&encoding, 1}});
    return views;
  }
};

RequestInputs inputs_of(const ServedModel& model, const Tensors& tensors) {
  const Tensor* text = tensors.find("text", "BYTES");
  const Tensor* ids = tensors.find("input_ids", "INT");
  if ((text == nullptr) == (ids == nullptr)) refuse("/inputs", "expected either text or input_ids");
  const Tensor& first = text != nullptr ? *text : *ids;
  check_count(model, text != nullptr ? text->elements() : ids->shape[0], first.pointer);
  RequestInputs inputs;
  if (text != nullptr) {
    inputs.texts = texts_of(*text, tensors.find("text_pair", "BYTES"));
  } else {
    inputs.encodings = encodings_of(model, *ids, tensors);
    inputs.columns = ids->shape.back();
  }
  return inputs;
}

// ---- the answer

struct Output {
  std::string name = "logits";
  bool is_binary = false;
};

// The one tensor that is requested. Triton's clients state for each, or for all, whether they want bytes.
Output output_of(const ServedModel& model, Body& body) {
  const bool has_logits = facts_of(model.pipeline.model.head()).has_plain_logits();
  Output output;
  if (!has_logits) output.name = "embedding";
  std::optional<Body> parameters = body.object("parameters");
  if (parameters) output.is_binary = parameters->flag(field::kBinaryDataOutput);
  const Json* outputs = body.find("outputs");
  if (outputs == nullptr || (outputs->is_array() && outputs->as_array().empty())) return output;
  const std::string pointer = body.pointer_of("outputs");
  if (!outputs->is_array() || outputs->as_array().size() != 1)
    refuse(pointer, fmt::format("expected an array of one, logits or embedding, got {}", outputs->describe()));
  Body tensor = body.part(outputs->as_array().front(), pointer + "/0");
  output.name = tensor.text("name").value_or("");
  if (output.name != "embedding" && (output.name != "logits" || !has_logits))
    refuse(
        tensor.pointer_of("name"),
        fmt::format("expected {}, got {}", has_logits ? "logits or embedding" : "embedding", quote_json(output.name)));
  if (std::optional<Body> tensor_parameters = tensor.object("parameters"))
    output.is_binary = tensor_parameters->flag_if_any(field::kBinaryData).value_or(output.is_binary);
  return output;
}

struct Values {
  std::vector<size_t> shape;
  std::vector<float> values;
};

HttpResponse response_of(const ServedModel& model, const Json& id, const Output& output, Values answer) {
  JsonArray shape;
  for (const size_t side : answer.shape) shape.push_back(uint64_t{side});
  JsonObject tensor{{"name", output.name}, {"datatype", "FP32"}, {"shape", std::move(shape)}};
  const size_t bytes = answer.values.size() * sizeof(float);
  JsonObject body{{"model_name", model.name}, {"model_version", "1"}};
  if (!id.is_null()) body.emplace_back("id", id);
  if (output.is_binary) {
    tensor.emplace_back("parameters", JsonObject{{"binary_data_size", uint64_t{bytes}}});
    body.emplace_back("outputs", JsonArray{std::move(tensor)});
    HttpResponse response = json_response(std::move(body));
    response.headers = {{"content-type", "application/octet-stream"},
                        {"inference-header-content-length", std::to_string(response.body.size())}};
    const size_t begin = response.body.size();
    response.body.resize(begin + bytes);
    std::memcpy(response.body.data() + begin, answer.values.data(), bytes);
    return response;
  }
  if (!std::ranges::all_of(answer.values, [](float value) { return std::isfinite(value); }))
    throw Error(ErrorCode::kNotFinite, output.name, "a number is not finite");
  // The JSON around the numbers: ... "outputs": [{..., "data": [ before them and ]}]} behind them.
  std::string begin = Json(std::move(body)).dump(), described = Json(std::move(tensor)).dump();
  begin.back() = ',';
  described.pop_back();
  begin += fmt::format(" \"outputs\": [{}, \"data\": [", described);
  const size_t count = (answer.values.size() + kNumbersAtOnce - 1) / kNumbersAtOnce;
  return parts_response(
      std::move(begin), count,
      [values = std::make_shared<const std::vector<float>>(std::move(answer.values))](size_t i, std::string& out) {
        const std::span<const float> all(*values);
        std::string part;
        append_json(part, all.subspan(i * kNumbersAtOnce, std::min(kNumbersAtOnce, all.size() - i * kNumbersAtOnce)));
        out += fmt::format("{}{}", i == 0 ? "" : ", ", std::string_view(part).substr(1, part.size() - 2));
      },
      "]}]}");
}

// The sequences and the model's outputs for each: [B, C], or [B, L, C] for heads with an output for every token, with
// zeros behind a text that is shorter than the longest.
struct SequenceLogits {
  std::vector<Encoding> sequences;
  std::vector<size_t> positions;  // of the longest sequence's tokens: 0, 1, ...
  std::vector<std::vector<float>> values;
};

Values logits_of(const ServedModel& model, const SequenceLogits& results, size_t columns) {
  const bool is_of_sequence = facts_of(model.pipeline.model.head()).is_per_sequence();
  for (const Encoding& sequence : results.sequences) columns = std::max(columns, sequence.size());
  const size_t classes = results.values[0].size() / (is_of_sequence ? 1 : results.sequences[0].size());
  Values answer;
  answer.shape = {results.sequences.size(), columns, classes};
  if (is_of_sequence) answer.shape.erase(answer.shape.begin() + 1);
  const size_t stride = is_of_sequence ? classes : columns * classes;
  answer.values.resize(results.sequences.size() * stride);
  for (size_t i = 0; i < results.values.size(); ++i)
    std::copy(results.values[i].begin(), results.values[i].end(),
              answer.values.begin() + static_cast<ptrdiff_t>(i * stride));
  return answer;
}

// Throws kBatchTooLarge where the logits of every word for every token would be too many.
void check_size(const ServedModel& model, const std::vector<Encoding>& sequences) {
  if (!facts_of(model.pipeline.model.head()).predicts_words()) return;
  size_t tokens = 0;
  for (const Encoding& sequence : sequences) tokens = std::max(tokens, sequence.size());
  const auto words = static_cast<size_t>(model.pipeline.config.vocab_size);
  if (sequences.size() * tokens * words > kMostValues)
    throw ApiError(
        ApiCode::kBatchTooLarge,
        fmt::format("/inputs: expected at most {} tokens, padding included, for logits of {} words each, got {}",
                    kMostValues / words, words, sequences.size() * tokens),
        "/inputs");
}

Places places_of(const RequestInputs& inputs, const ServedModel& model, const EncodingRules& rules) {
  return {model.pipeline.tokenizer, rules, nullptr, [&inputs] { return inputs.texts.placed(); }};
}

Answering logits(const ServedModel& model, const RequestInputs& inputs, const EncodingRules& rules, const Json& id,
                 const Output& output) {
  auto results = std::make_shared<SequenceLogits>();
  results->sequences = inputs.encodings;
  const Places places = places_of(inputs, model, rules);
  for (const TextInput& text : inputs.texts.views())
    results->sequences.push_back(places.plan([&] { return encode_one(model.pipeline.tokenizer, text, rules); }));
  check_size(model, results->sequences);
  results->values.resize(results->sequences.size());
  SequencePlan plan;
  plan.sequences = SequenceSource(results->sequences);
  if (facts_of(model.pipeline.model.head()).predicts_words()) {
    results->positions.resize(std::ranges::max(plan.sequences.tokens()));
    std::iota(results->positions.begin(), results->positions.end(), size_t{0});
    plan.rows = [results](size_t sequence) {
      return std::span(results->positions).first(results->sequences[sequence].size());
    };
  }
  plan.take = [results](size_t sequence, std::span<const float> values) {
    results->values[sequence].assign(values.begin(), values.end());
  };
  Answering reply = answering_of(std::move(plan));
  reply.respond = [results, &model, id, output, columns = inputs.columns] {
    return response_of(model, id, output, logits_of(model, *results, columns));
  };
  return reply;
}

Answering embedding(const ServedModel& model, const RequestInputs& inputs, const EncodingRules& rules, const Json& id,
                    const Output& output) {
  EmbeddingOptions options;
  options.rules = rules;
  options.normalizes = true;  // as /embed does
  Planned<EmbeddingAnswer> planned =
      places_of(inputs, model, options.rules).plan([&] { return plan_embed(model.pipeline, inputs.views(), options); });
  Answering reply = answering_of(std::move(planned.plan));
  reply.respond = [finish = std::move(planned.finish), &model, id, output] {
    Values values;
    for (const EmbeddingAnswer& answer : finish()) {
      values.shape = {values.shape.empty() ? 1 : values.shape[0] + 1, answer.vectors.size()};
      values.values.insert(values.values.end(), answer.vectors.begin(), answer.vectors.end());
    }
    return response_of(model, id, output, values);
  };
  return reply;
}

// The number of logits in an answer, padding included.
size_t answered_values(const ServedModel& model, const Answering& reply, size_t columns) {
  const HeadFacts& head = facts_of(model.pipeline.model.head());
  const auto classes =
      static_cast<size_t>(std::max<int64_t>(1, head.outputs(model.pipeline.config, model.pipeline.model.labels())));
  for (const size_t tokens : reply.plan->sequences.tokens()) columns = std::max(columns, tokens);
  return reply.plan->sequences.size() * classes * (head.is_per_sequence() ? 1 : columns);
}

}  // namespace

Answering infer(const ServedModel& model, Body& body) {
  const std::optional<std::string> id = body.text("id");
  const Output output = output_of(model, body);
  const RequestInputs inputs = inputs_of(model, Tensors(body));
  const EncodingRules rules = rules_of(model, LongText::kCut);
  const Json echoed = id ? Json(*id) : Json();
  Answering reply = output.name == "embedding" ? embedding(model, inputs, rules, echoed, output)
                                               : logits(model, inputs, rules, echoed, output);
  const size_t values = output.name == "embedding" ? (inputs.texts.size() + inputs.encodings.size()) *
                                                         static_cast<size_t>(model.pipeline.config.hidden_size)
                                                   : answered_values(model, reply, inputs.columns);
  reply.answer_bytes = values * (output.is_binary ? sizeof(float) : kNumberBytes);
  reply.items = inputs.texts.size() + inputs.encodings.size();
  reply.characters = inputs.texts.characters();
  return reply;
}

}  // namespace deberta::serve::kserve
