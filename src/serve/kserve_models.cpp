// What clients of KServe and Triton are told of the server and its models: metadata, statistics and the index.
#include "heads/head_facts.h"
#include "serve/answering.h"
#include "serve/metrics.h"

namespace deberta::serve::kserve {
namespace {

JsonObject tensor_json(std::string_view name, std::string_view datatype, JsonArray shape) {
  return {{"name", name}, {"datatype", datatype}, {"shape", std::move(shape)}};
}

Json times_json(const ModelStatistics::Times& times) {
  return JsonObject{{"count", times.count}, {"ns", times.nanoseconds}};
}

}  // namespace

// The extension model_repository is not among them: of its three routes there is the index alone, and models are opened
// and closed under /admin.
Json server_json(std::string_view version) {
  return JsonObject{
      {"name", "deberta"}, {"version", version}, {"extensions", JsonArray{"binary_tensor_data", "statistics"}}};
}

Json model_json(const ServedModel& model) {
  const Json any = int64_t{-1};
  JsonArray inputs;
  for (const char* name : {"text", "text_pair"}) inputs.push_back(tensor_json(name, "BYTES", {any}));
  for (const char* name : {"input_ids", "attention_mask", "token_type_ids"})
    inputs.push_back(tensor_json(name, "INT64", {any, any}));
  const HeadFacts& head = facts_of(model.pipeline.model.head());
  JsonArray outputs;
  if (head.has_plain_logits()) {
    JsonArray shape{
        any, head.is_per_sequence() ? Json(head.outputs(model.pipeline.config, model.pipeline.model.labels())) : any};
    if (!head.is_per_sequence()) shape.push_back(any);
    outputs.push_back(tensor_json("logits", "FP32", std::move(shape)));
  }
  outputs.push_back(tensor_json("embedding", "FP32", {any, int64_t{model.pipeline.config.hidden_size}}));
  return JsonObject{{"name", model.name},
                    {"versions", JsonArray{"1"}},
                    {"platform", "deberta"},
                    {"inputs", std::move(inputs)},
                    {"outputs", std::move(outputs)}};
}

// Requests are counted by all routes, since they share the model. A batch holds sequences of several requests, whose
// texts were read before and whose answers are made after it: that is measured for each request, not for each batch.
Json statistics_json(const std::string& name, const ModelStatistics& statistics) {
  const Json none = times_json({});
  JsonArray batches;
  for (const auto& [sequences, times] : statistics.by_sequences)
    batches.push_back(JsonObject{{"batch_size", uint64_t{sequences}},
                                 {"compute_input", none},
                                 {"compute_infer", times_json(times)},
                                 {"compute_output", none}});
  return JsonObject{{"name", name},
                    {"version", "1"},
                    {"last_inference", statistics.last_ms},
                    {"inference_count", statistics.items},
                    {"execution_count", statistics.batches},
                    {"inference_stats", JsonObject{{"success", times_json(statistics.answered)},
                                                   {"fail", times_json(statistics.failed)},
                                                   {"queue", times_json(statistics.queued)},
                                                   {"compute_input", times_json(statistics.read)},
                                                   {"compute_infer", times_json(statistics.computed)},
                                                   {"compute_output", times_json(statistics.made)}}},
                    {"batch_stats", std::move(batches)}};
}

Json index_json(const std::string& name, std::string_view state) {
  const bool is_open = state == "open", is_closed = state == "closed";
  return JsonObject{{"name", name},
                    {"version", "1"},
                    {"state", is_open     ? "READY"
                              : is_closed ? "UNAVAILABLE"
                                          : "LOADING"},
                    {"reason", is_closed ? "unloaded" : ""}};
}

}  // namespace deberta::serve::kserve
