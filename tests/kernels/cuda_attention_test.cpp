// The fused attention for CUDA on the host (tests/support/cuda_emulator.h): the code that runs on a card, lane by lane,
// against the equation in double.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <numbers>
#include <set>
#include <string>
#include <vector>

#include "kernels/attention_case.h"
#include "kernels/attention_naive.h"
#include "kernels/cuda/attention_kernel.h"
#include "kernels/cuda/attention_plan.h"
#include "support/cuda_emulator.h"

namespace deberta::cuda_attention_test {
namespace {

using cuda::AttentionArguments;
using cuda::AttentionItem;
using cuda::AttentionMemory;
using cuda::AttentionPlan;
using cuda::AttentionTile;
using cuda::AttentionWarp;
using cuda::NarrowAttention;
using cuda::WideAttention;
using test::AttentionCase;
using test::CudaBlock;
using test::CudaMachine;

constexpr uint16_t kGuardBits = 0x4242;

// An AttentionCase in 16 bits, as the kernel takes it.
class DeviceCase {
 public:
  DeviceCase(AttentionCase& c, bool is_half) : c_(c), half_(is_half) {
    const double fold = c.scale * std::numbers::log2e;
    q_ = round(c.q, fold);
    k_ = round(c.k, 1);
    v_ = round(c.v, 1);
    kr_ = round(c.kr, 1);
    qr_ = round(c.qr, fold);
  }

  template <class Form>
  std::string run(int blocks, bool in_reverse) {
    const RelLut* lut = Form::kHasTerms ? &*c_.lut : nullptr;
    const auto tile = Form::kRowTiles == 2 ? AttentionTile::kWide : AttentionTile::kNarrow;
    const AttentionPlan plan = cuda::plan_attention({c_.starts, lut, static_cast<int32_t>(c_.heads), blocks}, tile);
    AttentionArguments a;
    plan.describe(a);
    a.q = q_.data();
    a.k = k_.data();
    a.v = v_.data();
    a.kr = kr_.data();
    a.qr = qr_.data();
    out.assign(c_.tokens() * c_.width() + 32, kGuardBits);
    lse.assign(c_.heads * c_.tokens() + 2, std::numeric_limits<float>::quiet_NaN());
    a.out = out.data() + 16;
    a.lse = lse.data() + 1;
    a.stride = a.table_stride = a.out_stride = static_cast<int32_t>(c_.width());
    a.tokens = static_cast<int32_t>(c_.tokens());
    a.heads = static_cast<int32_t>(c_.heads);
    for (int n = 0; n < blocks; ++n) {
      const int block = in_reverse ? blocks - 1 - n : n;
      CudaBlock emulated(Form::kThreads, AttentionMemory<Form>(a.rows, a.reach).size, in_reverse);
      const std::string error = emulated.run([&] { AttentionWarp<CudaMachine, Form>(a, 0).run(block); });
      if (!error.empty()) return error;
      EXPECT_EQ(emulated.bank_conflicts(), 0u);
    }
    return "";
  }

  std::vector<double> result() const {
    std::vector<double> numbers;
    for (size_t i = 16; i + 16 < out.size(); ++i)
      numbers.push_back(half_ ? test::from_half(out[i]) : from_bf16(out[i]));
    return numbers;
  }
  bool has_guards() const {
    const auto is_guard = [](uint16_t x) { return x == kGuardBits; };
    return std::all_of(out.begin(), out.begin() + 16, is_guard) && std::all_of(out.end() - 16, out.end(), is_guard) &&
           std::isnan(lse.front()) && std::isnan(lse.back());
  }

  std::vector<uint16_t> out;
  std::vector<float> lse;

 private:
  // x times `factor` in 16 bits; x becomes what those are.
  std::vector<uint16_t> round(std::vector<float>& x, double factor) const {
    std::vector<uint16_t> bits;
    for (float& value : x) {
      const auto scaled = static_cast<float>(value * factor);
      bits.push_back(half_ ? test::to_half(scaled) : to_bf16(scaled));
      value = static_cast<float>((half_ ? test::from_half(bits.back()) : from_bf16(bits.back())) / factor);
    }
    return bits;
  }

