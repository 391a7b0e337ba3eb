// Time of attention for one head of one sequence, by implementation, precision, length and terms:
//   attention_bench [--benchmark_...]
// GFLOP/s counts Q K^T and P V alone (4 L L K), with and without the relative terms, so that their cost shows; of_gemm
// is the share of the fma peak of the same core, measured first. One thread, processor time: compare rows of one run.
#include <benchmark/benchmark.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/arena.h"
#include "kernels/attention.h"
#include "kernels/bf16.h"
#include "kernels/gemm.h"

namespace {

using namespace deberta;

constexpr size_t kHeadSize = 64, kRows = 512;

double seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// fp32 GFLOP/s of a product whose operands stay in the caches.
double measure_gemm() {
  constexpr size_t kM = 96, kColumns = 256, kDepth = 768;
  const KernelSet kernels = select_kernels("auto");
  const std::vector<float> a(kM * kDepth, 0.5f), w(kColumns * kDepth, 0.5f);
  std::vector<float> c(kM * kColumns);
  const WeightSource source{w.data(), kColumns, kDepth};
  const size_t size_bytes = gemm_packed_bytes(kernels, Precision::kFp32, source);
  Arena panels;
  panels.reserve(Arena::bytes_for<std::byte>(size_bytes));
  GemmParams p{};
  p.weights = gemm_pack(kernels, Precision::kFp32, source, panels.take<std::byte>(size_bytes), serial());
  p.a_MK = a.data();
  p.rows = kM;
  p.c_MN = c.data();
  double best = 1e9;
  for (int repeat = 0; repeat < 500; ++repeat) {
    const double start = seconds();
    gemm(kernels, p);
    best = std::min(best, seconds() - start);
  }
  return 2e-9 * kM * kColumns * kDepth / best;
}

std::vector<float> numbers(size_t count) {
  std::vector<float> x(count);
  uint32_t state = 1;
  for (float& value : x) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<float>(state >> 8) / 16777216.0f - 0.5f;
  }
  return x;
}

// Room for `count` numbers of the precision, with the same values in each.
std::vector<float> operand(Precision precision, size_t count) {
  const std::vector<float> values = numbers(count);
  if (precision == Precision::kFp32) return values;
  std::vector<float> room(count);
  auto* out = reinterpret_cast<Bf16*>(room.data());
  std::transform(values.begin(), values.end(), out, to_bf16);
  return room;
}

void attention_head(benchmark::State& state, KernelLevel level, Precision precision, bool has_terms, double gemm_rate) {
  const KernelSet kernels = select_kernels(to_string(level));
  const auto length = static_cast<size_t>(state.range(0));
  const std::vector<float> q = operand(precision, length * kHeadSize), table = numbers(kRows * kHeadSize);
  std::vector<float> out(length * kHeadSize);
  const int32_t starts[] = {0, static_cast<int32_t>(length)};
  const RelLut lut({256, 512, true, state.range(0)});
  AttentionParams p{};
  p.precision = precision;
  p.q = p.k = p.v = {q.data(), kHeadSize, 0};
  p.out = {out.data(), kHeadSize, 0};
  p.starts = starts;
  p.sequences = p.heads = 1;
  p.head_size = kHeadSize;
  p.scale = 1 / std::sqrt(3.0 * kHeadSize);
  p.lut = &lut;
  p.has_c2p = p.has_p2c = has_terms;
  RelativeTableParams shape{precision, 1, kHeadSize, kRows, true};
  Arena arena;
  const size_t table_bytes = Arena::bytes_for<std::byte>(attention_table_bytes(kernels, shape));
  arena.reserve(2 * table_bytes + Arena::bytes_for<std::byte>(attention_scratch_bytes(kernels, p)));
  p.kr = attention_pack_table(kernels, shape, table.data(), arena.take<std::byte>(table_bytes));
  shape.is_reversed = false;
  p.qr = attention_pack_table(kernels, shape, table.data(), arena.take<std::byte>(table_bytes));
  p.scratch = arena.take<std::byte>(attention_scratch_bytes(kernels, p));
  double best = 1e9;
  for (auto _ : state) {
    const double start = seconds();
    attention(kernels, p);
    best = std::min(best, seconds() - start);
  }
  const double rate = 4e-9 * static_cast<double>(length * length * kHeadSize) / best;
  state.counters["best_us"] = 1e6 * best;
  state.counters["gflops"] = rate;
  state.counters["of_gemm"] = rate / gemm_rate;
}

void add_cases(double gemm_rate) {
  for (const Precision precision : {Precision::kFp32, Precision::kBf16}) {
    for (const KernelLevel level : available_levels()) {
      const bool is_own = select_kernels(to_string(level)).level_of(Operation::kAttention, precision) == level;
      if (!is_own || level == KernelLevel::kReference) continue;
      for (const bool has_terms : {false, true}) {
        const std::string name = std::string(to_string(precision)) + "/" + std::string(to_string(level)) +
                                 (has_terms ? "/relative" : "/plain");
        benchmark::RegisterBenchmark(name.c_str(), attention_head, level, precision, has_terms, gemm_rate)
            ->Arg(32)
            ->Arg(128)
            ->Arg(512)
            ->Arg(2048)
            ->Unit(benchmark::kMicrosecond);
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  const double gemm_rate = measure_gemm();
  benchmark::AddCustomContext("fp32_gemm_gflops", std::to_string(gemm_rate));
  add_cases(gemm_rate);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
