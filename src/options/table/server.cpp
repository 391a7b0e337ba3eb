// Options under the heading Server: where the server listens, and who may use it.
#include "deberta/server.h"
#include "options/table/rows.h"

namespace deberta::option_rows {
namespace {

constexpr OptionRow kServerRows[] = {
    OptionRow{"default-model", 0, kText, "", "NAME", "serve",
              "model that requests get which name none; default: the only model, and where there are several, such "
              "requests are refused (404)"},
    OptionRow{"host", 0, kText, ServerSettings::kDefaultHost, "ADDRESS", "serve", "address to listen on, or localhost"},
    OptionRow{"port", 0, kInteger, kTyped<ServerSettings::kDefaultPort>, "0..65535", "serve",
              "port to listen on; 0: any free one, which is printed"},
    OptionRow{"uds", 0, kText, "", "PATH", "serve",
              "listen on this Unix socket instead; a socket left by a killed server is replaced"},
    OptionRow{"uds-mode", 0, kText, "", "MODE", "serve",
              "permissions of the Unix socket, such as 0660; default: set by the umask"},
    OptionRow{"api-key", 0, kText, "", "KEY", "serve",
              "require this key in requests (Authorization: Bearer KEY), except for /health and /ping; better set as "
              "DEBERTA_API_KEY, which other users cannot see"},
    OptionRow{"api-key-file", 0, kText, "", "FILE", "serve",
              "file with a key per line: name:scopes:sha256, with the scopes infer, priority, metrics, explain and "
              "admin separated by commas, and the SHA-256 of the key in hexadecimal digits"},
    OptionRow{"admin", 0, kFlag, "", "", "serve",
              "enable the routes that load, unload and reload models (/admin/...); where others can reach the server, "
              "they need a key"},
    OptionRow{"explorer", 0, kChoice, "auto", "auto|on|off", "serve",
              "serve the page /explorer and its data; auto: only where no other machine can reach the server; "
              "elsewhere it needs a key"},
    OptionRow{"strict-fields", 0, kFlag, "", "", "serve",
              "refuse requests with unknown fields (422) instead of naming the fields in X-Ignored-Fields"},
    OptionRow{"openapi", 0, kFlag, "", "", "serve",
              "print the OpenAPI document of the routes, and exit; a running server has it at /openapi.json"},
    OptionRow{"metrics-names", 0, kChoice, "deberta", "deberta|tei", "serve",
              "names in /metrics; tei: also those of text-embeddings-inference (te_request_count, ...)"},
    OptionRow{"metrics-port", 0, kInteger, "auto", "auto|0..65535", "serve",
              "separate port for /metrics, at the same address and without a key; 0: any free one, which is printed; "
              "auto: /metrics is at the port of all other routes"},
    OptionRow{"allowed-host", 0, kFiles, "", "NAME", "serve",
              "without a key: a Host header to accept, in addition to localhost and the server's address; *: any; may "
              "be repeated"},
    OptionRow{"cors-allow-origin", 0, kFiles, "", "ORIGIN", "serve",
              "allow requests from pages of this origin, such as https://example.org; *: all pages; may be repeated"},
    OptionRow{"trusted-proxy", 0, kFiles, "", "ADDRESS", "serve",
              "trust the X-Forwarded-For of a proxy at this address; peers on a Unix socket are always trusted; may be "
              "repeated"},
    OptionRow{"http-threads", 0, kInteger, kTyped<ServerLimits{}.http_threads>, "1..64", "serve",
              "number of threads that read and write connections; they compute nothing"},
    OptionRow{"tokenization-workers", 0, kInteger, kTyped<ServerLimits{}.tokenization_workers>, "0..64", "serve",
              "number of threads that read texts and write answers; 0: half of the processors"},
};
static_assert(are_rows(kServerRows));

}  // namespace

std::span<const OptionRow> server_rows() {
  return kServerRows;
}

}  // namespace deberta::option_rows
