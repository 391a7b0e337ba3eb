// The processor alone: a card is refused in one sentence.
#include "kernels/devices.h"

#include <fmt/core.h>

#include "deberta/error.h"

namespace deberta {

std::string_view to_string(Device device) {
  switch (device) {
    case Device::kCpu:
      return "cpu";
    case Device::kCuda:
      break;
  }
  return "cuda";
}

std::shared_ptr<DeviceMemory> open_device(Device device) {
  if (device == Device::kCpu) return nullptr;
  throw Error(ErrorCode::kUnsupported,
              {{.message = fmt::format("this build has no kernels for {}", to_string(device)),
                .argument = "device",
                .remedies = {{"run on the processor with {}", "device", std::string(to_string(Device::kCpu))}}}});
}

}  // namespace deberta
