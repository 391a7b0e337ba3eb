// Options under the heading Limits: what the server gives each client.
#include "options/table/rows.h"

namespace deberta::option_rows {
namespace {

constexpr OptionRow kLimitsRows[] = {
    OptionRow{"max-concurrent-requests", 0, kInteger, "512", "1..100000", "serve", "Limits",
              "requests that wait or run; further ones are refused (429)"},
    OptionRow{"max-client-batch", 0, kInteger, "256", "1..100000", "serve", "Limits",
              "texts, documents or candidate labels of one request"},
    OptionRow{"max-batch-items", 0, kInteger, "1024", "1..100000", "serve", "Limits", "sequences that run together"},
    OptionRow{
        "max-input-length", 0, kInteger, "auto", "auto|8..8192", "serve", "Limits",
        "tokens of a text, at most as many as the model's folder says; auto: as many as it says, up to 8192, else "
        "512"},
    OptionRow{"max-body", 0, kSize, "2000000", "1k..1G", "serve", "Limits", "bytes of a request's body"},
    OptionRow{"max-answer", 0, kSize, "64MiB", "64KiB..1GiB", "serve", "Limits",
              "bytes of an answer, about; a request that would get a longer one is refused (413)"},
    OptionRow{"max-client-bytes", 0, kSize, "32MiB", "1MiB..1024GiB", "serve", "Limits",
              "memory of one client's requests: bodies, what is read from them, and answers that it has not read yet; "
              "further ones are refused (429)"},
    OptionRow{"memory-limit", 0, kSize, "1GiB", "1MiB..1024GiB", "serve", "Limits",
              "the same of all clients together, beside the models"},
    OptionRow{"max-connections", 0, kInteger, "1024", "1..100000", "serve", "Limits", "open connections"},
    OptionRow{"max-connections-per-address", 0, kInteger, "256", "1..100000", "serve", "Limits",
              "open connections of one client; behind a proxy that is trusted, its requests at once"},
    OptionRow{"deadline-ms", 0, kInteger, "30000", "1..3600000", "serve", "Limits",
              "milliseconds until a request without an answer is given up (504); X-Deadline-Ms lowers it"},
    OptionRow{
        "rate-limit", 0, kNumber, "0", "0..1000000000", "serve", "Limits",
        "tokens a second of one client, by its key or its address; ten seconds of it may come at once (429); 0: none"},
    OptionRow{"drain-s", 0, kNumber, "30", "0..3600", "serve", "Limits",
              "seconds that SIGTERM leaves to requests that have begun"},
    OptionRow{"drain-grace-s", 0, kNumber, "0", "0..3600", "serve", "Limits",
              "seconds after SIGTERM in which requests are still taken while /health says 503, so that balancers look "
              "elsewhere first"},
};
static_assert(are_rows(kLimitsRows, "Limits"));

}  // namespace

std::span<const OptionRow> limits_rows() {
  return kLimitsRows;
}

}  // namespace deberta::option_rows
