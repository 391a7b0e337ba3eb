// The state of an optimiser in a file: the same steps follow, bit for bit.
#include "train/state/flat_tensors.h"

#include <gtest/gtest.h>

#include <cstring>

#include "state_case.h"
#include "support/expect_error.h"

namespace deberta::train::flat_tensors_test {
namespace {

using deberta::test::TemporaryFolder;

TEST(OptimizerTensors, LetARunGoOnWithTheSameBits) {
  const TemporaryFolder folder;
  const ParameterLayout layout = test::make_run_layout();
  for (const AdamOptions& options :
       {AdamOptions{}, {.has_bias_correction = true}, {.is_rectified = true, .lookahead_k = 3, .average_decay = 0.9}}) {
    FlatBuffer weights(layout), gradients(layout);
    Adam adam(layout, options, weights);
    const auto step = [&](Adam& optimizer, FlatBuffer& to, int number) {
      for (const ParameterSlot& slot : layout.slots) {
        const std::vector<float> values = deberta::test::normals(static_cast<uint64_t>(number), slot.count);
        std::copy(values.begin(), values.end(), gradients.of(slot).begin());
      }
      optimizer.step({.learning_rate = 0.1}, to, gradients);
    };
    for (int number = 0; number < 7; ++number) step(adam, weights, number);
    std::vector<TensorView> tensors = optimizer_tensors(adam, "g.");
    for (TensorView& tensor : flat_tensors(layout, weights, "w.")) tensors.push_back(tensor);
    write_safetensors(folder.path("a.safetensors"), tensors);
    const SafetensorsFile file(folder.path("a.safetensors"));
    FlatBuffer copy(layout);
    Adam other(layout, options, copy);
    load_flat_tensors(file, layout, "w.", copy);
    load_optimizer(file, "g.", other);
    EXPECT_EQ(other.state().steps, 7);
    for (int number = 7; number < 12; ++number) {
      step(adam, weights, number);
      step(other, copy, number);
    }
    EXPECT_EQ(std::memcmp(weights.data(), copy.data(), layout.size * sizeof(float)), 0);
  }
}

TEST(OptimizerTensors, RefuseAFileOfAnotherModel) {
  const TemporaryFolder folder;
  test::SmallRun run(2);
  write_safetensors(folder.path("a.safetensors"), optimizer_tensors(run.adam(), ""));
  const SafetensorsFile file(folder.path("a.safetensors"));
  const ParameterLayout layout = make_layout({{"a.weight", {3, 7}}, {"c", {1}}});
  const FlatBuffer weights(layout);
  Adam adam(layout, {}, weights);
  EXPECT_ERROR(load_optimizer(file, "", adam), kTensors,
               "a.safetensors: tensor m.a.weight: expected F32 [3, 7], got F32 [7, 3]");
  EXPECT_ERROR(load_optimizer(file, "", adam), kTensors, "tensor m.c: missing");
  EXPECT_ERROR(load_optimizer(file, "d.", adam), kTensors, "tensor d.steps: expected one I64");
  test::SmallRun slow(2, {.lookahead_k = 2});
  EXPECT_ERROR(load_optimizer(file, "", slow.adam()), kTensors, "tensor slow.a.weight: missing");
}

}  // namespace
}  // namespace deberta::train::flat_tensors_test
