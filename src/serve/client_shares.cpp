// Counts bytes and requests per client under one mutex; a share returns its own when it is destroyed.
#include "serve/client_shares.h"

#include <fmt/format.h>

#include <algorithm>

#include "serve/api_error.h"

namespace deberta::serve {

std::shared_ptr<ClientShare> ClientShares::take(const std::string& client, const std::string& forwarded, size_t bytes) {
  const std::shared_ptr<ClientShare> share(new ClientShare(*this, client, forwarded));
  {
    const std::lock_guard lock(mutex_);
    ++clients_[client].requests;
    if (!forwarded.empty() && ++forwarded_[forwarded] > limits_.forwarded_requests)  // `share` takes it back
      throw ApiError(ApiCode::kTooManyConnections, "too many requests from this address at once");
  }
  share->resize(bytes);
  return share;
}

void ClientShare::resize(size_t bytes) {
  const ShareLimits& limits = shares_.limits_;
  if (bytes > std::min(limits.client_bytes, limits.all_bytes))
    throw ApiError(ApiCode::kTooLarge,
                   fmt::format("expected a request that takes at most {} bytes of memory, got one of about {}",
                               std::min(limits.client_bytes, limits.all_bytes), bytes));
  const std::lock_guard lock(shares_.mutex_);
  ClientShares::Client& client = shares_.clients_.at(client_);
  if (bytes > bytes_ && client.bytes - bytes_ + bytes > limits.client_bytes)
    throw ApiError(ApiCode::kOverloaded, fmt::format("this client's other requests, and answers that it has not read, "
                                                     "already use {} bytes of memory; its limit is {}",
                                                     client.bytes - bytes_, limits.client_bytes));
  if (bytes > bytes_ && shares_.bytes_ - bytes_ + bytes > limits.all_bytes)
    throw ApiError(ApiCode::kOverloaded, "the requests in progress already use all the memory that requests may use");
  set(bytes, client);
}

void ClientShare::set(size_t bytes, ClientShares::Client& client) {
  if (bytes < bytes_) shares_.returned_ += bytes_ - bytes;
  client.bytes += bytes - bytes_;
  shares_.bytes_ += bytes - bytes_;
  bytes_ = bytes;
}

ClientShare::~ClientShare() {
  const std::lock_guard lock(shares_.mutex_);
  const auto entry = shares_.clients_.find(client_);
  ClientShares::Client& client = entry->second;
  set(0, client);
  if (--client.requests == 0) shares_.clients_.erase(entry);
  if (forwarded_.empty()) return;
  const auto address = shares_.forwarded_.find(forwarded_);
  if (--address->second == 0) shares_.forwarded_.erase(address);
}

size_t ClientShares::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

uint64_t ClientShares::returned() const {
  const std::lock_guard lock(mutex_);
  return returned_;
}

}  // namespace deberta::serve
