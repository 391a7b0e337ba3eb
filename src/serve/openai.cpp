// Embeddings in the dialect of OpenAI's clients.
#include <fmt/format.h>

#include <bit>

#include "base/base64.h"
#include "serve/answering.h"
#include "serve/api_error.h"
#include "serve/fields.h"

namespace deberta::serve::openai {
namespace {

// Texts, or token ids as the model's tokenizer makes them.
struct EmbeddingInputs {
  Inputs texts;
  std::vector<Encoding> encodings;  // of a request with ids
  size_t size() const { return encodings.empty() ? texts.size() : encodings.size(); }
};

Encoding encoding_of(const ServedModel& model, const Json& ids, const std::string& pointer) {
  const Tokenizer& tokenizer = model.pipeline.tokenizer;
  Encoding encoding;
  for (size_t i = 0; i < ids.as_array().size(); ++i) {
    const Json& id = ids.as_array()[i];
    if (!id.is_integer() || id.as_integer() < 0 || id.as_integer() >= static_cast<int64_t>(tokenizer.size())) {
      const std::string at = fmt::format("{}/{}", pointer, i);
      throw ApiError(ApiCode::kTokenizer,
                     fmt::format("{}: expected a token id below {}, got {}", at, tokenizer.size(), id.describe()), at);
    }
    const auto number = static_cast<int32_t>(id.as_integer());
    encoding.ids.push_back(number);
    encoding.type_ids.push_back(0);
    encoding.is_special.push_back(tokenizer.is_special(number));
  }
  check_first_id(model, encoding, pointer);
  if (encoding.size() > model.max_input_length)
    throw ApiError(
        ApiCode::kValidation,
        fmt::format("{}: expected at most {} tokens, got {}", pointer, model.max_input_length, encoding.size()),
        pointer);
  return encoding;
}

EmbeddingInputs inputs_of(const ServedModel& model, Body& body) {
  const Json* value = body.find("input");
  if (value == nullptr) body.refuse_missing("input");
  const std::string pointer = body.pointer_of("input");
  EmbeddingInputs inputs;
  if (value->is_string()) {
    inputs.texts.add(value->as_string(), pointer);
    return inputs;
  }
  if (!value->is_array())
    body.refuse("input",
                fmt::format("expected a string, an array of strings, or token ids, got {}", value->describe()));
  const JsonArray& array = value->as_array();
  if (!array.empty() && array.front().is_integer()) {  // one text
    inputs.encodings.push_back(encoding_of(model, *value, pointer));
    return inputs;
  }
  check_count(model, array.size(), pointer);
  if (array.front().is_array()) {
    for (size_t i = 0; i < array.size(); ++i) {
      const std::string at = fmt::format("{}/{}", pointer, i);
      if (!array[i].is_array())
        throw ApiError(ApiCode::kValidation, fmt::format("{}: expected token ids, got {}", at, array[i].describe()),
                       at);
      inputs.encodings.push_back(encoding_of(model, array[i], at));
    }
  } else {
    inputs.texts.add_all(model, *value, pointer);
  }
  return inputs;
}

void add_embedding(const VectorTexts& vectors, size_t i, bool is_base64, std::string& out) {
  out += fmt::format("{}{{\"object\": \"embedding\", \"index\": {}, \"embedding\": ", i == 0 ? "" : ", ", i);
  const std::vector<float>& vector = vectors.vector(i);
  if (is_base64) {
    static_assert(std::endian::native == std::endian::little);
    out += quote_json(to_base64({reinterpret_cast<const char*>(vector.data()), vector.size() * sizeof(float)}));
  } else {
    append_json(out, vector);
  }
  out += '}';
}

}  // namespace

Answering embeddings(const ServedModel& model, Body& body) {
  const EmbeddingInputs inputs = inputs_of(model, body);
  body.text(field::kModel);
  body.text(field::kUser);
  const bool is_base64 = body.word(field::kEncodingFormat) == "base64";
  EmbeddingOptions options;
  options.rules = rules_of(model, body, LongText::kRefuse);
  const VectorCut cut(model, body, true, options);
  std::vector<TextInput> views = inputs.texts.views();
  for (const Encoding& encoding : inputs.encodings) views.push_back(TextInput{.text = {}, .encodings = {&encoding, 1}});
  const size_t columns = cut.columns(embedding_columns(model.pipeline, options));
  Answering reply =
      responding(places_of(model, options.rules, body, inputs.texts).plan([&] {
        return plan_embed(model.pipeline, views, options);
      }),
                 [cut, columns, is_base64, name = model.name](std::vector<EmbeddingAnswer> answers) {
                   uint64_t tokens = 0;
                   for (EmbeddingAnswer& answer : answers) {
                     cut.apply(answer.vectors);
                     tokens += answer.tokens;
                   }
                   const auto vectors = std::make_shared<const VectorTexts>(std::move(answers), columns);
                   const Json usage = usage_json(tokens);
                   return parts_response(
                       "{\"object\": \"list\", \"data\": [", vectors->texts(),
                       [vectors, is_base64](size_t i, std::string& out) { add_embedding(*vectors, i, is_base64, out); },
                       fmt::format("], \"model\": {}, \"usage\": {}}}", quote_json(name), usage.dump()));
                 });
  reply = of_vectors(std::move(reply), inputs.size() * columns);
  reply.items = inputs.size();
  reply.characters = inputs.texts.characters();
  return reply;
}

}  // namespace deberta::serve::openai
