// Where a process spends its time, by operation and shape: what `deberta bench` shows. Off unless started; then each
// call of an operation costs two clock readings and a lock. Products of a model are told apart by their role.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/dispatch.h"
#include "kernels/product_role.h"

namespace deberta {

struct ProfileKey {
  Operation operation = Operation::kGemm;
  Precision precision = Precision::kFp32;
  size_t outputs = 0;                        // gemm: N; else the columns of a row
  size_t depth = 0;                          // gemm: K
  ProductRole role = ProductRole::kUnnamed;  // gemm
  bool operator==(const ProfileKey&) const = default;
};

struct ProfileEntry {
  ProfileKey key;
  uint64_t calls = 0;
  uint64_t rows = 0;
  double thread_seconds = 0;  // a call that may use W threads counts its duration W times
};

// Forgets what was measured before. Both are process-wide.
void start_profile();
std::vector<ProfileEntry> stop_profile();

// The size of one call.
struct ProfileWork {
  size_t rows = 0;
  size_t workers = 0;
};

// Measures from its construction to its end, when the profile is on.
class ProfileTimer {
 public:
  ProfileTimer(const ProfileKey& key, const ProfileWork& work);
  ~ProfileTimer();
  ProfileTimer(const ProfileTimer&) = delete;
  ProfileTimer& operator=(const ProfileTimer&) = delete;

 private:
  ProfileKey key_;
  ProfileWork work_;  // without workers: off
  std::chrono::steady_clock::time_point begin_;
};

}  // namespace deberta
