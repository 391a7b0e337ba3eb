// The verb `serve`: models over HTTP until a signal ends it.
#include <fmt/format.h>
#include <malloc.h>
#include <sys/resource.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "base/checked.h"
#include "base/file.h"
#include "base/json.h"
#include "cli/log_writer.h"
#include "cli/verbs.h"
#include "deberta/error.h"
#include "deberta/find_model.h"
#include "deberta/library.h"
#include "deberta/server.h"
#include "hub/hub_cache.h"
#include "program/builtin_model.h"
#include "program/interrupt.h"
#include "program/model_options.h"
#include "program/note.h"
#include "program/output.h"
#include "serve/openapi/document.h"
#include "serve/settings.h"

namespace deberta::cli {
namespace {

// The name that requests use for a model that the command line does not name.
std::string name_of(const std::string& value) {
  constexpr std::string_view kBuiltin = "builtin:";
  if (value.starts_with(kBuiltin)) return value.substr(kBuiltin.size());
  const std::filesystem::path path(value);
  return (path.has_filename() ? path.filename() : path.parent_path().filename()).string();
}

std::vector<ServerModel> models_of(const ServeVerb& options) {
  std::vector<ServerModel> models;
  for (const std::string& value : options.models) {
    auto [names, folder] = program::parse_named_folder(value);
    const std::optional<HubName> of_hub = is_directory(folder) ? std::nullopt : parse_hub_name(folder);
    const std::string path = program::model_root(folder);
    if (names.empty()) names.push_back(name_of(of_hub ? of_hub->repository : folder));
    models.push_back(
        {.name = names.front(), .path = of_hub ? folder : path, .aliases = {std::next(names.begin()), names.end()}});
    if (folder.starts_with("builtin:")) program::note_limits(folder, options.verb);
  }
  if (options.models.empty()) {
    for (const FoundModel& model : program::builtin_models()) {
      models.push_back({.name = name_of(model.name), .path = model.path});
      program::note_limits(model.name, options.verb);
    }
  }
  if (models.empty())
    throw Error(ErrorCode::kUsage, "--model",
                "expected a model directory, got none, and no model is built in; give -m DIR or set DEBERTA_MODEL");
  return models;
}

// Of NAME=REQUESTS[,TOKENS], to the model with that name.
void set_limit(const std::string& value, std::vector<ServerModel>& models) {
  const auto refuse = [&](const std::string& expected) {
    throw Error(ErrorCode::kUsage, "--model-limit", fmt::format("expected {}, got {}", expected, quote_json(value)));
  };
  const size_t equals = std::min(value.find('='), value.size()),
               comma = std::min(value.find(',', equals), value.size());
  const std::string name = value.substr(0, equals);
  const auto number_at = [&](size_t begin, size_t end) {
    return begin < end ? parse_number<size_t>(std::string_view(value).substr(begin, end - begin)) : std::nullopt;
  };
  const std::optional<size_t> requests = number_at(equals + 1, comma), tokens = number_at(comma + 1, value.size());
  if (!requests || (comma < value.size() && !tokens)) refuse("NAME=REQUESTS[,TOKENS]");
  const auto model = std::ranges::find_if(models, [&](const ServerModel& one) {
    return one.name == name || std::ranges::find(one.aliases, name) != one.aliases.end();
  });
  if (model == models.end()) refuse("the name of a model that is served");
  if (model->max_requests) refuse("one limit for each model");
  model->max_requests = requests;
  model->max_queue_tokens = tokens;
}

// "0660"
std::optional<uint32_t> mode_of(const std::string& text) {
  if (text.empty()) return std::nullopt;
  uint32_t mode = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), mode, 8);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size() || mode > 0777)
    throw Error(ErrorCode::kUsage, "--uds-mode",
                fmt::format("expected octal digits up to 0777, got {}", quote_json(text)));
  return mode;
}

// A socket replaces the address, even one that was set.
void note_unused_address(const ServeVerb& options) {
  if (options.uds.empty()) return;
  if (options.host.is_given() || options.port.is_given())
    program::note(
        fmt::format("note: --host and --port are ignored, since the server listens only at {} (--uds)", options.uds));
}

ServerLimits limits_of(const ServeVerb& options) {
  return {.max_concurrent_requests = options.max_concurrent_requests,
          .max_client_batch = options.max_client_batch,
          .max_batch_items = options.max_batch_items,
          .max_body = options.max_body,
          .max_answer = options.max_answer,
          .max_client_bytes = options.max_client_bytes,
          .memory_limit = options.memory_limit,
          .max_connections = options.max_connections,
          .max_connections_per_address = options.max_connections_per_address,
          .deadline_ms = options.deadline_ms,
          .rate_limit = options.rate_limit,
          .http_threads = options.http_threads,
          .tokenization_workers = options.tokenization_workers};
}

ModelOptions model_options(const ServeVerb& options) {
  ModelOptions model = program::compat_options(options.compat);
  model.precision = program::precision_of(options.dtype);
  model.allows_uncalibrated = options.allow_uncalibrated;
  model.threads = options.threads;
  model.device = options.device;
  model.kernels = options.kernels;
  return model;
}

