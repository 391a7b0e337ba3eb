// Time of matrix products, by precision, implementation and shape, as the operands of a base model lie in memory:
//   gemm_bench [--benchmark_...]
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/arena.h"
#include "best_rate.h"
#include "kernels/gemm_case.h"

namespace {

using namespace deberta;
using test::GemmShape;
using test::Implementation;

// The values do not affect the time: 0.75 everywhere, 63 as a byte.
struct Operands {
  Arena arena;
  std::vector<float> scales;
  GemmParams params;

  Operands(const Implementation& one, const GemmShape& s) : scales(s.m, 1.0f) {
    const std::vector<float> w(s.n * s.k, 0.75f);
    const WeightSource source{w.data(), s.n, s.k};
    const size_t panel_bytes = gemm_packed_bytes(one.kernels(), one.precision, source);
    const size_t stride = spread_columns(s.k, one.precision);
    const size_t a_bytes = s.m * stride * element_bytes(one.precision);
    arena.reserve(Arena::bytes_for<std::byte>(panel_bytes) + Arena::bytes_for<std::byte>(a_bytes) +
                  Arena::bytes_for<float>(s.m * s.n));
    params.weights = gemm_pack(one.kernels(), one.precision, source, arena.take<std::byte>(panel_bytes));
    params.a_MK = std::memset(arena.take<std::byte>(a_bytes), 0x3F, a_bytes);
    params.a_scales_M = scales.data();
    params.a_stride = stride;
    params.rows = s.m;
    params.c_MN = arena.take<float>(s.m * s.n);
  }
};

// The library calls a benchmark several times in a row, so its operands are made once.
const GemmParams& params_of(const Implementation& one, const GemmShape& s, const std::string& name) {
  static std::unique_ptr<Operands> last;
  static std::string last_name;
  if (last_name != name) last = std::make_unique<Operands>(one, s);
  last_name = name;
  return last->params;
}

void add_case(const Implementation& one, const GemmShape& s, double peak) {
  const std::string name =
      one.name() + "/" + std::to_string(s.m) + "x" + std::to_string(s.n) + "x" + std::to_string(s.k);
  const auto run = [=](benchmark::State& state) {
    const KernelSet kernels = one.kernels();
    const GemmParams& p = params_of(one, s, name);
    const double operations = 2.0 * static_cast<double>(s.m * s.n * s.k);
    bench::count_best(state, operations, peak, [&] { gemm(kernels, p); });
  };
  benchmark::RegisterBenchmark(name.c_str(), run)->Unit(benchmark::kMicrosecond);
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  for (const Implementation& one :
       test::vector_implementations(Operation::kGemm, {Precision::kFp32, Precision::kBf16, Precision::kInt8})) {
    const double peak = bench::peak_of(one);
    for (const GemmShape& shape : test::model_shapes()) add_case(one, shape, peak);
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
