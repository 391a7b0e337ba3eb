// The settings of a server (deberta/server.h): which of them no server can have, and what they mean for its parts.
#pragma once
#include <cstddef>
#include <vector>

#include "deberta/server.h"
#include "serve/batch_queue.h"
#include "serve/http_server.h"
#include "serve/keys.h"
#include "serve/model_set.h"

namespace deberta::serve {

// Throws kUsage for models without names of their own or with limits that none can have, and for routes that need a key
// where others can reach the server.
void check_settings(const ServerSettings& settings);

// Whether no other machine can reach the server.
bool is_local(const ServerSettings& settings);
// Whether other machines can, and need no key.
bool is_open_to_others(const ServerSettings& settings);

HttpSettings http_settings(const ServerSettings& settings);
// Those of /metrics, where it has a port of its own.
HttpSettings metrics_http_settings(const ServerSettings& settings);
QueueLimits queue_limits(const ServerSettings& settings);
size_t readers_of(const ServerSettings& settings);  // threads that read texts and write answers
// Throws what find_model() throws, and kUsage for a name of one model that is the repository of another.
std::vector<ModelSource> model_sources(const ServerSettings& settings);
// Throws what Keys::add_file() throws.
Keys read_keys(const ServerSettings& settings);

}  // namespace deberta::serve
