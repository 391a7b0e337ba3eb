// The fused attention on a card. First whether it is right: every variant against the equation in double, computed on
// the card; twice the same bits; the same bits alone as in a pack. Then how long it takes: base shape, 12 heads of 64,
// buckets 256 of 512, both terms, bf16, 16,384 tokens a call, three sets of random inputs in turn.
//
//   attention_bench [--rounds N] [--tokens N] [LENGTHS.txt]
//
// One JSON object a line: checks with the largest error of an output (bits: 1 where they are the same), times with
// name, ms (median), p10 and p90. Ends with 1 when a check fails.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "kernels/cuda/attention.h"
#include "kernels/cuda/attention_plan.h"
#include "kernels/rel_lut.h"

namespace deberta::cuda {
namespace {

constexpr int kHeads = 12, kSize = 64, kRows = 512, kSets = 3;
constexpr double kFold = 0.07216878364870322 * 1.4426950408889634;  // log2(e) / sqrt(3 * 64)
// Outputs are means of normal numbers, up to 3; bf16 keeps 8 bits, probabilities are rounded as well.
constexpr double kLargestError = 0.02;

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "attention_bench: %s: expected success, got %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

// Memory of the card, freed at the end.
template <class T>
class OnCard {
 public:
  explicit OnCard(const std::vector<T>& host) : count_(host.size()) {
    check(cudaMalloc(&data_, std::max<size_t>(1, count_ * sizeof(T))), "memory");
    check(cudaMemcpy(data_, host.data(), count_ * sizeof(T), cudaMemcpyHostToDevice), "a copy to the card");
  }
  OnCard(const OnCard&) = delete;
  OnCard& operator=(const OnCard&) = delete;
  OnCard(OnCard&& other) noexcept : data_(std::exchange(other.data_, nullptr)), count_(other.count_) {}
  ~OnCard() { cudaFree(data_); }

  T* get() const { return static_cast<T*>(data_); }
  std::vector<T> read() const {
    std::vector<T> host(count_);
    check(cudaMemcpy(host.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost), "a copy from the card");
    return host;
  }
  void fill(int byte) const { check(cudaMemset(data_, byte, count_ * sizeof(T)), "a fill"); }

