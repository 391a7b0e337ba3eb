// Settings as a user of the library gives them become those of the parts.
#include "serve/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/file.h"
#include "base/json.h"
#include "base/thread_pool.h"
#include "deberta/error.h"
#include "hub/hub_cache.h"
#include "serve/http.h"
#include "serve/routes.h"

namespace deberta::serve {
namespace {

constexpr size_t kMostModelName = 64, kMostSecondPart = 96;

[[noreturn]] void refuse_models(std::string message, std::vector<Remedy> remedies = {}) {
  throw Error(ErrorCode::kUsage,
              {{.message = std::move(message), .argument = "models", .remedies = std::move(remedies)}});
}

// ORG/NAME, or one part alone.
bool is_alias(std::string_view name) {
  const size_t slash = std::min(name.find('/'), name.size());
  return is_plain_name(name.substr(0, slash), kMostModelName) &&
         (slash == name.size() || is_plain_name(name.substr(slash + 1), kMostSecondPart));
}

// A name that a path takes for something else would not be found by all clients.
void check_name(const std::string& name, bool is_plain) {
  if (!is_plain)
    refuse_models(
        fmt::format("expected a name of letters, digits, dots, dashes and underscores, got {}", quote_json(name)),
        {{.text = "give one", .argument = "name"}});
  if (const std::string path = misleading_path(name); !path.empty())
    refuse_models(fmt::format("expected a name that stands for its model in every path, got {}: {} leads elsewhere",
                              quote_json(name), path),
                  {{.text = "give another", .argument = "name"}});
}

void check_names_differ(const std::vector<ServerModel>& models) {
  std::vector<std::string_view> names;
  for (const ServerModel& model : models) {
    names.emplace_back(model.name);
    names.insert(names.end(), model.aliases.begin(), model.aliases.end());
  }
  std::ranges::sort(names);
  if (const auto twice = std::ranges::adjacent_find(names); twice != names.end())
    refuse_models(fmt::format("expected names that differ, got {} twice", *twice),
                  {{.text = "give others", .argument = "name"}});
}

// An alias of one model that is the repository of another would hide the latter's own name.
void check_repositories(const std::vector<ModelSource>& sources) {
  for (const ModelSource& source : sources) {
    for (const ModelSource& other : sources) {
      if (&source == &other || std::ranges::find(source.aliases, other.repository) == source.aliases.end()) continue;
      refuse_models(
          fmt::format("expected names that differ, got {}, which {} is found by", other.repository, other.name),
          {{.text = "give others", .argument = "name"}});
    }
  }
}

void check_default(const ServerSettings& settings) {
  const auto has_name = [&](const ServerModel& model) {
    return model.name == settings.default_model || std::ranges::count(model.aliases, settings.default_model) > 0;
  };
  if (settings.default_model.empty() || std::ranges::any_of(settings.models, has_name)) return;
  throw Error(ErrorCode::kUsage, {{.message = fmt::format("expected the name of a model that is served, got {}",
                                                          quote_json(settings.default_model)),
                                   .argument = "default_model"}});
}

void check_limit(const ServerModel& model, std::optional<size_t> limit, size_t most, const char* argument) {
  if (!limit || (*limit >= 1 && *limit <= most)) return;
  throw Error(ErrorCode::kUsage, {{.message = fmt::format("{}: expected 1 to {}, got {}", model.name, most, *limit),
                                   .argument = argument}});
}

void check_models(const ServerSettings& settings) {
  constexpr size_t kMostQueueTokens = size_t{1} << 32;
  if (settings.models.empty()) refuse_models("expected at least one model, got none");
  for (const ServerModel& model : settings.models) {
    check_name(model.name, is_plain_name(model.name, kMostModelName));
    for (const std::string& alias : model.aliases) check_name(alias, is_alias(alias));
    check_limit(model, model.max_requests, settings.limits.max_concurrent_requests, "max_requests");
    check_limit(model, model.max_queue_tokens, kMostQueueTokens, "max_queue_tokens");
  }
  check_names_differ(settings.models);
  check_default(settings);
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

void check_windows(const ServerSettings& settings) {
  const auto refuse = [](std::string message, const char* argument, Remedy remedy) {
    throw Error(ErrorCode::kUsage, {{.message = std::move(message), .argument = argument, .remedies = {remedy}}});
  };
  if (settings.window_scores == WindowScores::kEach)
    refuse("expected labels of the whole text, got those of each window", "window_scores",
           {"set {}", "window_scores", "max"});
  if (!settings.benign_labels.empty() && settings.window_scores != WindowScores::kMax)
    refuse("expected the windows to be searched for other labels as well", "benign_labels",
           {"set {}", "window_scores", "max"});
}

}  // namespace

void check_settings(const ServerSettings& settings) {
  check_models(settings);
  check_windows(settings);
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
  QueueLimits limits;
  limits.requests = settings.limits.max_concurrent_requests;
  limits.tokens = 256 * settings.batch_tokens;
  limits.batch_work = static_cast<double>(settings.batch_tokens);
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
    ModelSource source{.name = model.name,
                       .path = find_model(model.path, settings.places),
                       .aliases = model.aliases,
                       .max_requests = model.max_requests,
                       .max_queue_tokens = model.max_queue_tokens};
    if (of_hub) {
      source.repository = of_hub->repository;
      source.find = [path = model.path, places = settings.places] { return find_model(path, places); };
    }
    sources.push_back(std::move(source));
  }
  check_repositories(sources);
  return sources;
}

Keys read_keys(const ServerSettings& settings) {
  Keys keys;
  if (!settings.api_key.empty()) keys.add_all("api-key", settings.api_key);
  if (!settings.api_key_file.empty()) keys.add_file(settings.api_key_file);
  return keys;
}

}  // namespace deberta::serve
