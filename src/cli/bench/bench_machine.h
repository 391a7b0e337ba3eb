// What the machine can do, and how much work a forward pass is: what `bench` sets its figures beside.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/thread_pool.h"
#include "deberta/config.h"
#include "deberta/precision.h"
#include "kernels/choice.h"
#include "kernels/profile.h"

namespace deberta::cli {

// Measured with all threads at work, for the implementations that `kernels` chooses.
struct Machine {
  size_t threads = 1;
  double peak_fp32 = 0;  // operations a second; 0: the reference runs
  double peak_bf16 = 0;
  double peak_int8 = 0;
  double read_bytes = 0;  // a second
  Peaks peaks{};          // of every multiplier, used or not; operations a second

  double peak(Precision precision) const;
};
Machine measure_machine(const KernelSet& kernels, ThreadPool& pool);

// `machine` with the peaks of this moment that the limit of a model in `precision` depends on: what other programs take
// from the machine is missing in them, as it is in a run beside them. Takes 5 or 10 ms.
Machine at_this_moment(Machine machine, const KernelSet& kernels, ThreadPool& pool, Precision precision);

// Floating-point operations of the encoder (docs/kernels.md): a multiplication and an addition are two. Relative terms
// as windows of rows for 64 queries, projections of the relative table done at load.
struct Work {
  double linear = 0;
  double attention = 0;
  double weights = 0;  // of the linear layers: read at least once
};
Work work_of(const ModelConfig& config, std::span<const int32_t> lengths);

// Seconds below which no implementation of this work can be: linear layers at the peak of their precision, attention in
// fp32 or bf16, and no less than reading the weights takes. 0 when the reference runs.
double limit_seconds(const Machine& machine, Precision precision, const Work& work);

// "gemm up" and so on, by the shape of a linear layer; `precision` is that of the encoder's layers.
std::string operation_name(const ProfileKey& key, const ModelConfig& config, Precision precision);

// What `bench` says first: the processor, its peaks and the levels that run.
JsonObject machine_figure(const Machine& machine, const KernelSet& set, const std::string& kernels,
                          Precision precision);

// The implementations that ran in this process and how often, by their counters.
std::vector<JsonObject> kernel_calls();

// Where `measured` peaks would choose other products than `choice` does: a note for people. Else empty.
std::string other_choice(const Choice& choice, LevelSet usable, const Peaks& measured);

}  // namespace deberta::cli
