// Settings as a user of the library gives them become those of the parts.
#include "serve/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/file.h"
#include "base/json.h"
#include "base/thread_pool.h"
#include "deberta/error.h"
#include "hub/hub_cache.h"
#include "serve/http.h"

namespace deberta::serve {
namespace {

constexpr size_t kMostModelName = 64;

[[noreturn]] void refuse_models(std::string message, std::vector<Remedy> remedies = {}) {
  throw Error(ErrorCode::kUsage,
              {{.message = std::move(message), .argument = "models", .remedies = std::move(remedies)}});
}

void check_models(const std::vector<ServerModel>& models) {
  if (models.empty()) refuse_models("expected at least one model, got none");
  for (const ServerModel& model : models) {
    if (!is_plain_name(model.name, kMostModelName))
      refuse_models(fmt::format("expected a name of letters, digits, dots, dashes and underscores, got {}",
                                quote_json(model.name)),
                    {{.text = "give one", .argument = "name"}});
    if (std::ranges::count(models, model.name, &ServerModel::name) > 1)
      refuse_models(fmt::format("expected names that differ, got {} twice", model.name),
                    {{.text = "give others", .argument = "name"}});
  }
}

// Anything that other machines can reach needs a key.
void check_exposure(const ServerSettings& settings) {
  if (!is_open_to_others(settings)) return;
  for (const auto& [argument, is_given] :
       {std::pair("has_admin", settings.has_admin), std::pair("has_explorer", settings.has_explorer.value_or(false))}) {
    if (is_given)
      throw Error(ErrorCode::kUsage,
                  {{.message = fmt::format("expected a key as well, since other machines can reach {}", settings.host),
                    .argument = argument,
                    .remedies = {{"set {}", "api_key"}, {"give {}", "api_key_file"}}}});
  }
}

}  // namespace

void check_settings(const ServerSettings& settings) {
  check_models(settings.models);
  check_exposure(settings);
}

bool is_local(const ServerSettings& settings) {
  return !settings.uds.empty() || settings.host.starts_with("127.") || settings.host == "::1" ||
         settings.host == "localhost";
}

bool is_open_to_others(const ServerSettings& settings) {
  return !is_local(settings) && settings.api_key.empty() && settings.api_key_file.empty();
}

HttpSettings http_settings(const ServerSettings& settings) {
  return {.host = settings.host,
          .port = settings.port,
          .uds = settings.uds,
          .uds_mode = settings.uds_mode,
          .threads = settings.limits.http_threads,
          .max_body = settings.limits.max_body,
          .max_connections = settings.limits.max_connections,
          .max_connections_per_address = settings.limits.max_connections_per_address,
          .trusted = settings.trusted_proxies};
}

HttpSettings metrics_http_settings(const ServerSettings& settings) {
  HttpSettings http = http_settings(settings);
  http.port = settings.metrics_port.value_or(0);
  http.uds.clear();
  http.threads = 1;
  return http;
}

QueueLimits queue_limits(const ServerSettings& settings) {
  constexpr size_t kPerThread = 1024, kLeast = 1024, kMost = 16384;
  const size_t threads = settings.model.threads > 0 ? settings.model.threads : usable_processors();
  QueueLimits limits;
  limits.requests = settings.limits.max_concurrent_requests;
  if (settings.batch_tokens) limits.tokens = 64 * *settings.batch_tokens;
  limits.batch_work =
      static_cast<double>(settings.batch_tokens.value_or(std::clamp(kPerThread * threads, kLeast, kMost)));
  limits.batch_sequences = settings.limits.max_batch_items;
  return limits;
}

size_t readers_of(const ServerSettings& settings) {
  const size_t workers = settings.limits.tokenization_workers;
  return workers > 0 ? workers : std::max<size_t>(1, usable_processors() / 2);
}

std::vector<ModelSource> model_sources(const ServerSettings& settings) {
  std::vector<ModelSource> sources;
  for (const ServerModel& model : settings.models) {
    const std::optional<HubName> of_hub = is_directory(model.path) ? std::nullopt : parse_hub_name(model.path);
    ModelSource source{.name = model.name, .path = find_model(model.path, settings.places)};
    if (of_hub) {
      source.repository = of_hub->repository;
      source.find = [path = model.path, places = settings.places] { return find_model(path, places); };
    }
    sources.push_back(std::move(source));
  }
  return sources;
}

Keys read_keys(const ServerSettings& settings) {
  Keys keys;
  if (!settings.api_key.empty()) keys.add_all("api-key", settings.api_key);
  if (!settings.api_key_file.empty()) keys.add_file(settings.api_key_file);
  return keys;
}

}  // namespace deberta::serve
