// The verb `serve`: models over HTTP until a signal ends it.
#include <fmt/format.h>
#include <malloc.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <thread>

#include "base/json.h"
#include "base/thread_pool.h"
#include "cli/verbs.h"
#include "deberta/error.h"
#include "program/builtin_model.h"
#include "program/interrupt.h"
#include "program/model_options.h"
#include "program/note.h"
#include "serve/http.h"
#include "serve/server.h"

namespace deberta::cli {
namespace {

using serve::ModelPlace;

// The name that requests use for a model that was given without one.
std::string name_of(const std::string& given) {
  constexpr std::string_view kBuiltin = "builtin:";
  if (given.starts_with(kBuiltin)) return given.substr(kBuiltin.size());
  const std::filesystem::path path(given);
  return (path.has_filename() ? path.filename() : path.parent_path().filename()).string();
}

void check_name(const std::string& name) {
  if (!serve::is_plain_name(name, 64))
    throw Error(
        ErrorCode::kUsage, "--model",
        fmt::format("expected a name of letters, digits, dots, dashes and underscores, got {}; give one: -m NAME=DIR",
                    quote_json(name)));
}

std::vector<ModelPlace> places_of(const ServeVerb& options) {
  std::vector<ModelPlace> places;
  for (const std::string& given : options.models) {
    const size_t equals = given.find('=');
    const bool has_name = equals != std::string::npos && given.find('/') > equals;
    const std::string folder = has_name ? given.substr(equals + 1) : given;
    places.push_back({has_name ? given.substr(0, equals) : name_of(folder), model_root(folder)});
  }
  if (options.models.empty()) {
    for (const FoundModel& model : builtin_models()) places.push_back({name_of(model.name), model.path});
  }
  if (places.empty())
    throw Error(ErrorCode::kUsage, "--model",
                "expected a model directory, got none, and no model is built in; give -m DIR or set DEBERTA_MODEL");
  for (const ModelPlace& place : places) {
    check_name(place.name);
    if (std::count_if(places.begin(), places.end(), [&](const ModelPlace& p) { return p.name == place.name; }) > 1)
      throw Error(ErrorCode::kUsage, "--model",
                  fmt::format("expected names that differ, got {} twice; give others: -m NAME=DIR", place.name));
  }
  return places;
}

serve::ServerSettings settings_of(const ServeVerb& options) {
  serve::ServerSettings settings;
  settings.http = {.host = options.host,
                   .port = options.port,
                   .uds = options.uds,
                   .threads = options.http_threads,
                   .max_body = options.max_body,
                   .max_connections = options.max_connections,
                   .max_connections_per_address = options.max_connections_per_address};
  settings.queue.requests = options.max_concurrent_requests;
  settings.queue.tokens = 64 * options.batch_tokens;
  settings.queue.batch_work = static_cast<double>(options.batch_tokens);
  settings.queue.batch_sequences = options.max_batch_items;
  settings.models = places_of(options);
  settings.model = compat_options(options.compat);
  settings.model.precision = precision_of(options.dtype);
  settings.model.allows_uncalibrated = options.allow_uncalibrated;
  settings.model.threads = options.threads;
  settings.model.kernels = options.kernels;
  settings.open = {.reads_whole = options.load == LoadWeights::kRead, .checks_crc = !options.no_crc};
  if (!options.api_key.empty()) settings.keys.add_all("api-key", options.api_key);
  if (!options.api_key_file.empty()) settings.keys.add_file(options.api_key_file);
  settings.has_admin = options.admin;
  settings.has_strict_fields = options.strict_fields;
  settings.has_tei_metrics = options.metrics_names == MetricsNames::kTei;
  settings.origins = options.cors_allow_origin;
  settings.trusted_proxies = options.trusted_proxy;
  settings.rate_limit = options.rate_limit;
  settings.max_input_length = options.max_input_length;
  settings.max_client_batch = options.max_client_batch;
  settings.cuts = options.truncate != TruncateChoice::kError;
  settings.deadline_ms = options.deadline_ms;
  settings.readers =
      options.tokenization_workers > 0 ? options.tokenization_workers : std::max<size_t>(1, usable_processors() / 2);
  return settings;
}

bool is_local(const ServeVerb& options) {
  return !options.uds.empty() || options.host.starts_with("127.") || options.host == "::1" ||
         options.host == "localhost";
}

// What others can reach wants a key.
void check_exposure(const ServeVerb& options, bool has_keys) {
  if (is_local(options) || has_keys) return;
  for (const auto& [name, is_given] :
       {std::pair("--admin", options.admin), std::pair("--explorer", options.explorer == ExplorerChoice::kOn)}) {
    if (is_given)
      throw Error(
          ErrorCode::kUsage, name,
          fmt::format("expected a key as well, since others can reach {}; set DEBERTA_API_KEY or give --api-key-file",
                      options.host));
  }
  note(fmt::format("others can reach {}, and no key is set: whoever does may ask; set DEBERTA_API_KEY", options.host));
}

void tell_reload(const std::string& name, const std::string& error) {
  note(error.empty() ? fmt::format("{} is loaded anew", name)
                     : fmt::format("{} is not loaded anew, and stays as it was: {}", name, error));
}

std::string time_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

void print_request(const serve::RequestLog& request, LogFormat format) {
  const auto rounded = [](double ms) { return fmt::format("{:.2f}", ms); };
  if (format == LogFormat::kText) {
    std::fputs(fmt::format("{} {} {} {} {} {} items {} tokens {} ms ({} queued, {} computed) {}{}{}\n", time_now(),
                           request.status, request.method, request.route, request.model.empty() ? "-" : request.model,
                           request.items, request.tokens, rounded(request.total_ms), rounded(request.queue_ms),
                           rounded(request.inference_ms), request.id, request.key.empty() ? "" : " " + request.key,
                           request.trace.empty() ? "" : " " + request.trace)
                   .c_str(),
               stderr);
    return;
  }
  const Json line = JsonObject{{"time", time_now()},
                               {"id", request.id},
                               {"method", request.method},
                               {"route", request.route},
                               {"key", request.key},
                               {"traceparent", request.trace},
                               {"model", request.model},
                               {"status", request.status},
                               {"items", uint64_t{request.items}},
                               {"tokens", uint64_t{request.tokens}},
                               {"queue_ms", request.queue_ms},
                               {"inference_ms", request.inference_ms},
                               {"total_ms", request.total_ms}};
  std::fputs((line.dump() + '\n').c_str(), stderr);
}

std::string place_of(const ServeVerb& options, uint16_t port) {
  if (!options.uds.empty()) return options.uds;
  return fmt::format("http://{}:{}",
                     options.host.find(':') != std::string::npos ? fmt::format("[{}]", options.host) : options.host,
                     port);
}

// Connections need descriptors, and those that are refused too while they are told so.
void allow_descriptors(size_t connections) {
  constexpr size_t kOthers = 1024;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const rlim_t wanted = std::min<rlim_t>(limit.rlim_max, connections + kOthers);
  if (limit.rlim_cur >= wanted) return;
  limit.rlim_cur = wanted;
  ::setrlimit(RLIMIT_NOFILE, &limit);  // without them connections wait to be accepted
}

// What requests and reloads give back goes back to the system. By default glibc keeps it in an arena for each thread,
// and in blocks that grow with the largest that was ever freed: a server then holds three times what it uses.
void keep_memory_small() {
#ifdef __GLIBC__
  ::mallopt(M_ARENA_MAX, 2);
  ::mallopt(M_MMAP_THRESHOLD, 128 << 10);
#endif
}

}  // namespace

int run(const ServeVerb& options) {
  keep_memory_small();
  serve::ServerSettings settings = settings_of(options);
  check_exposure(options, !settings.keys.empty());
  allow_descriptors(options.max_connections);
  settings.has_explorer =
      options.explorer == ExplorerChoice::kAuto ? is_local(options) : options.explorer == ExplorerChoice::kOn;
  const bool is_quiet_now = is_quiet();
  serve::Server server(settings, [&](const serve::RequestLog& request) {
    if (!is_quiet_now) print_request(request, options.log_format);
  });
  watch_signal(SIGHUP);
  server.open_models();
  std::string names;
  for (const ModelPlace& model : settings.models) names += fmt::format("{}{}", names.empty() ? "" : ", ", model.name);
  std::fprintf(stdout, "%s serves %s\n", place_of(options, server.port()).c_str(), names.c_str());
  std::fflush(stdout);
  while (interrupted() == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (take_watched_signal()) server.reload_models(tell_reload);
  }
  server.leave();
  if (options.drain_grace_s > 0) {
    note(fmt::format("not ready any more; requests are taken for {} s", options.drain_grace_s));
    std::this_thread::sleep_for(std::chrono::duration<double>(options.drain_grace_s));
  }
  note("no new requests; the others end");
  server.drain(options.drain_s);
  answer_interrupt();
  return 0;
}

}  // namespace deberta::cli
