// One bucket of tokens per client, refilled by the time since its last request.
#include "serve/rate_limits.h"

#include <fmt/format.h>

#include <algorithm>

#include "serve/api_error.h"

namespace deberta::serve {
namespace {

constexpr double kSeconds = 10;          // a bucket holds the rate times this
constexpr size_t kMostClients = 100000;  // remembered at most

}  // namespace

void RateLimits::take(const std::string& client, size_t tokens, int64_t now) {
  if (rate_ == 0) return;
  const std::lock_guard lock(mutex_);
  if (buckets_.size() > kMostClients) buckets_.clear();
  Bucket& bucket = buckets_.try_emplace(client, Bucket{kSeconds * rate_, now}).first->second;
  bucket.level = std::min(kSeconds * rate_, bucket.level + rate_ * static_cast<double>(now - bucket.time) * 1e-6);
  bucket.time = now;
  if (bucket.level <= 0) {
    ApiError error(ApiCode::kOverloaded, fmt::format("more than {} tokens a second", rate_));
    error.retry_after_s = 1 + static_cast<int64_t>(-bucket.level / rate_);
    throw error;
  }
  bucket.level -= static_cast<double>(tokens);
}

}  // namespace deberta::serve
