// Options under the heading Limits: the limits of requests and clients of the server.
#include "deberta/server.h"
#include "options/table/rows.h"

namespace deberta::option_rows {
namespace {

constexpr ServerLimits kDefaults;

constexpr OptionRow kLimitsRows[] = {
    OptionRow{"max-concurrent-requests", 0, kInteger, kTyped<kDefaults.max_concurrent_requests>, "1..100000", "serve",
              "maximum number of requests that wait or run; further ones are refused (429)"},
    OptionRow{
        "model-limit", 0, kFiles, "", "NAME=REQUESTS[,TOKENS]", "serve",
        "maximum number of requests, and of their tokens, that wait or run for one model; further ones are refused "
        "(429) while other models answer; default: those of --max-concurrent-requests and 64 batches; may be "
        "repeated"},
    OptionRow{"max-client-batch", 0, kInteger, kTyped<kDefaults.max_client_batch>, "1..100000", "serve",
              "maximum number of texts, documents or candidate labels in a request"},
    OptionRow{"max-batch-items", 0, kInteger, kTyped<kDefaults.max_batch_items>, "1..100000", "serve",
              "maximum number of sequences that run together"},
    OptionRow{"max-input-length", 0, kInteger, "auto", "auto|8..8192", "serve",
              "maximum number of tokens in a text, limited by the length in the model's folder; auto: that length, up "
              "to 8192, else 512"},
    OptionRow{"max-body", 0, kSize, kTyped<kDefaults.max_body>, "1k..1G", "serve",
              "maximum size of a request's body, in bytes"},
    OptionRow{
        "max-answer", 0, kSize, kTyped<kDefaults.max_answer>, "64KiB..1GiB", "serve",
        "approximate maximum size of an answer, in bytes; a request that would get a longer one is refused (413)"},
    OptionRow{"max-client-bytes", 0, kSize, kTyped<kDefaults.max_client_bytes>, "1MiB..1024GiB", "serve",
              "maximum memory for one client's requests: bodies, the data read from them, and answers that it has not "
              "read yet; further requests are refused (429)"},
    OptionRow{"memory-limit", 0, kSize, kTyped<kDefaults.memory_limit>, "1MiB..1024GiB", "serve",
              "maximum memory for the requests of all clients together, in addition to the models"},
    OptionRow{"max-connections", 0, kInteger, kTyped<kDefaults.max_connections>, "1..100000", "serve",
              "maximum number of open connections"},
    OptionRow{"max-connections-per-address", 0, kInteger, kTyped<kDefaults.max_connections_per_address>, "1..100000",
              "serve",
              "maximum number of open connections of one client; behind a trusted proxy, of its concurrent requests"},
    OptionRow{"deadline-ms", 0, kInteger, kTyped<kDefaults.deadline_ms>, "1..3600000", "serve",
              "milliseconds after which a request without an answer is abandoned (504); X-Deadline-Ms can lower it"},
    OptionRow{"rate-limit", 0, kNumber, kTyped<static_cast<uint64_t>(kDefaults.rate_limit)>, "0..1000000000", "serve",
              "maximum tokens per second of one client, by its key or its address, with bursts of up to ten seconds' "
              "worth (429 beyond that); 0: no limit"},
    OptionRow{"drain-s", 0, kNumber, "30", "0..3600", "serve",
              "seconds after SIGTERM in which requests that have begun may finish"},
    OptionRow{"drain-grace-s", 0, kNumber, "0", "0..3600", "serve",
              "seconds after SIGTERM in which requests are still accepted while /health answers 503, so that load "
              "balancers turn elsewhere first"},
};
static_assert(are_rows(kLimitsRows));

}  // namespace

std::span<const OptionRow> limits_rows() {
  return kLimitsRows;
}

}  // namespace deberta::option_rows