 private:
  void* data_ = nullptr;
  size_t count_ = 0;
};

std::vector<uint16_t> normals(size_t count, unsigned seed, double factor, bool is_half) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<uint16_t> bits(count);
  for (uint16_t& x : bits) {
    const float value = normal(generator) * static_cast<float>(factor);
    x = is_half ? __half_as_ushort(__float2half(value)) : __bfloat16_as_ushort(__float2bfloat16(value));
  }
  return bits;
}

// q, k, v and both tables.
struct Inputs {
  Inputs(int tokens, unsigned seed, bool is_half)
      : q(normals(size_t(tokens) * kHeads * kSize, seed + 1, kFold, is_half)),
        k(normals(size_t(tokens) * kHeads * kSize, seed + 2, 1, is_half)),
        v(normals(size_t(tokens) * kHeads * kSize, seed + 3, 1, is_half)),
        kr(normals(size_t(kRows) * kHeads * kSize, seed + 4, 1, is_half)),
        qr(normals(size_t(kRows) * kHeads * kSize, seed + 5, kFold, is_half)) {}
  OnCard<uint16_t> q, k, v, kr, qr;
};

struct Outputs {
  explicit Outputs(int tokens)
      : out(std::vector<uint16_t>(size_t(tokens) * kHeads * kSize)), lse(std::vector<float>(size_t(tokens) * kHeads)) {}
  OnCard<uint16_t> out;
  OnCard<float> lse;
};

__device__ double number(uint16_t bits, bool is_half) {
  return is_half ? static_cast<double>(__half2float(__ushort_as_half(bits)))
                 : static_cast<double>(__bfloat162float(__ushort_as_bfloat16(bits)));
}

struct Sequences {
  const int32_t* row_of;  // [2 longest - 1]
  int32_t longest;
  const int32_t* start;  // of each token's sequence
  const int32_t* length;
};

// One token (every `step`-th) and head a block. worst: the largest difference of an output and of the log-sum-exp.
__global__ void plain_attention(AttentionArguments a, Sequences s, bool is_half, int step, unsigned long long* worst) {
  extern __shared__ double scores[];
  const int token = static_cast<int>(blockIdx.x) * step, head = static_cast<int>(blockIdx.y);
  const int start = s.start[token], n = s.length[token], i = token - start;
  const auto dot = [&](const uint16_t* x, const uint16_t* y) {
    double sum = 0;
    for (int k = 0; k < kSize; ++k) sum += number(x[k], is_half) * number(y[k], is_half);
    return sum;
  };
  const uint16_t* q = a.q + static_cast<int64_t>(token) * a.stride + head * kSize;
  for (int j = static_cast<int>(threadIdx.x); j < n; j += static_cast<int>(blockDim.x)) {
    const uint16_t* k = a.k + static_cast<int64_t>(start + j) * a.stride + head * kSize;
    const int64_t row = static_cast<int64_t>(s.row_of[i - j + s.longest - 1]) * a.table_stride + head * kSize;
    scores[j] = dot(q, k) + (a.kr != nullptr ? dot(q, a.kr + row) : 0) + (a.qr != nullptr ? dot(k, a.qr + row) : 0);
  }
  __syncthreads();
  const int d = static_cast<int>(threadIdx.x);
  if (d >= kSize) return;
  double top = -1e300, total = 0, sum = 0;
  for (int j = 0; j < n; ++j) top = fmax(top, scores[j]);
  for (int j = 0; j < n; ++j) {
    const double p = exp2(scores[j] - top);
    total += p;
    sum += p * number(a.v[static_cast<int64_t>(start + j) * a.stride + head * kSize + d], is_half);
  }
  const auto note = [&](unsigned long long* at, double difference) {
    atomicMax(
        at, static_cast<unsigned long long>(__double_as_longlong(difference == difference ? fabs(difference) : 1e30)));
  };
  note(worst, number(a.out[static_cast<int64_t>(token) * a.out_stride + head * kSize + d], is_half) - sum / total);
  note(worst + 1, static_cast<double>(a.lse[static_cast<int64_t>(head) * a.tokens + token]) - top - log2(total));
}

// One pack on the card: its plans, and what launches them.
class Pack {
 public:
  Pack(const std::vector<int32_t>& lengths, std::vector<AttentionPlan> (*plan)(const AttentionPlanParams&),
       bool has_c2p = true, bool has_p2c = true)
      : lengths_(lengths), c2p_(has_c2p), p2c_(has_p2c) {
    starts_ = {0};
    for (const int32_t n : lengths) starts_.push_back(starts_.back() + n);
    longest_ = *std::max_element(lengths.begin(), lengths.end());
    lut_.emplace(RelLutParams{256, 512, true, longest_});
    int device = 0, blocks = 0;
    check(cudaGetDevice(&device), "the card");
    check(cudaDeviceGetAttribute(&blocks, cudaDevAttrMultiProcessorCount, device), "the card");
    for (AttentionPlan& made : plan({starts_, has_c2p || has_p2c ? &*lut_ : nullptr, kHeads, blocks})) {
      rows_.emplace_back(made.row);
      items_.emplace_back(made.items);
      shares_.emplace_back(made.shares);
      plans_.push_back(std::move(made));
    }
    blocks_ = blocks;
  }

  int tokens() const { return starts_.back(); }
  int longest() const { return longest_; }

  AttentionArguments arguments(const Inputs& in, const Outputs& out) const {
    AttentionArguments a;
    a.q = in.q.get();
    a.k = in.k.get();
    a.v = in.v.get();
    a.kr = c2p_ ? in.kr.get() : nullptr;
    a.qr = p2c_ ? in.qr.get() : nullptr;
    a.out = out.out.get();
    a.lse = out.lse.get();
    a.stride = a.table_stride = a.out_stride = kHeads * kSize;
    a.tokens = tokens();
    a.heads = kHeads;
    return a;
  }

  void run(AttentionArguments a, bool is_half) const {
    for (size_t i = 0; i < plans_.size(); ++i) {
      plans_[i].describe(a);
      a.row = rows_[i].get();
      a.items = items_[i].get();
      a.shares = shares_[i].get();
      check(launch_attention(a, {plans_[i].tile, is_half, blocks_, nullptr}), "a launch");
    }
  }

