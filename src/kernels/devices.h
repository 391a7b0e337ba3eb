// The devices that this build has kernels for.
#pragma once
#include <memory>

#include "base/device_memory.h"
#include "deberta/precision.h"

namespace deberta {

// The memory that operations of the device read and write; null: the host's. Throws kUnsupported.
std::shared_ptr<DeviceMemory> open_device(Device device);

}  // namespace deberta
