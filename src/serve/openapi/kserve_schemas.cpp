// The open inference protocol: tensors in and out, and the metadata of a server and of a model.
#include "serve/openapi/schema.h"
#include "serve/openapi/schemas.h"

namespace deberta::serve::openapi {
namespace {

// Texts or token ids; the latter are read as 64 bits.
Json element() {
  return any_of({string(), JsonObject{{"type", "integer"}, {"format", "int64"}}});
}

Json input() {
  JsonObject side{{"type", "integer"}, {"minimum", 1}};
  JsonObject shape = list_of(std::move(side), 1).as_object();
  shape.emplace_back("maxItems", 2);
  JsonArray elements = element().as_object().front().second.as_array();
  elements.push_back(list_of(element()));
  return object({{"name", words({"text", "text_pair", "input_ids", "attention_mask", "token_type_ids"})},
                 {"datatype", words({"BYTES", "INT64", "INT32"})},
                 {"shape", std::move(shape)},
                 optional("parameters", or_null(named("KserveInputParameters"))),
                 optional("data", described(list_of(any_of(std::move(elements))), "flat or nested as the shape is"))});
}

Json infer_request() {
  JsonObject inputs = list_of(named("KserveInput"), 1).as_object();
  inputs.emplace_back("maxItems", 8);
  JsonObject outputs = list_of(named("KserveWanted")).as_object();
  outputs.emplace_back("maxItems", 1);
  return object({optional("id", or_null(string())),
                 optional("parameters", or_null(named("KserveRequestParameters"))),
                 {"inputs", std::move(inputs)},
                 optional("outputs", or_null(std::move(outputs)))});
}

Json output() {
  return closed({{"name", string()},
                 {"datatype", constant("FP32")},
                 {"shape", list_of(count())},
                 optional("parameters", any_object()),
                 optional("data", list_of(number()))});
}

Json model() {
  return closed({{"name", string()},
                 {"versions", list_of(string())},
                 {"platform", string()},
                 {"inputs", list_of(named("KserveTensorShape"))},
                 {"outputs", list_of(named("KserveTensorShape"))}});
}

Json times() {
  return closed({{"count", count()}, {"ns", count()}});
}

Json statistics() {
  std::vector<Property> parts;
  for (const std::string_view part : {"success", "fail", "queue", "compute_input", "compute_infer", "compute_output"})
    parts.push_back({part, named("KserveTimes")});
  return closed({{"name", string()},
                 {"version", string()},
                 {"last_inference", described(count(), "milliseconds since 1970; 0: none yet")},
                 {"inference_count", described(count(), "texts of requests that were answered")},
                 {"execution_count", described(count(), "batches")},
                 {"inference_stats", closed(parts)},
                 {"batch_stats", list_of(named("KserveBatchStatistics"))}});
}

Json batch_statistics() {
  const Json unmeasured = described(times(), "not measured for a batch: 0 of 0");
  return closed({{"batch_size", described(count(), "sequences")},
                 {"compute_input", unmeasured},
                 {"compute_infer", named("KserveTimes")},
                 {"compute_output", unmeasured}});
}

Json index_entry() {
  return closed({{"name", string()},
                 {"version", string()},
                 {"state", words({"READY", "LOADING", "UNAVAILABLE"})},
                 {"reason", string()}});
}

}  // namespace

JsonObject kserve_schemas() {
  return {
      {"KserveServer", closed({{"name", string()}, {"version", string()}, {"extensions", list_of(string())}})},
      {"KserveTensorShape", closed({{"name", string()}, {"datatype", string()}, {"shape", list_of(integer())}})},
      {"KserveModel", model()},
      {"KserveInput", input()},
      {"KserveInputParameters", request({}, {&field::kBinaryDataSize})},
      {"KserveRequest", infer_request()},
      {"KserveRequestParameters", request({}, {&field::kBinaryDataOutput})},
      {"KserveWanted", object({{"name", words({"logits", "embedding"})},
                               optional("parameters", or_null(named("KserveWantedParameters")))})},
      {"KserveWantedParameters", request({}, {&field::kBinaryData})},
      {"KserveResponse", closed({{"model_name", string()},
                                 {"model_version", string()},
                                 optional("id", string()),
                                 {"outputs", list_of(named("KserveOutput"))}})},
      {"KserveOutput", output()},
      {"KserveStatistics", closed({{"model_stats", list_of(named("KserveModelStatistics"))}})},
      {"KserveModelStatistics", statistics()},
      {"KserveBatchStatistics", batch_statistics()},
      {"KserveTimes", times()},
      {"KserveIndexRequest", request({}, {&field::kReady})},
      {"KserveIndex", list_of(named("KserveIndexEntry"))},
      {"KserveIndexEntry", index_entry()},
  };
}

}  // namespace deberta::serve::openapi
