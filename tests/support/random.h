// Reproducible numbers for tests: a pure function of a seed and an index.
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numbers>
#include <vector>

#include "base/philox.h"

namespace deberta::test {

// Uniform in (0, 1).
inline double uniform_at(uint64_t seed, uint64_t index) {
  const PhiloxCounter words = philox({static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32), 0, 0},
                                     {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
  return (words[0] + 0.5) / 4294967296.0;
}

// Normal, mean 0, standard deviation 1 (Box and Muller).
inline double normal_at(uint64_t seed, uint64_t index) {
  return std::sqrt(-2 * std::log(uniform_at(seed, 2 * index))) *
         std::cos(2 * std::numbers::pi * uniform_at(seed, 2 * index + 1));
}

// The first numbers of a seed are the same whatever the count, and many cases begin with them, so they are cached.
inline std::vector<float> normals(uint64_t seed, size_t count, double deviation = 1, double mean = 0) {
  static thread_local std::map<uint64_t, std::vector<double>> kept;
  std::vector<double>& known = kept[seed];
  while (known.size() < count) known.push_back(normal_at(seed, known.size()));
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<float>(mean + deviation * known[i]);
  return values;
}

}  // namespace deberta::test
