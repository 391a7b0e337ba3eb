// A count for all clients and one for each.
#include "serve/explain_places.h"

#include "serve/api_error.h"

namespace deberta::serve {
namespace {

constexpr size_t kMost = 4, kMostOfOne = 3;

}  // namespace

std::shared_ptr<const void> ExplainPlaces::take(const std::string& client) {
  count(client);
  return {this, [this, client](const void*) { give_back(client); }};
}

void ExplainPlaces::count(const std::string& client) {
  const std::lock_guard lock(mutex_);
  if (all_ >= kMost) throw ApiError(ApiCode::kOverloaded, "the server is busy explaining other texts");
  const auto own = of_clients_.find(client);
  if (own != of_clients_.end() && own->second >= kMostOfOne)
    throw ApiError(ApiCode::kOverloaded, "the server is busy explaining other texts of this client");
  ++of_clients_[client];
  ++all_;
}

void ExplainPlaces::give_back(const std::string& client) {
  const std::lock_guard lock(mutex_);
  --all_;
  const auto own = of_clients_.find(client);
  if (--own->second == 0) of_clients_.erase(own);
}

}  // namespace deberta::serve
