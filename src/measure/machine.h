// What the machine can do, and how much work a forward pass is: what `bench` compares its figures with.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/thread_pool.h"
#include "cost/operations.h"
#include "deberta/config.h"
#include "deberta/precision.h"
#include "kernels/choice.h"
#include "kernels/profile.h"

namespace deberta::measure {

// Measured with all threads at work, for the implementations that `kernels` chooses.
struct Machine {
  size_t threads = 1;
  double peak_fp32 = 0;  // operations per second; 0: the reference runs
  double peak_bf16 = 0;
  double peak_int8 = 0;
  double read_bytes = 0;  // per second
  Peaks peaks{};          // every multiplier, used or not; operations per second

  double peak(Precision precision) const;
};
Machine measure_machine(const KernelSet& kernels, ThreadPool& pool);

// `machine` with fresh measurements of the peaks that the limit of a model in `precision` depends on: they lack what
// other programs take from the machine, as does a run measured now. Takes 5 or 10 ms.
Machine at_this_moment(Machine machine, const KernelSet& kernels, ThreadPool& pool, Precision precision);

// What of a pass is compared with the machine: the encoder, without its head.
struct Work {
  double linear = 0;     // operations (cost/operations.h)
  double attention = 0;  // operations
  double weights = 0;    // bytes of the layers' weights: read at least once
};
Work work_of(const ModelConfig& config, const PassShape& shape);

// Lower bound, in seconds, for any implementation of this work: linear layers at the peak of their precision, attention
// in fp32 or bf16, and no less than reading the weights takes. 0 when the reference runs.
double limit_seconds(const Machine& machine, Precision precision, const Work& work);

// "attention", and of a product of the model its role: "gemm up".
std::string operation_name(const ProfileKey& key);

// What `bench` prints first: the processor, its peaks and the levels that run.
JsonObject machine_figure(const Machine& machine, const KernelSet& set, const std::string& kernels,
                          Precision precision);

// The implementations that ran in this process and how often, from their counters.
std::vector<JsonObject> kernel_calls();

// A note for the user where the `measured` peaks would choose other products than `choice` does. Else empty.
std::string other_choice(const Choice& choice, LevelSet usable, const Peaks& measured);

}  // namespace deberta::measure
