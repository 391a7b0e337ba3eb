// Normals of random words, mean 0 and deviation 1 (Box and Muller).
#pragma once
#include <array>
#include <cmath>
#include <numbers>

#include "base/philox.h"

namespace deberta::train {

inline std::array<double, 4> to_normals(const PhiloxCounter& words) {
  std::array<double, 4> normals{};
  for (size_t n = 0; n < normals.size(); n += 2) {
    const double radius = std::sqrt(-2 * std::log((words[n] + 0.5) / 4294967296.0));
    const double angle = 2 * std::numbers::pi * ((words[n + 1] + 0.5) / 4294967296.0);
    normals[n] = radius * std::cos(angle);
    normals[n + 1] = radius * std::sin(angle);
  }
  return normals;
}

}  // namespace deberta::train
