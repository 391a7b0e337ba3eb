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
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "base/file.h"
#include "base/json.h"
#include "base/thread_pool.h"
#include "cli/verbs.h"
#include "deberta/error.h"
#include "deberta/library.h"
#include "hub/hub_cache.h"
#include "program/builtin_model.h"
#include "program/interrupt.h"
#include "program/model_options.h"
#include "program/note.h"
#include "program/output.h"
#include "serve/http.h"
#include "serve/log_writer.h"
#include "serve/openapi/document.h"
#include "serve/server.h"

namespace deberta::cli {
namespace {

using serve::ModelSource;

// The name that requests use for a model that the command line does not name.
std::string name_of(const std::string& value) {
  constexpr std::string_view kBuiltin = "builtin:";
  if (value.starts_with(kBuiltin)) return value.substr(kBuiltin.size());
  const std::filesystem::path path(value);
  return (path.has_filename() ? path.filename() : path.parent_path().filename()).string();
}

void check_name(const std::string& name) {
  if (!serve::is_plain_name(name, 64))
    throw Error(
        ErrorCode::kUsage, "--model",
        fmt::format("expected a name of letters, digits, dots, dashes and underscores, got {}; give one: -m NAME=DIR",
                    quote_json(name)));
}

std::vector<ModelSource> sources_of(const ServeVerb& options) {
  std::vector<ModelSource> sources;
  for (const std::string& value : options.models) {
    const size_t equals = value.find('=');
    const bool has_name = equals != std::string::npos && value.find('/') > equals;
    const std::string folder = has_name ? value.substr(equals + 1) : value;
    const std::optional<HubName> of_hub = is_directory(folder) ? std::nullopt : parse_hub_name(folder);
    const std::string repository = of_hub ? of_hub->repository : "";
    sources.push_back({.name = has_name ? value.substr(0, equals) : name_of(of_hub ? repository : folder),
                       .path = program::model_root(folder),
                       .repository = repository});
    if (of_hub) sources.back().find = [folder] { return program::model_root(folder); };
    if (folder.starts_with("builtin:")) program::note_limits(folder, options.verb);
  }
  if (options.models.empty()) {
    for (const FoundModel& model : program::builtin_models()) {
      sources.push_back({.name = name_of(model.name), .path = model.path});
      program::note_limits(model.name, options.verb);
    }
  }
  if (sources.empty())
    throw Error(ErrorCode::kUsage, "--model",
                "expected a model directory, got none, and no model is built in; give -m DIR or set DEBERTA_MODEL");
  for (const ModelSource& source : sources) {
    check_name(source.name);
    if (std::count_if(sources.begin(), sources.end(), [&](const ModelSource& p) { return p.name == source.name; }) > 1)
      throw Error(ErrorCode::kUsage, "--model",
                  fmt::format("expected names that differ, got {} twice; give others: -m NAME=DIR", source.name));
  }
  return sources;
}

// "0660"
std::optional<mode_t> mode_of(const std::string& text) {
  if (text.empty()) return std::nullopt;
  unsigned mode = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), mode, 8);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size() || mode > 0777)
    throw Error(ErrorCode::kUsage, "--uds-mode",
                fmt::format("expected octal digits up to 0777, got {}", quote_json(text)));
  return static_cast<mode_t>(mode);
}

serve::Keys keys_of(const ServeVerb& options) {
  serve::Keys keys;
  if (!options.api_key.empty()) keys.add_all("api-key", options.api_key);
  if (!options.api_key_file.empty()) keys.add_file(options.api_key_file);
  return keys;
}

size_t batch_tokens_of(const ServeVerb& options) {
  constexpr size_t kPerThread = 1024, kLeast = 1024, kMost = 16384;
  const size_t threads = options.threads > 0 ? options.threads : usable_processors();
  return options.batch_tokens.value.value_or(std::clamp(kPerThread * threads, kLeast, kMost));
}

// A socket replaces the address, even one that was set.
void note_unused_address(const ServeVerb& options) {
  if (options.uds.empty()) return;
  if (options.host.is_given() || options.port.is_given())
    program::note(
        fmt::format("note: --host and --port are ignored, since the server listens only at {} (--uds)", options.uds));
}

