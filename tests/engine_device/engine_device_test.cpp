// The tests of the room engine again, which are linked to this: their models run on a device whose memory the host can
// neither read nor write while no operation runs (support/emulating_memory.h).
#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

#include "deberta/error.h"
#include "engine/engine_case.h"
#include "kernels/devices.h"
#include "kernels/row_moves.h"
#include "support/emulating_memory.h"
#include "support/expect_error.h"
#include "support/test_device.h"

namespace deberta::engine_device_test {
namespace {

[[maybe_unused]] const int kDevice = ::setenv("DEBERTA_TEST_DEVICE", "emulated", 1);

class EngineDevice : public testing::Test {
 protected:
  std::shared_ptr<test::EmulatingMemory> memory_ = std::make_shared<test::EmulatingMemory>();
};
using EngineDeviceDeath = EngineDevice;

TEST_F(EngineDeviceDeath, TheHostCannotReadWhatLiesThere) {
  const volatile std::byte* block = memory_->allocate(4096);
  EXPECT_DEATH((void)*block, "");
}

TEST_F(EngineDevice, CopiesComeBackAsTheyWere) {
  const std::vector<float> values = {1, 2, 3};
  std::vector<float> back(3);
  std::byte* block = memory_->allocate(sizeof(float) * 3);
  memory_->copy_in(block, values.data(), sizeof(float) * 3);
  memory_->copy_out(back.data(), block, sizeof(float) * 3);
  EXPECT_EQ(back, values);
}

TEST_F(EngineDevice, AnOperandOnTheHostIsRefused) {
  KernelSet kernels;
  kernels.memory = memory_;
  auto* there = reinterpret_cast<float*>(memory_->allocate(4096));
  std::vector<float> here(4);
  gather_rows(kernels, {.x = there, .rows = 1, .columns = 4, .y = there + 4});
  EXPECT_THROW(gather_rows(kernels, {.x = here.data(), .rows = 1, .columns = 4, .y = there}), Error);
}

TEST(Devices, ACardIsRefusedInOneSentence) {
  EXPECT_EQ(open_device(Device::kCpu), nullptr);
  EXPECT_ERROR(open_device(Device::kCuda), kUnsupported,
               "device: this build has no kernels for cuda; run on the processor with device=cpu");
}

TEST_F(EngineDevice, ModelsOfTheseTestsRunOnIt) {
  ASSERT_NE(test::test_memory(), nullptr);
}

}  // namespace
}  // namespace deberta::engine_device_test
