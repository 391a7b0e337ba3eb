// The handlers of the routes, by kind: routes.cpp has the table, routes.h states when each kind runs.
#pragma once
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
HttpResponse health(Server::State& server, const GetRequest& request);  // throws unless the server takes requests
HttpResponse live(Server::State& server, const GetRequest& request);
HttpResponse metrics(Server::State& server, const GetRequest& request);
HttpResponse page(Server::State& server, const GetRequest& request);
HttpResponse openapi(Server::State& server, const GetRequest& request);
HttpResponse kserve_server(Server::State& server, const GetRequest& request);
HttpResponse kserve_model(Server::State& server, const GetRequest& request);
HttpResponse model_ready(Server::State& server, const GetRequest& request);
HttpResponse explain_terms(Server::State& server, const GetRequest& request);
HttpResponse explain_heads(Server::State& server, const GetRequest& request);
HttpResponse explain_thumbnails(Server::State& server, const GetRequest& request);
// What the server reports about itself: server_info.cpp.
HttpResponse info(Server::State& server, const GetRequest& request);
HttpResponse models(Server::State& server, const GetRequest& request);
HttpResponse admin_models(Server::State& server, const GetRequest& request);
HttpResponse admin_queue(Server::State& server, const GetRequest& request);
}  // namespace gets

// Each returns the state of the model that it changed, or the level of the log.
namespace commands {
Json load(Server::State& server, const std::string& model, Body& body);
Json unload(Server::State& server, const std::string& model, Body& body);
Json reload(Server::State& server, const std::string& model, Body& body);
Json set_log_level(Server::State& server, const std::string& model, Body& body);
}  // namespace commands

// Answers with the tokens of a text and the id of its attention, which is kept for a minute.
HttpResponse explain_tokens(Server::State& server, const ServedModel& model, Body& body, const std::string& owner);

}  // namespace deberta::serve
