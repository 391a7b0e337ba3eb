// What computes the passes of a Model: the engine (model.cpp), or other code in its place (model_access.h).
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "base/device_memory.h"
#include "deberta/model.h"
#include "engine/variant.h"

namespace deberta {

struct ActivationRanges;  // engine/calibration.h

class Computation {
 public:
  Computation() = default;
  Computation(const Computation&) = delete;
  Computation& operator=(const Computation&) = delete;
  virtual ~Computation() = default;

  // The batch and the options have passed their checks; the result is empty. `ranges`: forward_with_ranges(), or null.
  // One call at a time.
  virtual void forward(const Batch& batch, const ForwardOptions& options, ActivationRanges* ranges,
                       ForwardResult& result) = 0;
  virtual uint64_t memory_bytes() const { return 0; }
  virtual std::string check_report() const { return {}; }
};

}  // namespace deberta
