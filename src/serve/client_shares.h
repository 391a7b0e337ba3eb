// What clients have in the server: bytes of bodies, of what was read from them, and of answers that they have not taken
// yet. No client gets more than its limit, and all together no more than theirs.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "deberta/server.h"

namespace deberta::serve {

struct ShareLimits {
  size_t client_bytes = ServerLimits{}.max_client_bytes;
  size_t all_bytes = ServerLimits{}.memory_limit;
  size_t forwarded_requests =
      ServerLimits{}.max_connections_per_address;  // at a time, for one address whose requests proxies forward
};

class ClientShare;

// Outlives its shares.
class ClientShares {
 public:
  explicit ClientShares(const ShareLimits& limits) : limits_(limits) {}
  ClientShares(const ClientShares&) = delete;
  ClientShares& operator=(const ClientShares&) = delete;

  // The share of a new request. `forwarded`: the address that a proxy brings it for; empty: none does. Throws as
  // resize(), and kTooManyConnections for one more than forwarded_requests.
  std::shared_ptr<ClientShare> take(const std::string& client, const std::string& forwarded, size_t bytes);

  size_t bytes() const;       // of all clients
  uint64_t returned() const;  // bytes returned so far

 private:
  friend class ClientShare;
  struct Client {
    size_t bytes = 0, requests = 0;
  };

  const ShareLimits limits_;
  mutable std::mutex mutex_;
  std::unordered_map<std::string, Client> clients_;    // clients with requests
  std::unordered_map<std::string, size_t> forwarded_;  // requests of addresses that have any
  size_t bytes_ = 0;
  uint64_t returned_ = 0;
};

// What one request has, until it ends.
class ClientShare {
 public:
  ~ClientShare();
  ClientShare(const ClientShare&) = delete;
  ClientShare& operator=(const ClientShare&) = delete;
  // Changes the request's share to `bytes`. Throws kTooLarge where there is never room for them, kOverloaded where
  // there is none now; the share then stays as it was.
  void resize(size_t bytes);

 private:
  friend class ClientShares;
  void set(size_t bytes, ClientShares::Client& client);
  ClientShare(ClientShares& shares, std::string client, std::string forwarded)
      : shares_(shares), client_(std::move(client)), forwarded_(std::move(forwarded)) {}

  ClientShares& shares_;
  const std::string client_, forwarded_;
  size_t bytes_ = 0;  // under the lock of all
};

}  // namespace deberta::serve
