// What other rooms do with a Model beyond its public interface.
#pragma once
#include <cstdint>
#include <memory>

#include "base/device_memory.h"
#include "deberta/model.h"
#include "engine/computation.h"
#include "engine/variant.h"

namespace deberta {

// A model whose passes other code computes: one in training whose form the engine lacks.
Model make_model(const Variant& variant, int64_t labels, std::unique_ptr<Computation> computation);

// The engine's model of a variant whose tensors have been checked: what Model::load creates once it has found the
// variant. `memory`: that of the device it runs on; null: the host. Throws kUncalibrated, kKernels, kOutOfMemory.
Model load_engine_model(const Checkpoint& checkpoint, const Variant& variant, const ModelOptions& options,
                        std::shared_ptr<DeviceMemory> memory);

// forward(), which also widens `ranges` (engine/calibration.h) to what the linear layers read. Throws what forward()
// throws, kInput unless the model is in fp32 and the batch without masks, kUnsupported for a model in training.
void forward_with_ranges(const Model& model, const Batch& batch, const ForwardOptions& options,
                         ActivationRanges& ranges, ForwardResult& result);

}  // namespace deberta
