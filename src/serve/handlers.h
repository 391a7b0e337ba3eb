// The handlers of the routes, by kind: routes.cpp has the table, routes.h states when each kind runs.
#pragma once
#include <functional>
#include <string>

#include "serve/routes.h"

namespace deberta::serve {

// Inference: a body to its sequences, and their outputs to the answer.
namespace answers {
// /rerank: with `documents` the request is one of Cohere's and Jina's clients, else of text-embeddings-inference's.
Answering rerank_by_key(const ServedModel& model, Body& body, const RouteRequest& request);
// POST /: a body with `parameters` is one of the hub's; else the task of text-embeddings-inference that the model fits.
Answering own_task(const ServedModel& model, Body& body, const RouteRequest& request);
Answering hub_task(const ServedModel& model, Body& body, const RouteRequest& request);  // the task that the path names
Answering hub_own_task(const ServedModel& model, Body& body, const RouteRequest& request);  // for the model's own URL
}  // namespace answers

namespace gets {
// Throws unless the server takes requests and the model that the path names, if it names one, is open.
HttpResponse health(ServerState& server, const GetRequest& request);
HttpResponse live(ServerState& server, const GetRequest& request);
HttpResponse metrics(ServerState& server, const GetRequest& request);
HttpResponse page(ServerState& server, const GetRequest& request);
HttpResponse openapi(ServerState& server, const GetRequest& request);
HttpResponse kserve_server(ServerState& server, const GetRequest& request);
HttpResponse kserve_model(ServerState& server, const GetRequest& request);
HttpResponse statistics(ServerState& server, const GetRequest& request);
HttpResponse explain_terms(ServerState& server, const GetRequest& request);
HttpResponse explain_heads(ServerState& server, const GetRequest& request);
HttpResponse explain_thumbnails(ServerState& server, const GetRequest& request);
// The model: `model`, or X-Model. Of a size, also one that is published and not served.
HttpResponse explain_positions(ServerState& server, const GetRequest& request);
HttpResponse explain_size(ServerState& server, const GetRequest& request);
// What the server reports about itself: server_info.cpp. Below a model's base URL of that model alone.
HttpResponse info(ServerState& server, const GetRequest& request);
HttpResponse models(ServerState& server, const GetRequest& request);
HttpResponse openai_model(ServerState& server, const GetRequest& request);
HttpResponse admin_models(ServerState& server, const GetRequest& request);
HttpResponse admin_queue(ServerState& server, const GetRequest& request);
}  // namespace gets

namespace reports {
Json repository_index(const ServerState& server, Body& body);
}  // namespace reports

// What each returns answers with the state of the model that it changed, or the level of the log.
namespace commands {
std::function<Json()> load(ServerState& server, const std::string& model, Body& body);
std::function<Json()> unload(ServerState& server, const std::string& model, Body& body);
std::function<Json()> reload(ServerState& server, const std::string& model, Body& body);
std::function<Json()> set_log_level(ServerState& server, const std::string& model, Body& body);
}  // namespace commands

// What the explorer is shown of a text (explain.h).
namespace explains {
HttpResponse tokens(ServerState& server, const ServedModel& model, Body& body, const std::string& owner);
HttpResponse decoder(ServerState& server, const ServedModel& model, Body& body, const std::string& owner);
// The generator: the field `generator`, or the first model that guesses words of the same pieces.
HttpResponse replaced(ServerState& server, const ServedModel& model, Body& body, const std::string& owner);
}  // namespace explains

}  // namespace deberta::serve
