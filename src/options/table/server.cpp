// Options under the heading Server: where the server listens, and who may command it.
#include "options/table/rows.h"

namespace deberta::option_rows {
namespace {

constexpr OptionRow kServerRows[] = {
    OptionRow{"host", 0, kText, "127.0.0.1", "ADDRESS", "serve", "Server", "address to listen on, or localhost"},
    OptionRow{"port", 0, kInteger, "8080", "0..65535", "serve", "Server",
              "port to listen on; 0: any free one, which is printed"},
    OptionRow{"uds", 0, kText, "", "PATH", "serve", "Server",
              "listen on this Unix socket instead; one that a killed server left is taken over"},
    OptionRow{"uds-mode", 0, kText, "", "MODE", "serve", "Server",
              "permissions of the Unix socket, such as 0660; without it, what the umask leaves"},
    OptionRow{"api-key", 0, kText, "", "KEY", "serve", "Server",
              "requests must have this key (Authorization: Bearer KEY), except /health and /ping; better set as "
              "DEBERTA_API_KEY, which other users do not see"},
    OptionRow{
        "api-key-file", 0, kText, "", "FILE", "serve", "Server",
        "keys, a line each: name:scopes:sha256, with the scopes infer, priority, metrics, explain and admin separated "
        "by commas, and the SHA-256 of the key in hexadecimal digits"},
    OptionRow{
        "admin", 0, kFlag, "", "", "serve", "Server",
        "routes that load, unload and reload models (/admin/...); at an address that others reach they need a key"},
    OptionRow{
        "explorer", 0, kChoice, "auto", "auto|on|off", "serve", "Server",
        "the page /explorer and what it asks for; auto: at an address that only this machine reaches; elsewhere it "
        "needs a key"},
    OptionRow{"strict-fields", 0, kFlag, "", "", "serve", "Server",
              "refuse requests with fields that no route knows (422), instead of naming them in X-Ignored-Fields"},
    OptionRow{"openapi", 0, kFlag, "", "", "serve", "Server",
              "print the OpenAPI document of the routes, and exit; a running server has it at /openapi.json"},
    OptionRow{"metrics-names", 0, kChoice, "deberta", "deberta|tei", "serve", "Server",
              "names in /metrics; tei: those of text-embeddings-inference as well (te_request_count, ...)"},
    OptionRow{"metrics-port", 0, kInteger, "auto", "auto|0..65535", "serve", "Server",
              "port of the same address that alone has /metrics, without a key; 0: any free one, which is printed; "
              "auto: the port of all other routes has it"},
    OptionRow{"allowed-host", 0, kFiles, "", "NAME", "serve", "Server",
              "without a key: a Host header that requests may have, beside localhost and the server's address; *: any; "
              "may be repeated"},
    OptionRow{"cors-allow-origin", 0, kFiles, "", "ORIGIN", "serve", "Server",
              "pages of this origin may ask, such as https://example.org; *: all pages; may be repeated"},
    OptionRow{
        "trusted-proxy", 0, kFiles, "", "ADDRESS", "serve", "Server",
        "believe the X-Forwarded-For of a proxy at this address; whoever reaches a Unix socket is believed; may be "
        "repeated"},
    OptionRow{"http-threads", 0, kInteger, "2", "1..64", "serve", "Server",
              "threads that read and write; none computes"},
    OptionRow{"tokenization-workers", 0, kInteger, "0", "0..64", "serve", "Server",
              "threads that read texts and write answers; 0: half of the processors"},
};
static_assert(are_rows(kServerRows, "Server"));

}  // namespace

std::span<const OptionRow> server_rows() {
  return kServerRows;
}

}  // namespace deberta::option_rows