serve::ServerSettings settings_of(const ServeVerb& options) {
  note_unused_address(options);
  serve::ServerSettings settings;
  settings.http = {.host = options.host.value,
                   .port = options.port.value,
                   .uds = options.uds,
                   .uds_mode = mode_of(options.uds_mode),
                   .threads = options.http_threads,
                   .max_body = options.max_body,
                   .max_connections = options.max_connections,
                   .max_connections_per_address = options.max_connections_per_address,
                   .trusted = options.trusted_proxy};
  settings.queue.requests = options.max_concurrent_requests;
  if (options.batch_tokens.value) settings.queue.tokens = 64 * *options.batch_tokens.value;
  settings.queue.batch_work = static_cast<double>(batch_tokens_of(options));
  settings.queue.batch_sequences = options.max_batch_items;
  settings.models = sources_of(options);
  settings.model = program::compat_options(options.compat);
  settings.model.precision = program::precision_of(options.dtype);
  settings.model.allows_uncalibrated = options.allow_uncalibrated;
  settings.model.threads = options.threads;
  settings.model.device = options.device;
  settings.model.kernels = options.kernels;
  settings.open = {.reads_whole = options.load == LoadWeights::kRead, .checks_crc = !options.no_crc};
  settings.keys = keys_of(options);
  settings.has_admin = options.admin;
  settings.has_strict_fields = options.strict_fields;
  if (options.metrics_port.value) settings.metrics_port = static_cast<uint16_t>(*options.metrics_port.value);
  settings.has_tei_metrics = options.metrics_names == MetricsNames::kTei;
  settings.browser = {.hosts = options.allowed_host, .origins = options.cors_allow_origin};
  settings.trusted_proxies = options.trusted_proxy;
  settings.rate_limit = options.rate_limit;
  settings.max_input_length = options.max_input_length.value;
  settings.max_client_batch = options.max_client_batch;
  settings.max_answer = options.max_answer;
  settings.shares = {.client_bytes = options.max_client_bytes,
                     .all_bytes = options.memory_limit,
                     .forwarded_requests = options.max_connections_per_address};
  if (options.truncate != TruncateChoice::kAuto) settings.cuts = options.truncate == TruncateChoice::kRight;
  settings.deadline_ms = options.deadline_ms;
  settings.readers =
      options.tokenization_workers > 0 ? options.tokenization_workers : std::max<size_t>(1, usable_processors() / 2);
  return settings;
}

bool is_local(const ServeVerb& options) {
  return !options.uds.empty() || options.host.value.starts_with("127.") || options.host.value == "::1" ||
         options.host.value == "localhost";
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

// Anything that other machines can reach needs a key.
void check_exposure(const ServeVerb& options, bool has_keys) {
  if (is_local(options) || has_keys) return;
  for (const auto& [name, is_given] :
       {std::pair("--admin", options.admin), std::pair("--explorer", options.explorer == ExplorerChoice::kOn)}) {
    if (is_given)
      throw Error(
          ErrorCode::kUsage, name,
          fmt::format(
              "expected a key as well, since other machines can reach {}; set DEBERTA_API_KEY or give --api-key-file",
              options.host.value));
  }
  program::note(fmt::format(
      "other machines can reach {} and no key is set, so anyone who connects can send requests; set DEBERTA_API_KEY",
      options.host.value));
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
std::string more_of(const serve::RequestLog& request) {
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

std::string request_line(const serve::RequestLog& request, LogFormat format) {
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
  void request(const serve::RequestLog& line) { add(request_line(line, format_)); }
  void reopen() { writer_.reopen(); }
  size_t dropped() const { return writer_.dropped(); }

 private:
  void add(const std::string& line) {
    if (!program::is_quiet()) writer_.add(line);
  }
  const LogFormat format_;
  serve::LogWriter writer_;
};

// The file as it is now; one that cannot be read changes nothing.
void reload_keys(const ServeVerb& options, serve::Server& server, ServerLog& log) {
  if (options.api_key_file.empty()) return;
  try {
    server.replace_keys(keys_of(options));
    log.note("reloaded the keys");
  } catch (const Error& error) {
    log.note(
        fmt::format("could not reload the keys, so the old ones stay in use: {}: {}", error.where(), error.message()));
  }
}

void reload_models(serve::Server& server, ServerLog& log) {
  server.reload_models([&log](const std::string& name, const std::string& error) {
    log.note(error.empty()
                 ? fmt::format("reloaded the model {}", name)
                 : fmt::format("could not reload the model {}, so the old one stays in use: {}", name, error));
  });
}

std::string place_of(const ServeVerb& options, uint16_t port) {
  if (!options.uds.empty()) return options.uds;
  return fmt::format(
      "http://{}:{}",
      options.host.value.find(':') != std::string::npos ? fmt::format("[{}]", options.host.value) : options.host.value,
      port);
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
  serve::ServerSettings settings = settings_of(options);
  check_exposure(options, !settings.keys.empty());
  allow_descriptors(options.max_connections);
  settings.has_explorer =
      options.explorer == ExplorerChoice::kAuto ? is_local(options) : options.explorer == ExplorerChoice::kOn;
  ServerLog log(options);
  settings.dropped_lines = [&log] { return log.dropped(); };
  serve::Server server(settings, [&log](const serve::RequestLog& request) { log.request(request); });
  program::watch_signal(SIGHUP);
  program::watch_signal(SIGUSR1);
  server.open_models();
  std::string names;
  for (const ModelSource& model : settings.models) names += fmt::format("{}{}", names.empty() ? "" : ", ", model.name);
  std::fprintf(stdout, "%s serves %s\n", place_of(options, server.port()).c_str(), names.c_str());
  std::fflush(stdout);
  if (server.metrics_port() != 0)
    log.note(fmt::format("metrics are at {}/metrics", place_of(options, server.metrics_port())));
  while (program::interrupted() == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (program::take_watched_signal(SIGUSR1)) log.reopen();
    if (!program::take_watched_signal(SIGHUP)) continue;
    reload_keys(options, server, log);
    reload_models(server, log);
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
