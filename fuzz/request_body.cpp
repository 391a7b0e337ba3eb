// The body of a request to the server: a byte for the route, one for the model, one for how much of the end is behind
// the JSON, then the body. What is accepted runs on a tiny model and is answered with strict JSON, or, for tensors,
// with a header that says how much of the answer is JSON; what is refused is refused in the words of the route's
// clients.
#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/utf8.h"
#include "fuzz.h"
#include "serve/answering.h"
#include "serve/api_error.h"
#include "serve/handlers.h"
#include "serve/routes.h"
#include "support/tiny_extractor.h"
#include "support/tiny_pipeline.h"

namespace deberta::fuzz {
namespace {

using serve::Answering;
using serve::ApiError;
using serve::HttpResponse;
using serve::ServedModel;

struct Models {
  std::vector<std::unique_ptr<test::TemporaryFolder>> folders;
  std::vector<ServedModel> all;

  Models() {
    add(Head::kSequence, {"a", "b", "c"}, 3);
    add(Head::kSequence, {"contradiction", "neutral", "entailment"}, 3);
    add(Head::kSequence, {"LABEL_0"}, 1);
    add(Head::kToken, {"O", "B-PER", "I-PER"}, 3);
    add(Head::kSpan, {}, 2);
    add(Head::kMaskedLm, {}, 0);
    add(Head::kReplacedToken, {}, 0);
    const test::TemporaryFolder& folder = new_folder();
    add(folder, test::tiny_extractor(folder, {.hidden_size = 12, .max_width = 3}));
  }
  const test::TemporaryFolder& new_folder() { return *folders.emplace_back(std::make_unique<test::TemporaryFolder>()); }
  void add(Head head, std::vector<std::string> labels, int64_t classes) {
    const test::TemporaryFolder& folder = new_folder();
    add(folder, test::tiny_pipeline(folder, head, std::move(labels), classes));
  }
  void add(const test::TemporaryFolder& folder, Pipeline pipeline) {
    all.push_back({.name = "model",
                   .path = folder.path(),
                   .pipeline = std::move(pipeline),
                   .max_input_length = 64,
                   .max_client_batch = 8});
  }
};

constexpr size_t kMostAnswer = size_t{1} << 20;

struct AskedRoute {
  serve::Answer answer;
  serve::Dialect dialect;
  bool has_tail = false;
  serve::RouteRequest asked = {};
};
// Routes that are newer than others behind them in all_asked().
constexpr std::array<std::string_view, 3> kNewer = {"/gliner", "/gliner/restore", "/v1/extract"};
constexpr std::array<std::string_view, 3> kNewest = {"/score", "/v1/score", "/classify"};

// Routes with a task of their own, each task of the hub, those that choose by the model, and what is newer: in this
// order, so that a seed of the corpus goes on asking for the same.
std::vector<AskedRoute> all_asked() {
  using serve::answers::hub_own_task, serve::answers::hub_task, serve::answers::own_task;
  const auto is_in = [](const auto& paths, std::string_view path) {
    return std::ranges::find(paths, path) != paths.end();
  };
  std::vector<AskedRoute> asked, newer, newest;
  for (const serve::Route& route : serve::all_routes()) {
    const auto* answer = std::get_if<serve::Answer>(&route.handler);
    if (answer == nullptr || *answer == own_task || *answer == hub_own_task || *answer == hub_task) continue;
    std::vector<AskedRoute>& all = is_in(kNewest, route.path) ? newest : is_in(kNewer, route.path) ? newer : asked;
    all.push_back({*answer, route.dialect, route.has_tail});
  }
  for (const char* task : {"text-classification", "token-classification", "question-answering", "fill-mask",
                           "text-scoring", "replaced-token-detection", "feature-extraction", "zero-shot-classification",
                           "sentence-similarity", "text-ranking", "multiple-choice"})
    asked.push_back({hub_task, serve::Dialect::kTei, false, {task, ""}});
  asked.push_back({hub_task, serve::Dialect::kTei, false, {"zero-shot-classification", "hf_hub/0.20.0"}});
  for (const serve::Answer answer : {own_task, hub_own_task}) asked.push_back({answer, serve::Dialect::kTei});
  asked.insert(asked.end(), newer.begin(), newer.end());
  asked.push_back({hub_task, serve::Dialect::kTei, false, {"entity-extraction", ""}});
  asked.insert(asked.end(), newest.begin(), newest.end());
  return asked;
}

// Of all objects, whatever they are in.
size_t members_of(const Json& value) {
  size_t count = 0;
  if (value.is_array()) {
    for (const Json& one : value.as_array()) count += members_of(one);
  } else if (value.is_object()) {
    for (const auto& [name, member] : value.as_object()) count += 1 + members_of(member);
  }
  return count;
}

void check_response(const HttpResponse& response, int from, int to) {
  FUZZ_REQUIRE(response.status >= from && response.status <= to);
  std::string_view json = response.body;
  for (const auto& [name, value] : response.headers) {
    FUZZ_REQUIRE(value.find_first_of("\r\n") == std::string::npos);
    if (name != "inference-header-content-length") continue;
    size_t size = 0;
    std::from_chars(value.data(), value.data() + value.size(), size);
    FUZZ_REQUIRE(size <= json.size());
    json = json.substr(0, size);
  }
  parse_json(json, "response");  // its error would be ours
}

}  // namespace

void run(Bytes input) {
  static const Models models;
  static const std::vector<AskedRoute> routes = all_asked();
  Cutter cutter(input);
  const AskedRoute& route = routes[cutter.byte() % routes.size()];
  const ServedModel& model = models.all[cutter.byte() % models.all.size()];
  const size_t tail = cutter.byte();
  const std::string_view rest = cutter.rest();
  const size_t size = route.has_tail ? rest.size() - std::min(tail, rest.size()) : rest.size();
  const Json json =
      parse_json(rest.substr(0, size), "body", {.max_bytes = SIZE_MAX, .max_depth = 32, .max_nodes = 1000000});
  HttpResponse response;
  try {
    serve::Body body(json, {}, rest.substr(size));
    const Answering reply = route.answer(model, body, route.asked);
    const std::vector<std::string> ignored = body.unknown();
    FUZZ_REQUIRE(ignored.size() <= members_of(json));
    if (reply.answer_bytes > kMostAnswer) return;  // which a server refuses
    if (reply.plan != nullptr) run_plan(model.pipeline.model, *reply.plan, 1000);
    response = reply.respond();
    for (std::string piece; response.pieces && !(piece = response.pieces()).empty();) response.body += piece;
  } catch (...) {
    const ApiError error = serve::api_error_of(std::current_exception());
    FUZZ_REQUIRE(error.code != serve::ApiCode::kInternal);
    return check_response(serve::error_response(error, route.dialect), 400, 500);
  }
  check_response(response, 200, 200);
}

}  // namespace deberta::fuzz
