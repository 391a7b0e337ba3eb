// The threads and kernels that a run computes with.
#pragma once
#include <cstddef>
#include <string>

#include "base/thread_pool.h"
#include "deberta/pipeline.h"
#include "train/ops/compute.h"
#include "train/ops/packed_store.h"

namespace deberta::train {

// That in which the kernels (a name of theirs, or "auto") multiply faster on this machine. Throws what select_kernels()
// does.
Precision faster_precision(const std::string& kernels);

struct WorkplaceSettings {
  size_t threads = 0;  // 0: usable_processors()
  std::string kernels = "auto";
  Precision precision = Precision::kFp32;  // Compute
  bool recomputes_layers = false;          // Compute
};

struct Workplace {
  // ATen gets one thread: its sums then have one order. Throws what select_kernels() does.
  explicit Workplace(const WorkplaceSettings& settings);
  Workplace(const Workplace&) = delete;  // `compute` refers to `pool` and `store`
  Workplace& operator=(const Workplace&) = delete;

  // For the engine's models.
  ModelOptions model_options() const { return {.threads = pool.threads(), .kernels = kernels}; }

  ThreadPool pool;
  std::string kernels;
  PackedStore store;
  Compute compute;
};

}  // namespace deberta::train