  AttentionCase& c_;
  bool half_;
  std::vector<uint16_t> q_, k_, v_, kr_, qr_;
};

AttentionCase make_case(std::vector<int32_t> lengths, size_t heads = 1) {
  AttentionCase c;
  c.lengths = std::move(lengths);
  c.heads = heads;
  c.head_size = 64;
  c.buckets = 256;
  c.max_relative = 512;
  c.scale = 1 / std::sqrt(3.0 * 64);
  c.precision = Precision::kBf16;
  return c;
}

// The rule of every kernel: twice what the plainest loops in the same precision are off by, and 1e-5.
template <class Form>
void expect_agreement(AttentionCase&& c, int blocks = 1) {
  const std::string what = testing::PrintToString(c.lengths);
  c.has_c2p = Form::kC2p;
  c.has_p2c = Form::kP2c;
  c.fill();
  DeviceCase device(c, Form::kHalf);
  ASSERT_EQ(device.run<Form>(blocks, false), "") << what;
  EXPECT_TRUE(device.has_guards()) << what;
  const std::vector<double> expected = test::PlainAttention<double>(c).out();
  const double naive = test::largest_difference(test::PlainAttention<float>(c).out(), expected);
  const double error = test::largest_difference(device.result(), expected);
  EXPECT_LE(error, 2 * naive + 1e-5) << what << ", naive " << naive;
  const std::vector<uint16_t> first = device.out;
  const std::vector<float> first_lse = device.lse;
  ASSERT_EQ(device.run<Form>(blocks, true), "") << what << ", in reverse";
  EXPECT_EQ(device.out, first) << what;
  EXPECT_EQ(0, std::memcmp(device.lse.data(), first_lse.data(), 4 * first_lse.size())) << what;
}

using Base = WideAttention<true, true, false>;
using Narrow = NarrowAttention<true, true, false>;

TEST(CudaAttention, AgreesAtEveryLength) {
  for (const int32_t length : {1, 2, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129}) {
    expect_agreement<Base>(make_case({length}));
    expect_agreement<Narrow>(make_case({length}));
  }
  for (const int32_t length : {255, 257, 513}) expect_agreement<Base>(make_case({length}));
}

TEST(CudaAttention, AgreesWithEitherTermAndWithNone) {
  expect_agreement<WideAttention<true, false, false>>(make_case({77}));
  expect_agreement<WideAttention<false, true, false>>(make_case({77}));
  expect_agreement<WideAttention<false, false, false>>(make_case({77}));
  expect_agreement<NarrowAttention<true, false, false>>(make_case({77}));
  expect_agreement<NarrowAttention<false, true, false>>(make_case({77}));
  expect_agreement<NarrowAttention<false, false, false>>(make_case({77}));
}

TEST(CudaAttention, AgreesInFp16) {
  expect_agreement<WideAttention<true, true, true>>(make_case({100}));
  expect_agreement<NarrowAttention<true, true, true>>(make_case({100}));
}

// Whole pieces have the row of an end, on both sides, for both numbers of rows; others reach it within a piece.
TEST(CudaAttention, AgreesBeyondTheDistancesThatHaveRowsOfTheirOwn) {
  for (const bool is_narrow : {false, true}) {
    AttentionCase c = make_case({300});
    c.buckets = 16;
    c.max_relative = 32;
    if (is_narrow) {
      expect_agreement<Narrow>(std::move(c));
    } else {
      expect_agreement<Base>(std::move(c));
    }
  }
  AttentionCase unclamped = make_case({200});
  unclamped.buckets = 8;
  unclamped.max_relative = 16;
  unclamped.clamps_distance = false;
  expect_agreement<Base>(std::move(unclamped));
  AttentionCase v1 = make_case({150});
  v1.buckets = -1;
  v1.max_relative = 64;
  expect_agreement<Base>(std::move(v1));
}

// Scores far from 0: the maximum grows from piece to piece, and falls.
TEST(CudaAttention, AgreesForSharpDistributions) {
  AttentionCase c = make_case({140});
  c.deviation = 3;
  expect_agreement<Base>(std::move(c));
}

TEST(CudaAttention, SharesPacksOutToBlocksAndGroups) {
  for (const int blocks : {1, 3}) expect_agreement<Base>(make_case({3, 140, 33, 1}, 2), blocks);
  expect_agreement<Narrow>(make_case({70, 5, 64}, 2), 7);  // more blocks than there is work for
}

// A sequence has the same bits alone and in any pack.
TEST(CudaAttention, DoesNotDependOnTheRestOfTheBatch) {
  AttentionCase pack = make_case({37, 150, 61});
  pack.fill();
  DeviceCase together(pack, false);
  ASSERT_EQ(together.run<Base>(2, false), "");
  AttentionCase alone = make_case({150});
  alone.fill();
  const size_t width = pack.width();
  const auto part = [&](const std::vector<float>& x) {
    return std::vector<float>(x.begin() + static_cast<std::ptrdiff_t>(37 * width),
                              x.begin() + static_cast<std::ptrdiff_t>(187 * width));
  };
  alone.q = part(pack.q);
  alone.k = part(pack.k);
  alone.v = part(pack.v);
  alone.kr = pack.kr;
  alone.qr = pack.qr;
  DeviceCase single(alone, false);
  ASSERT_EQ(single.run<Base>(1, false), "");
  EXPECT_TRUE(std::equal(single.out.begin() + 16, single.out.end() - 16,
                         together.out.begin() + static_cast<std::ptrdiff_t>(16 + 37 * width)));
}

std::vector<int32_t> starts_of(const std::vector<int32_t>& lengths) {
  std::vector<int32_t> starts = {0};
  for (const int32_t length : lengths) starts.push_back(starts.back() + length);
  return starts;
}

TEST(CudaAttentionPlan, ChoosesTheTileOfEachSequenceByItsLengthAlone) {
  const std::vector<AttentionPlan> plans =
      cuda::plan_attention({starts_of({128, 40, 512, 64, 129, 1}), nullptr, 12, 132});
  ASSERT_EQ(plans.size(), 2u);
  const auto lengths = [](const AttentionPlan& plan) {
    std::set<int32_t> all;
    for (const AttentionItem& item : plan.items) all.insert(item.length);
    return all;
  };
  EXPECT_EQ(plans[0].tile, AttentionTile::kWide);
  EXPECT_EQ(lengths(plans[0]), (std::set<int32_t>{128, 512}));
  EXPECT_EQ(plans[1].tile, AttentionTile::kNarrow);
  EXPECT_EQ(lengths(plans[1]), (std::set<int32_t>{1, 40, 64, 129}));
  EXPECT_EQ(cuda::plan_attention({starts_of({512}), nullptr, 12, 132}).size(), 1u);
}

// Every pair of head and item once, and no block more than one item above the mean.
TEST(CudaAttentionPlan, SharesEvenly) {
  const std::vector<int32_t> starts = starts_of({5, 700, 33, 128, 129, 64});
  for (const int32_t blocks : {1, 7, 132}) {
    const AttentionPlan plan = cuda::plan_attention({starts, nullptr, 12, blocks}, AttentionTile::kWide);
    ASSERT_EQ(plan.shares.size(), static_cast<size_t>(blocks) + 1);
    EXPECT_EQ(plan.shares.front(), 0);
    EXPECT_EQ(plan.shares.back(), 12 * static_cast<int32_t>(plan.items.size()));
    const auto cost = [&](int32_t pair) {
      return (plan.items[static_cast<size_t>(pair) % plan.items.size()].length + 31) / 32 + 1;
    };
    int32_t total = 0, most = 0, largest = 0;
    for (size_t block = 0; block + 1 < plan.shares.size(); ++block) {
      ASSERT_LE(plan.shares[block], plan.shares[block + 1]);
      int32_t sum = 0;
      for (int32_t pair = plan.shares[block]; pair < plan.shares[block + 1]; ++pair) {
        sum += cost(pair);
        largest = std::max(largest, cost(pair));
      }
      total += sum;
      most = std::max(most, sum);
    }
    EXPECT_LE(most, total / blocks + largest + 1) << blocks;
  }
}

TEST(CudaAttentionPlan, KeepsTheRowsThatDistancesReach) {
  const RelLut lut(RelLutParams{256, 512, true, 1000});
  const AttentionPlan shortest = cuda::plan_attention({{0, 128}, &lut, 1, 1}, AttentionTile::kWide);
  EXPECT_EQ(shortest.reach, 127);
  EXPECT_EQ(shortest.rows, 255);
  EXPECT_EQ(shortest.first_row, 256 - 127);
  const AttentionPlan longest = cuda::plan_attention({{0, 1000}, &lut, 1, 1}, AttentionTile::kWide);
  EXPECT_LT(longest.reach, 512);
  EXPECT_EQ(longest.row.front(), lut.row(-999));
  EXPECT_EQ(longest.row.back(), lut.row(999));
  EXPECT_EQ(longest.row.size(), 2 * static_cast<size_t>(longest.reach) + 1);
}

// ---- The emulator
std::string run_block(int threads, const std::function<void()>& thread) {
  return CudaBlock(threads, 1024, false).run(thread);
}

TEST(CudaEmulator, FindsRacesBetweenWarpsAndNoneAcrossABarrier) {
  const auto meet = [](bool waits) {
    return run_block(64, [waits] {
      const auto at = static_cast<uint32_t>(4 * (CudaMachine::thread() % 32));
      if (CudaMachine::thread() < 32) CudaMachine::store_32(at, 7);
      if (waits) CudaMachine::barrier_all();
      if (CudaMachine::thread() >= 32) CudaMachine::load_32(at);
    });
  };
  EXPECT_NE(meet(false).find("race"), std::string::npos);
  EXPECT_EQ(meet(true), "");
}

TEST(CudaEmulator, RefusesAddressesAndWaitsThatNeverEnd) {
  EXPECT_NE(run_block(32, [] { CudaMachine::load_32(1024); }).find("shared address 1024"), std::string::npos);
  EXPECT_NE(run_block(32, [] { CudaMachine::load_32(2); }).find("shared address 2"), std::string::npos);
  EXPECT_EQ(run_block(64,
                      [] {
                        if (CudaMachine::thread() < 32) CudaMachine::barrier_all();
                      }),
            "threads wait for ever");
}

TEST(CudaEmulator, CopiesAreNotThereBeforeTheyAreWaitedFor) {
  alignas(16) static const uint32_t numbers[4] = {1, 2, 3, 4};
  EXPECT_EQ(run_block(32,
                      [] {
                        const auto at = static_cast<uint32_t>(16 * CudaMachine::thread());
                        CudaMachine::copy_16(at, numbers, true);
                        EXPECT_EQ(CudaMachine::load_32(at), 0xFFFFFFFFu);
                        CudaMachine::copy_wait_all();
                        EXPECT_EQ(CudaMachine::load_32(at + 8), 3u);
                        CudaMachine::copy_16(at, numbers, false);
                        CudaMachine::copy_wait_all();
                        EXPECT_EQ(CudaMachine::load_32(at + 8), 0u);
                      }),
            "");
}

TEST(CudaEmulator, CountsBankConflicts) {
  const auto conflicts = [](uint32_t stride) {
    CudaBlock block(32, 8192, false);
    EXPECT_EQ(block.run([stride] {
      uint32_t r[4];
      CudaMachine::load_matrices(r, static_cast<uint32_t>(CudaMachine::thread()) * stride);
    }),
              "");
    return block.bank_conflicts();
  };
  EXPECT_EQ(conflicts(128), 4u);
  EXPECT_EQ(conflicts(144), 0u);
  EXPECT_EQ(conflicts(0), 0u);
}

TEST(CudaEmulator, RoundsHalvesToNearest) {
  for (uint32_t bits = 0; bits < 0x7C00; ++bits) {
    const float x = test::from_half(static_cast<uint16_t>(bits)),
                next = test::from_half(static_cast<uint16_t>(std::min(bits + 1, 0x7BFFu)));
    ASSERT_EQ(test::to_half(x), bits);
    ASSERT_EQ(test::to_half(-x), bits | 0x8000);
    const float middle = (x + next) / 2;  // ties to even
    if (next > x) {
      ASSERT_EQ(test::to_half(middle), bits + (bits & 1));
    }
  }
  EXPECT_EQ(test::to_half(1e9f), 0x7BFF);
  EXPECT_TRUE(std::isnan(test::from_half(test::to_half(NAN))));
}

}  // namespace
}  // namespace deberta::cuda_attention_test
