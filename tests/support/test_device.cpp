// The device that the environment names.
#include "support/test_device.h"

#include <cstdlib>

#include "engine/model_access.h"
#include "support/emulating_memory.h"

namespace deberta::test {

std::shared_ptr<DeviceMemory> test_memory() {
  if (std::getenv("DEBERTA_TEST_DEVICE") == nullptr) return nullptr;
  return std::make_shared<EmulatingMemory>();
}

Model load_model(const Checkpoint& checkpoint, const ModelConfig& config, const ModelOptions& options) {
  return load_engine_model(checkpoint, find_variant(checkpoint, config, options.mask_decoder), options, test_memory());
}

}  // namespace deberta::test
