// Which device the models of tests run on: the host, or with DEBERTA_TEST_DEVICE=emulated one whose memory the host
// cannot touch (emulating_memory.h).
#pragma once
#include <memory>

#include "base/device_memory.h"
#include "deberta/model.h"

namespace deberta::test {

std::shared_ptr<DeviceMemory> test_memory();  // null: the host's

// Model::load(), on that device.
Model load_model(const Checkpoint& checkpoint, const ModelConfig& config, const ModelOptions& options = {});

}  // namespace deberta::test