ServerSettings settings_of(const ServeVerb& options) {
  ServerSettings settings;
  settings.uds_mode = mode_of(options.uds_mode);
  settings.models = models_of(options);
  for (const std::string& limit : options.model_limits) set_limit(limit, settings.models);
  settings.default_model = options.default_model;
  settings.places = find_places(current_environment());
  settings.model = model_options(options);
  settings.open = {.reads_whole = options.load == LoadWeights::kRead, .checks_crc = !options.no_crc};
  settings.host = options.host.value;
  settings.port = options.port.value;
  settings.uds = options.uds;
  if (options.metrics_port.value) settings.metrics_port = static_cast<uint16_t>(*options.metrics_port.value);
  settings.api_key = options.api_key;
  settings.api_key_file = options.api_key_file;
  settings.has_admin = options.admin;
  if (options.explorer != ExplorerChoice::kAuto) settings.has_explorer = options.explorer == ExplorerChoice::kOn;
  settings.allowed_hosts = options.allowed_host;
  settings.allowed_origins = options.cors_allow_origin;
  settings.trusted_proxies = options.trusted_proxy;
  settings.limits = limits_of(options);
  settings.batch_tokens = options.batch_tokens.value;
  settings.max_input_length = options.max_input_length.value;
  if (options.truncate != TruncateChoice::kAuto) settings.cuts = options.truncate == TruncateChoice::kRight;
  if (options.window_scores != ServedWindows::kOff)
    settings.window_scores = options.window_scores == ServedWindows::kMax ? WindowScores::kMax : WindowScores::kMean;
  settings.benign_labels = options.benign_label;
  settings.has_strict_fields = options.strict_fields;
  settings.has_tei_metrics = options.metrics_names == MetricsNames::kTei;
  settings.trims_heap = true;
  return settings;
}

// A limit that another one makes useless is a mistake.
void check_limits(const ServeVerb& options) {
  const auto check = [](const char* name, size_t bytes, const char* most_name, size_t most) {
    if (bytes > most)
      throw Error(
          ErrorCode::kUsage, name,
          fmt::format("expected at most {}, the value of {}, got {}; raise {}", most, most_name, bytes, most_name));
  };
  check("--max-body", options.max_body, "--max-client-bytes", options.max_client_bytes);
  check("--max-client-bytes", options.max_client_bytes, "--memory-limit", options.memory_limit);
}

void note_exposure(const ServerSettings& settings) {
  if (!serve::is_open_to_others(settings)) return;
  program::note(fmt::format(
      "other machines can reach {} and no key is set, so anyone who connects can send requests; set DEBERTA_API_KEY",
      settings.host));
}

std::string time_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

// What a log without lines of requests has too.
std::string note_line(const std::string& text, LogFormat format) {
  if (format == LogFormat::kText) return text;
  return Json(JsonObject{{"time", time_now()}, {"note", text}}).dump();
}

// key=value of what is there
std::string more_of(const RequestLog& request) {
  std::string text;
  for (const auto& [name, value] :
       {std::pair("client", request.client), std::pair("key", request.key), std::pair("code", request.code),
        std::pair("field", request.field), std::pair("path", request.path), std::pair("trace", request.trace),
        std::pair("detail", request.detail)}) {
    if (!value.empty()) text += fmt::format(" {}={}", name, value);
  }
  if (request.cut_inputs > 0)
    text += fmt::format(" truncated_inputs={} truncated_tokens={}", request.cut_inputs, request.cut_tokens);
  return text;
}

std::string request_line(const RequestLog& request, LogFormat format) {
  if (format == LogFormat::kText)
    return fmt::format("{} {} {} {} {} {} items {} tokens {:.2f} ms ({:.2f} queued, {:.2f} computed) {}{}", time_now(),
                       request.status, request.method.empty() ? "-" : request.method, request.route,
                       request.model.empty() ? "-" : request.model, request.items, request.tokens, request.total_ms,
                       request.queue_ms, request.inference_ms, request.id, more_of(request));
  JsonObject line{{"time", time_now()},
                  {"id", request.id},
                  {"method", request.method},
                  {"route", request.route},
                  {"client", request.client},
                  {"key", request.key},
                  {"traceparent", request.trace},
                  {"model", request.model},
                  {"status", request.status},
                  {"items", uint64_t{request.items}},
                  {"tokens", uint64_t{request.tokens}},
                  {"queue_ms", request.queue_ms},
                  {"inference_ms", request.inference_ms},
                  {"total_ms", request.total_ms}};
  for (const auto& [name, value] : {std::pair("code", request.code), std::pair("field", request.field),
                                    std::pair("path", request.path), std::pair("detail", request.detail)}) {
    if (!value.empty()) line.emplace_back(name, value);
  }
  if (request.cut_inputs > 0) {
    line.emplace_back("truncated_inputs", uint64_t{request.cut_inputs});
    line.emplace_back("truncated_tokens", uint64_t{request.cut_tokens});
  }
  return Json(line).dump();
}

