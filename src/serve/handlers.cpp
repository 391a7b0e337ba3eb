// The handlers of the routes: each calls a family of clients, the models or the explorer in a few lines.
#include "serve/handlers.h"

#include <fmt/format.h>

#include "analysis/same_pieces.h"
#include "config/published_sizes.h"
#include "deberta/library.h"
#include "heads/forms.h"
#include "heads/head_facts.h"
#include "serve/fields.h"
#include "serve/openapi/document.h"
#include "serve/server_state.h"
#include "web/files.h"

namespace deberta::serve {
namespace answers {

Answering rerank_by_key(const ServedModel& model, Body& body, const RouteRequest&) {
  return body.find("documents") != nullptr ? cohere::rerank(model, body) : tei::rerank(model, body);
}

Answering own_task(const ServedModel& model, Body& body, const RouteRequest& request) {
  if (body.find("parameters") != nullptr) return hub::find_own_task(model, body, request.user_agent)(model, body);
  const HeadFacts& head = facts_of(model.pipeline.model.head());
  if (!head.has_logits()) return tei::embed(model, body);
  if (!head.is_per_sequence()) return hub::find_own_task(model, body, request.user_agent)(model, body);
  const bool is_ranked = model.pipeline.model.labels() == 1 && body.find("texts") != nullptr;
  return is_ranked || body.find("query") != nullptr ? tei::rerank(model, body) : tei::predict(model, body);
}

Answering hub_task(const ServedModel& model, Body& body, const RouteRequest& request) {
  return hub::find_task(std::string(request.task), request.user_agent)(model, body);
}

Answering hub_own_task(const ServedModel& model, Body& body, const RouteRequest& request) {
  return hub::find_asked_task(model, body, request.user_agent)(model, body);
}

}  // namespace answers

namespace gets {
namespace {

// A file for a browser, with a policy that lets it load the server's own files alone.
HttpResponse file_response(std::string_view type, std::string_view text) {
  return {
      .status = 200,
      .headers = {{"content-type", std::string(type)},
                  {"content-security-policy",
                   "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
                   "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"}},
      .body = std::string(text)};
}

std::string model_of_query(const GetRequest& request) {
  const std::string name = query_value(request.request.query, "model");
  return name.empty() ? std::string(request.request.header("x-model")) : name;
}

}  // namespace

HttpResponse health(ServerState& server, const GetRequest& request) {
  if (server.is_leaving || server.is_draining) throw ApiError(ApiCode::kDraining, "the server is shutting down");
  if (!request.match.model.empty()) server.models.find(request.match.model);  // throws
  server.models.check_ready();
  const bool is_kserve = request.match.route->dialect == Dialect::kKserve;
  return json_response(is_kserve ? JsonObject{{"ready", true}} : JsonObject{{"status", "ok"}});
}

HttpResponse live(ServerState&, const GetRequest&) {
  return json_response(JsonObject{{"live", true}});
}

HttpResponse metrics(ServerState& server, const GetRequest&) {
  return {.status = 200,
          .headers = {{"content-type", "text/plain; version=0.0.4; charset=utf-8"}},
          .body = server.metrics.text(server.gauges())};
}

// /docs is docs.html, and the files below it are docs.js and docs.css; so are those of /explorer.
HttpResponse page(ServerState&, const GetRequest& request) {
  const RouteMatch& match = request.match;
  const std::string_view path = match.route->path.substr(1);
  const std::string page_name(path.substr(0, path.find('/')));
  std::string name = page_name + ".html";
  if (!match.file.empty()) name = web::belongs_to(page_name, match.file) ? match.file : "";
  const web::File* file = web::find_file(name);
  if (file == nullptr) throw ApiError(ApiCode::kNotFound, fmt::format("no file {}", quote_json(match.file)));
  return file_response(file->type, file->text);
}

HttpResponse openapi(ServerState&, const GetRequest&) {
  return file_response("application/json", serve::openapi::document_text());
}

HttpResponse kserve_server(ServerState&, const GetRequest&) {
  return json_response(kserve::server_json(version()));
}

HttpResponse kserve_model(ServerState& server, const GetRequest& request) {
  return json_response(kserve::model_json(server.models.find(request.match.model)->model));
}

HttpResponse statistics(ServerState& server, const GetRequest& request) {
  JsonArray all;
  for (const std::shared_ptr<Served>& served : server.models.open_ones_of(request.match.model))
    all.push_back(kserve::statistics_json(served->model.name, server.metrics.statistics(served->model.name)));
  return json_response(JsonObject{{"model_stats", std::move(all)}});
}

HttpResponse explain_terms(ServerState& server, const GetRequest& request) {
  return server.explanations.terms(request.request.query, request.owner, microseconds());
}

HttpResponse explain_heads(ServerState& server, const GetRequest& request) {
  return server.explanations.heads(request.request.query, request.owner, microseconds());
}

HttpResponse explain_thumbnails(ServerState& server, const GetRequest& request) {
  return server.explanations.thumbnails(request.request.query, request.owner, microseconds());
}

HttpResponse explain_positions(ServerState& server, const GetRequest& request) {
  return serve::explain_positions(server.models.find(model_of_query(request))->model, request.request.query);
}

HttpResponse explain_size(ServerState& server, const GetRequest& request) {
  const std::string name = model_of_query(request);
  const PublishedSize* size = find_published_size(name);
  if (size != nullptr && server.models.served_name(name).empty())
    return serve::explain_size(*size, request.request.query);
  return serve::explain_size(server.models.find(name)->model, request.request.query);
}

}  // namespace gets

namespace reports {

Json repository_index(const ServerState& server, Body& body) {
  const bool is_ready_alone = body.flag(field::kReady);
  JsonArray all;
  for (const ModelSet::Status& status : server.models.statuses()) {
    if (!is_ready_alone || status.state == "open") all.push_back(kserve::index_json(status.name, status.state));
  }
  return all;
}

}  // namespace reports

namespace commands {
namespace {

Json state_of(const ServerState& server, const std::string& model) {
  const std::string name = server.models.served_name(model);
  for (const ModelSet::Status& status : server.models.statuses()) {
    if (status.name == name) return JsonObject{{"name", status.name}, {"state", status.state}};
  }
  return {};
}

}  // namespace

std::function<Json()> load(ServerState& server, const std::string& model, Body&) {
  return [&server, model] {
    server.models.load(model);
    return state_of(server, model);
  };
}

std::function<Json()> unload(ServerState& server, const std::string& model, Body&) {
  return [&server, model] {
    server.models.unload(model);
    return state_of(server, model);
  };
}

std::function<Json()> reload(ServerState& server, const std::string& model, Body& body) {
  return [&server, model, forces = body.flag(field::kForce)] {
    server.reload(model, forces);
    return state_of(server, model);
  };
}

std::function<Json()> set_log_level(ServerState& server, const std::string&, Body& body) {
  const std::optional<std::string> word = body.word(field::kLevel);
  if (!word) body.refuse_missing(field::kLevel.name);
  const LogLevel level = *word == "info" ? LogLevel::kInfo : *word == "warning" ? LogLevel::kWarning : LogLevel::kError;
  return [&server, level, word = *word]() -> Json {
    server.log_level = level;
    return JsonObject{{"level", word}};
  };
}

}  // namespace commands

namespace explains {
namespace {

std::shared_ptr<Served> generator_of(const ServerState& server, const ServedModel& model, Body& body) {
  if (const std::optional<std::string> name = body.text(field::kGenerator)) {
    try {
      return server.models.find(*name);
    } catch (ApiError& error) {
      error.field = body.pointer_of(field::kGenerator.name);
      throw;
    }
  }
  for (std::shared_ptr<Served>& other : server.models.open_ones()) {
    const Pipeline& pipeline = other->model.pipeline;
    if (predicts_masked_words(pipeline.config, facts_of(pipeline.model.head())) &&
        have_same_pieces(pipeline.tokenizer, model.pipeline.tokenizer))
      return other;
  }
  body.refuse(field::kGenerator.name,
              fmt::format("expected a masked language model that reads the pieces of {}, got none; serve one beside it",
                          model.name));
}

}  // namespace

HttpResponse tokens(ServerState& server, const ServedModel& model, Body& body, const std::string& owner) {
  return server.explanations.explain(model, body, owner, microseconds());
}

HttpResponse decoder(ServerState& server, const ServedModel& model, Body& body, const std::string& owner) {
  return explain_decoder(server.explanations, model, body, owner, microseconds());
}

HttpResponse replaced(ServerState& server, const ServedModel& model, Body& body, const std::string&) {
  const std::shared_ptr<Served> generator = generator_of(server, model, body);
  return explain_replaced(generator->model, model, body, server.explanations.most_bytes());
}

}  // namespace explains

}  // namespace deberta::serve