  // The largest differences of an output and of the log-sum-exp.
  std::vector<double> errors(const AttentionArguments& a, bool is_half) const {
    std::vector<int32_t> rows, start, length;
    for (int32_t t = 1 - longest_; t < longest_; ++t) rows.push_back(lut_->row(t));
    for (size_t b = 0; b < lengths_.size(); ++b) {
      start.insert(start.end(), static_cast<size_t>(lengths_[b]), starts_[b]);
      length.insert(length.end(), static_cast<size_t>(lengths_[b]), lengths_[b]);
    }
    const OnCard<int32_t> row_of(rows), starts(start), lengths(length);
    const OnCard<unsigned long long> worst(std::vector<unsigned long long>(2));
    const int step = longest_ > 1000 ? 7 : 1;
    const size_t memory = 8 * static_cast<size_t>(longest_);
    check(cudaFuncSetAttribute(plain_attention, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(memory)),
          "the reference");
    plain_attention<<<dim3(static_cast<unsigned>((tokens() - 1) / step + 1), kHeads), 128, memory>>>(
        a, {row_of.get(), longest_, starts.get(), lengths.get()}, is_half, step, worst.get());
    check(cudaDeviceSynchronize(), "the reference");
    std::vector<double> numbers;
    for (const unsigned long long bits : worst.read()) {
      double number;
      std::memcpy(&number, &bits, 8);
      numbers.push_back(number);
    }
    return numbers;
  }

 private:
  std::vector<int32_t> lengths_, starts_;
  bool c2p_, p2c_;
  int32_t longest_ = 0;
  int blocks_ = 0;
  std::optional<RelLut> lut_;
  std::vector<AttentionPlan> plans_;
  std::vector<OnCard<int32_t>> rows_, shares_;
  std::vector<OnCard<AttentionItem>> items_;
};

std::vector<AttentionPlan> as_planned(const AttentionPlanParams& params) {
  return plan_attention(params);
}
std::vector<AttentionPlan> all_wide(const AttentionPlanParams& params) {
  return {plan_attention(params, AttentionTile::kWide)};
}
std::vector<AttentionPlan> all_narrow(const AttentionPlanParams& params) {
  return {plan_attention(params, AttentionTile::kNarrow)};
}

bool report(const std::string& name, bool is_right, const std::string& figures) {
  std::printf("{\"check\": \"%s\", %s, \"ok\": %s}\n", name.c_str(), figures.c_str(), is_right ? "true" : "false");
  std::fflush(stdout);
  return is_right;
}

constexpr int kTokensOfChecks = 5016;  // the sum of the lengths

bool check_variants() {
  const std::vector<int32_t> lengths = {1,   2,   15,  16,  17,  31,  33,  63,  64,  65,
                                        127, 128, 129, 255, 257, 511, 512, 513, 777, 1500};
  bool is_right = std::accumulate(lengths.begin(), lengths.end(), 0) == kTokensOfChecks;
  for (const bool is_half : {false, true}) {
    const Inputs in(kTokensOfChecks, 100, is_half);
    for (const int terms : {3, 1, 2, 0}) {
      for (const auto plan : {all_wide, all_narrow}) {
        const Pack pack(lengths, plan, (terms & 1) != 0, (terms & 2) != 0);
        const Outputs out(kTokensOfChecks), again(kTokensOfChecks);
        out.out.fill(0xFF);
        const AttentionArguments a = pack.arguments(in, out);
        pack.run(a, is_half);
        const std::vector<double> errors = pack.errors(a, is_half);
        pack.run(pack.arguments(in, again), is_half);
        const size_t used = static_cast<size_t>(pack.tokens()) * kHeads * kSize;
        const bool is_same = std::memcmp(out.out.read().data(), again.out.read().data(), 2 * used) == 0;
        char figures[128];
        std::snprintf(figures, sizeof figures, "\"error\": %.2e, \"lse_error\": %.2e, \"bits\": %d", errors[0],
                      errors[1], is_same);
        const std::string name = std::string(is_half ? "fp16" : "bf16") + (plan == all_wide ? ", wide" : ", narrow") +
                                 (terms & 1 ? ", c2p" : "") + (terms & 2 ? ", p2c" : "");
        is_right &= report(name, errors[0] < kLargestError && errors[1] < kLargestError && is_same, figures);
      }
    }
  }
  return is_right;
}

// Each sequence alone has the bits that it has in the pack.
bool check_packs() {
  const std::vector<int32_t> lengths = {37, 150, 600, 128, 64, 1000, 5};
  const Inputs in(2000, 200, false);
  const Outputs together(2000);
  const Pack pack(lengths, as_planned);
  pack.run(pack.arguments(in, together), false);
  const std::vector<uint16_t> expected = together.out.read();
  int same = 0, start = 0;
  for (const int32_t n : lengths) {
    const Pack alone({n}, as_planned);
    const Outputs out(n);
    AttentionArguments a = alone.arguments(in, out);
    const int64_t from = static_cast<int64_t>(start) * kHeads * kSize;
    a.q += from;
    a.k += from;
    a.v += from;
    alone.run(a, false);
    same +=
        std::memcmp(out.out.read().data(), expected.data() + from, static_cast<size_t>(n) * kHeads * kSize * 2) == 0;
    start += n;
  }
  return report("alone as in a pack", same == static_cast<int>(lengths.size()),
                "\"bits\": " + std::to_string(same) + ", \"sequences\": " + std::to_string(lengths.size()));
}

void measure(const std::string& name, const Pack& pack, const std::vector<Inputs>& inputs, const Outputs& out,
             int rounds) {
  constexpr int kInner = 10;
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin), "an event");
  check(cudaEventCreate(&end), "an event");
  std::vector<float> times;
  for (int round = 0; round < rounds + 2; ++round) {
    check(cudaEventRecord(begin), "an event");
    for (size_t i = 0; i < kInner; ++i) pack.run(pack.arguments(inputs[i % kSets], out), false);
    check(cudaEventRecord(end), "an event");
    check(cudaEventSynchronize(end), name.c_str());
    float ms = 0;
    check(cudaEventElapsedTime(&ms, begin, end), "an event");
    if (round >= 2) times.push_back(ms / kInner);
  }
  std::sort(times.begin(), times.end());
  std::printf("{\"name\": \"%s\", \"n\": %d, \"tokens\": %d, \"ms\": %.4f, \"p10\": %.4f, \"p90\": %.4f}\n",
              name.c_str(), pack.longest(), pack.tokens(), times[times.size() / 2], times[times.size() / 10],
              times[times.size() * 9 / 10]);
  std::fflush(stdout);
}

