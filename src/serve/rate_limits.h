// How many tokens a second each client may send: a bucket that fills at the rate and holds ten seconds of it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>

namespace deberta::serve {

class RateLimits {
 public:
  explicit RateLimits(double tokens_per_s) : rate_(tokens_per_s) {}  // 0: no limit

  // `now`: microseconds. Throws kOverloaded, with the seconds until the client may try again, while it has used up more
  // than its bucket held: the last request that found something in the bucket may be of any length.
  void take(const std::string& client, size_t tokens, int64_t now);

 private:
  struct Bucket {
    double level;
    int64_t time;
  };
  const double rate_;
  std::mutex mutex_;
  std::unordered_map<std::string, Bucket> buckets_;
};

}  // namespace deberta::serve
