// Figures of other libraries, as JSON lines: what ours are compared with.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"

namespace deberta::measure {

class PeerFigures {
 public:
  PeerFigures() = default;
  // JSON lines with what ("latency": seq, ms_min; "train": seq, tokens_per_s; "mixed": tokens_per_s) and peer; others
  // are skipped. Throws kJson, and what reading the file throws.
  explicit PeerFigures(const std::string& path);

  // How many times as fast ours is, per peer. `value`: ms_min of a latency, tokens_per_s of a mixed run (seq 0).
  JsonObject ratios(const std::string& what, int64_t seq, double value) const;

 private:
  struct Figure {
    std::string what, peer;
    int64_t seq = 0;
    double value = 0;
  };
  std::vector<Figure> figures_;
};

}  // namespace deberta::measure
