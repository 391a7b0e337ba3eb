// How many explanations may wait or run. They run one at a time, beside what is served, so there are few of them; one
// client's are fewer, so that there is room for another's.
#pragma once
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace deberta::serve {

// Outlives its places.
class ExplainPlaces {
 public:
  // One more of this client, until the result is gone. Throws kOverloaded.
  std::shared_ptr<const void> take(const std::string& client);

 private:
  void count(const std::string& client);
  void give_back(const std::string& client);

  std::mutex mutex_;
  std::map<std::string, size_t> of_clients_;  // of those that have any
  size_t all_ = 0;
};

}  // namespace deberta::serve
