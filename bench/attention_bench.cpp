// Time of attention for one head of one sequence, by implementation, precision, length and terms:
//   attention_bench [--benchmark_...]
// GFLOP/s counts only Q K^T and P V (4 L L K), backward their gradients and Q K^T again (10 L L K), with and without
// the relative terms, so that their cost shows.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/arena.h"
#include "best_rate.h"
#include "kernels/attention.h"
#include "kernels/attention_backward.h"
#include "kernels/bf16.h"
#include "kernels/choice.h"

namespace {

using namespace deberta;
using test::Implementation;

constexpr size_t kHeadSize = 64, kRows = 512;

std::vector<float> numbers(size_t count) {
  std::vector<float> x(count);
  uint32_t state = 1;
  for (float& value : x) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<float>(state >> 8) / 16777216.0f - 0.5f;
  }
  return x;
}

// A buffer of `count` numbers in the given precision, with the same values in each precision.
std::vector<float> operand(Precision precision, size_t count) {
  const std::vector<float> values = numbers(count);
  if (precision == Precision::kFp32) return values;
  std::vector<float> room(count);
  auto* out = reinterpret_cast<Bf16*>(room.data());
  std::transform(values.begin(), values.end(), out, to_bf16);
  return room;
}

// What is measured: the terms, their tables' packing (backward), dropout.
struct Kind {
  const char* name;
  bool has_terms = true;
  bool is_backward = false;
  double dropped = 0;
};
constexpr Kind kKinds[] = {{.name = "plain", .has_terms = false},
                           {.name = "relative"},
                           {.name = "relative_dropout", .dropped = 0.1},
                           {.name = "backward", .is_backward = true},
                           {.name = "backward_dropout", .is_backward = true, .dropped = 0.1}};

AttentionBackwardParams backward_of(const AttentionParams& forward, const HeadRows<const float>& table,
                                    const HeadRows<const float>& gradients_of_outputs,
                                    const HeadRows<float>& gradients) {
  AttentionBackwardParams p{};
  p.precision = forward.precision;
  p.q = p.k = p.v = {static_cast<const float*>(forward.q.data), kHeadSize, 0};
  p.q_bf16 = p.k_bf16 = p.v_bf16 = {static_cast<const Bf16*>(forward.q.data), kHeadSize, 0};
  p.out = p.dout = gradients_of_outputs;
  p.lse_HT = forward.lse_HT;
  p.sequences = p.heads = 1;
  p.head_size = kHeadSize;
  p.starts = forward.starts;
  p.scale = forward.scale;
  p.kr = p.qr = table;
  p.relative_rows = kRows;
  p.lut = forward.lut;
  p.dropout = forward.dropout;
  p.dq = p.dk = p.dv = p.dkr = p.dqr = gradients;  // of use to nobody
  return p;
}

void attention_head(benchmark::State& state, const Implementation& one, const Kind& kind, double peak) {
  const KernelSet kernels = one.kernels();
  const Precision precision = one.precision;
  const auto length = static_cast<size_t>(state.range(0));
  const std::vector<float> q = operand(precision, length * kHeadSize), table = numbers(kRows * kHeadSize);
  std::vector<float> out(length * kHeadSize), lse(length), gradients(std::max(length, kRows) * kHeadSize);
  const int32_t starts[] = {0, static_cast<int32_t>(length)};
  const RelLut lut({256, 512, true, state.range(0)});
  AttentionParams p{};
  p.precision = precision;
  p.q = p.k = p.v = {q.data(), kHeadSize, 0};
  p.out = {out.data(), kHeadSize, 0};
  p.lse_HT = lse.data();
  p.starts = starts;
  p.sequences = p.heads = 1;
  p.head_size = kHeadSize;
  p.scale = 1 / std::sqrt(3.0 * kHeadSize);
  p.lut = &lut;
  p.has_c2p = p.has_p2c = kind.has_terms;
  p.dropout.p = kind.dropped;
  RelativeTableParams shape{precision, 1, kHeadSize, kRows, true};
  Arena arena;
  const HeadRows<const float> rows{table.data(), kHeadSize, 0};
  const std::vector<float> douts = numbers(length * kHeadSize);
  AttentionBackwardParams backward =
      backward_of(p, rows, {douts.data(), kHeadSize, 0}, {gradients.data(), kHeadSize, 0});
  const size_t table_bytes = Arena::bytes_for<std::byte>(attention_table_bytes(kernels, shape));
  const size_t forward_bytes = attention_scratch_bytes(kernels, p);
  const size_t backward_bytes = kind.is_backward ? attention_backward_scratch_bytes(kernels, backward) : 0;
  arena.reserve(2 * table_bytes + Arena::bytes_for<std::byte>(forward_bytes) +
                Arena::bytes_for<std::byte>(backward_bytes));
  p.kr = attention_pack_table(kernels, shape, rows, arena.take<std::byte>(table_bytes));
  shape.is_reversed = false;
  p.qr = attention_pack_table(kernels, shape, rows, arena.take<std::byte>(table_bytes));
  p.scratch = arena.take<std::byte>(forward_bytes);
  backward.scratch = arena.take<std::byte>(backward_bytes);
  const double operations = (kind.is_backward ? 10.0 : 4.0) * static_cast<double>(length * length * kHeadSize);
  attention(kernels, p);
  bench::count_best(state, operations, peak,
                    [&] { kind.is_backward ? attention_backward(kernels, backward) : attention(kernels, p); });
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  for (const Implementation& one :
       test::vector_implementations(Operation::kAttention, {Precision::kFp32, Precision::kBf16})) {
    const double peak = bench::peak_of(one);
    for (const Kind& kind : kKinds) {
      if (kind.is_backward && !exists(Operation::kAttentionBackward, one.precision, one.level)) continue;
      const std::string name = one.name() + "/" + kind.name;
      benchmark::RegisterBenchmark(name.c_str(), attention_head, one, kind, peak)
          ->ArgsProduct({{32, 128, 512, 2048}})
          ->Unit(benchmark::kMicrosecond);
    }
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
