// A name to which no step has added is no error: there may have been nothing to add.
#include "train/run/sums.h"

namespace deberta::train {

double sum_of(const Sums& sums, const std::string& name) {
  const auto sum = sums.find(name);
  return sum == sums.end() ? 0 : sum->second;
}

double ratio_of(const Sums& sums, const std::string& part, const std::string& whole) {
  const double divisor = sum_of(sums, whole);
  return divisor == 0 ? 0 : sum_of(sums, part) / divisor;
}

}  // namespace deberta::train