int run(int argc, char** argv) {
  int rounds = 20, tokens = 16384;
  std::vector<int32_t> real;
  for (int i = 1; i < argc; ++i) {
    const bool has_value = i + 1 < argc;
    if (has_value && std::strcmp(argv[i], "--rounds") == 0) {
      rounds = std::max(0, std::atoi(argv[++i]));
    } else if (has_value && std::strcmp(argv[i], "--tokens") == 0) {
      tokens = std::max(2048, std::atoi(argv[++i]));
    } else {
      std::ifstream file(argv[i]);
      for (int32_t n = 0, total = 0; file >> n && n > 0 && total + n <= tokens; total += n) real.push_back(n);
    }
  }
  const bool is_right = check_variants() & check_packs();
  if (rounds == 0) return is_right ? 0 : 1;
  std::vector<Inputs> inputs;
  for (unsigned set = 0; set < kSets; ++set) inputs.emplace_back(tokens, 10 * set, false);
  const Outputs out(tokens);
  for (const int n : {128, 512, 2048}) {
    measure("uniform", Pack(std::vector<int32_t>(static_cast<size_t>(tokens / n), n), as_planned), inputs, out, rounds);
    measure("uniform, narrow", Pack(std::vector<int32_t>(static_cast<size_t>(tokens / n), n), all_narrow), inputs, out,
            rounds);
  }
  if (!real.empty()) {
    measure("real lengths", Pack(real, as_planned), inputs, out, rounds);
    measure("real lengths, wide", Pack(real, all_wide), inputs, out, rounds);
    measure("real lengths, narrow", Pack(real, all_narrow), inputs, out, rounds);
  }
  return is_right ? 0 : 1;
}

}  // namespace
}  // namespace deberta::cuda

int main(int argc, char** argv) {
  return deberta::cuda::run(argc, argv);
}