// The log of a server: its requests, and whatever else it reports from its start on. Writing never waits for a reader.
class ServerLog {
 public:
  explicit ServerLog(const ServeVerb& options)
      : format_(options.log_format), writer_(options.log_file, [format = options.log_format](size_t count) {
          return note_line(fmt::format("{} lines of the log were dropped, since its buffer was full", count), format);
        }) {
    set_warning_sink(
        [](void* self, std::string_view message) {
          static_cast<ServerLog*>(self)->note(fmt::format("warning: {}", message));
        },
        this);
  }
  ~ServerLog() { set_warning_sink(nullptr); }
  ServerLog(const ServerLog&) = delete;
  ServerLog& operator=(const ServerLog&) = delete;

  void note(const std::string& text) { add(note_line(text, format_)); }
  void request(const RequestLog& line) { add(request_line(line, format_)); }
  void reopen() { writer_.reopen(); }
  size_t dropped() const { return writer_.dropped(); }

 private:
  void add(const std::string& line) {
    if (!program::is_quiet()) writer_.add(line);
  }
  const LogFormat format_;
  LogWriter writer_;
};

// What the server reports, as lines of the log.
void report_to(ServerLog& log, ServerSettings& settings) {
  settings.context = &log;
  settings.log = [](void* self, const RequestLog& request) { static_cast<ServerLog*>(self)->request(request); };
  settings.reloaded = [](void* self, const std::string& name, const std::string& error) {
    static_cast<ServerLog*>(self)->note(
        error.empty() ? fmt::format("reloaded the model {}", name)
                      : fmt::format("could not reload the model {}, so the old one stays in use: {}", name, error));
  };
  settings.dropped_lines = [](void* self) { return static_cast<ServerLog*>(self)->dropped(); };
}

// The file as it is now; one that cannot be read changes nothing.
void reload_keys(const ServeVerb& options, Server& server, ServerLog& log) {
  if (options.api_key_file.empty()) return;
  try {
    server.reload_keys();
    log.note("reloaded the keys");
  } catch (const Error& error) {
    log.note(
        fmt::format("could not reload the keys, so the old ones stay in use: {}: {}", error.where(), error.message()));
  }
}

std::string place_of(const ServeVerb& options, uint16_t port) {
  if (!options.uds.empty()) return options.uds;
  return fmt::format(
      "http://{}:{}",
      options.host.value.find(':') != std::string::npos ? fmt::format("[{}]", options.host.value) : options.host.value,
      port);
}

void print_place(const ServeVerb& options, const ServerSettings& settings, const Server& server) {
  std::string names;
  for (const ServerModel& model : settings.models) names += fmt::format("{}{}", names.empty() ? "" : ", ", model.name);
  std::fprintf(stdout, "%s serves %s\n", place_of(options, server.port()).c_str(), names.c_str());
  std::fflush(stdout);
}

// Connections need descriptors; a refused one does too until its refusal has been sent.
void allow_descriptors(size_t connections) {
  constexpr size_t kOthers = 1024;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const rlim_t wanted = std::min<rlim_t>(limit.rlim_max, connections + kOthers);
  if (limit.rlim_cur >= wanted) return;
  limit.rlim_cur = wanted;
  ::setrlimit(RLIMIT_NOFILE, &limit);  // without them connections wait to be accepted
}

// Returns what requests and reloads free to the system. By default glibc keeps it in an arena for each thread, and in
// blocks that grow with the largest that was ever freed: a server then holds three times what it uses.
void keep_memory_small() {
#ifdef __GLIBC__
  ::mallopt(M_ARENA_MAX, 2);
  ::mallopt(M_MMAP_THRESHOLD, 128 << 10);
#endif
}

}  // namespace

int run(const ServeVerb& options) {
  if (options.openapi) {
    program::print(serve::openapi::document().dump(2) + "\n");
    return 0;
  }
  keep_memory_small();
  check_limits(options);
  ServerSettings settings = settings_of(options);
  ServerLog log(options);
  report_to(log, settings);
  Server server(settings);
  note_unused_address(options);
  note_exposure(settings);
  allow_descriptors(options.max_connections);
  program::watch_signal(SIGHUP);
  program::watch_signal(SIGUSR1);
  server.start();
  print_place(options, settings, server);
  if (server.metrics_port() != 0)
    log.note(fmt::format("metrics are at {}/metrics", place_of(options, server.metrics_port())));
  while (program::interrupted() == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (program::take_watched_signal(SIGUSR1)) log.reopen();
    if (!program::take_watched_signal(SIGHUP)) continue;
    reload_keys(options, server, log);
    server.reload_models();
  }
  server.leave();
  if (options.drain_grace_s > 0) {
    log.note(fmt::format("no longer ready; new requests are accepted for another {} s", options.drain_grace_s));
    std::this_thread::sleep_for(std::chrono::duration<double>(options.drain_grace_s));
  }
  log.note("no longer accepting requests; waiting for those that are running");
  server.drain(options.drain_s);
  program::answer_interrupt();
  return 0;
}

}  // namespace deberta::cli
