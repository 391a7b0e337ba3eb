// The implementations of an operation that this processor can run, from the table of implementations. Tests take them
// as parameters, benchmarks as rows.
#pragma once
#include <initializer_list>
#include <ostream>
#include <string>
#include <vector>

#include "kernels/implementations.h"

namespace deberta::test {

inline std::vector<KernelLevel> levels_of(Operation operation, Precision precision = Precision::kFp32) {
  std::vector<KernelLevel> levels = available_levels();
  std::erase_if(levels, [&](KernelLevel level) { return !exists(operation, precision, level); });
  return levels;
}

struct Implementation {
  Precision precision;
  KernelLevel level;

  KernelSet kernels() const { return select_kernels(to_string(level)); }
  std::string name() const { return std::string(to_string(precision)) + "_" + std::string(to_string(level)); }
};

inline std::ostream& operator<<(std::ostream& out, const Implementation& i) {
  return out << i.name();
}

inline std::vector<Implementation> implementations(Operation operation, std::initializer_list<Precision> precisions) {
  std::vector<Implementation> all;
  for (const Precision precision : precisions) {
    for (const KernelLevel level : levels_of(operation, precision)) all.push_back({precision, level});
  }
  return all;
}

// Those that are not the reference.
inline std::vector<Implementation> vector_implementations(Operation operation,
                                                          std::initializer_list<Precision> precisions) {
  std::vector<Implementation> all = implementations(operation, precisions);
  std::erase_if(all, [](const Implementation& i) { return i.level == KernelLevel::kReference; });
  return all;
}

// For INSTANTIATE_TEST_SUITE_P.
inline constexpr auto kNameOfImplementation = [](const auto& info) { return info.param.name(); };

}  // namespace deberta::test
