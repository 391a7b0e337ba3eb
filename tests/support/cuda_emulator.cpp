#include "support/cuda_emulator.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include <boost/context/fiber.hpp>

#include "kernels/bf16.h"

namespace deberta::test {

constexpr uint32_t kCellBytes = 4;

struct CudaBlock::Fiber {
  boost::context::fiber thread;     // empty at its end, and while it runs
  boost::context::fiber scheduler;  // while it runs
  const std::function<bool()>* waits = nullptr;
  struct Copy {
    uint32_t to;
    uint8_t bytes[16];
  };
  std::vector<Copy> copies;
};

struct CudaBlock::Warp {
  uint32_t in[32][8];
  uint32_t out[32][4];
  int arrived = 0;
  uint64_t collected = 0;
  uint32_t passed_all = 0;  // barriers of the whole block
  uint32_t passed = 0;      // barriers of any kind
};

// Who touched four bytes last, per warp: barriers passed by then, or none.
struct CudaBlock::Cell {
  struct Touch {
    uint32_t passed_all = 0, passed = 0;
    bool is_there = false;
  };
  Touch reads[16], writes[16];
};

CudaBlock* CudaBlock::running_ = nullptr;

CudaBlock::CudaBlock(int threads, size_t shared_bytes, bool runs_in_reverse)
    : shared_((shared_bytes + 15) / 16 * 16, 0xFF),
      cells_(shared_.size() / kCellBytes),
      fibers_(static_cast<size_t>(threads)),
      warps_(static_cast<size_t>(threads) / 32),
      barriers_(16),
      reverse_(runs_in_reverse) {}

CudaBlock::~CudaBlock() = default;

std::string CudaBlock::run(const std::function<void()>& thread) {
  const int count = static_cast<int>(fibers_.size());
  for (Fiber& fiber : fibers_) {
    fiber.thread = boost::context::fiber([&](boost::context::fiber&& scheduler) {
      fiber.scheduler = std::move(scheduler);
      thread();
      return std::move(fiber.scheduler);
    });
  }
  running_ = this;
  for (bool moves = true; moves && error_.empty();) {
    moves = false;
    for (int n = 0; n < count && error_.empty(); ++n) {
      const int warp = reverse_ ? count / 32 - 1 - n / 32 : n / 32;
      current_ = 32 * warp + n % 32;
      Fiber& fiber = fibers_[static_cast<size_t>(current_)];
      if (!fiber.thread || (fiber.waits != nullptr && !(*fiber.waits)())) continue;
      moves = true;
      fiber.thread = std::move(fiber.thread).resume();
    }
  }
  if (error_.empty() &&
      std::any_of(fibers_.begin(), fibers_.end(), [](const Fiber& f) { return static_cast<bool>(f.thread); })) {
    error_ = "threads wait for ever";
  }
  for (Fiber& fiber : fibers_) fiber.thread = {};  // unwinds those that wait
  running_ = nullptr;
  return error_;
}

void CudaBlock::fail(const std::string& what) {
  if (error_.empty()) error_ = what + ", thread " + std::to_string(current_);
}

void CudaBlock::wait_for(const std::function<bool()>& is_over) {
  if (is_over() && error_.empty()) return;
  Fiber& fiber = fibers_[static_cast<size_t>(current_)];
  fiber.waits = &is_over;
  fiber.scheduler = std::move(fiber.scheduler).resume();
  fiber.waits = nullptr;
}

void CudaBlock::touch(uint32_t at, uint32_t bytes, bool writes) {
  if (at % bytes != 0 || at + bytes > shared_.size()) return fail("shared address " + std::to_string(at));
  const size_t me = static_cast<size_t>(current_) / 32, group_warps = 4;
  const Warp& warp = warps_[me];
  const auto is_concurrent = [&](const Cell::Touch& touch, size_t other) {
    return touch.is_there && touch.passed_all == warp.passed_all &&
           (other / group_warps != me / group_warps || touch.passed == warp.passed);
  };
  for (uint32_t i = at / kCellBytes; i < (at + bytes) / kCellBytes; ++i) {
    Cell& cell = cells_[i];
    for (size_t other = 0; other < warps_.size(); ++other) {
      if (other == me) continue;
      if (is_concurrent(cell.writes[other], other) || (writes && is_concurrent(cell.reads[other], other)))
        fail("a race at shared address " + std::to_string(at));
    }
    (writes ? cell.writes : cell.reads)[me] = {warp.passed_all, warp.passed, true};
  }
}

void CudaBlock::collect(const std::function<void(Warp&)>& act) {
  Warp& warp = warps_[static_cast<size_t>(current_) / 32];
  const uint64_t before = warp.collected;
  if (++warp.arrived == 32) {
    act(warp);
    warp.arrived = 0;
    ++warp.collected;
    return;
  }
  wait_for([&warp, before] { return warp.collected != before; });
}

// Eight lanes read 16 bytes each in one turn when no two of them want different bytes of the same banks.
void CudaBlock::count_conflicts(const Warp& warp) {
  for (size_t first = 0; first < 32; first += 8) {
    bool is_twice = false;
    for (size_t i = first; i < first + 8; ++i) {
      for (size_t j = first; j < i; ++j)
        is_twice = is_twice || (warp.in[i][0] != warp.in[j][0] && warp.in[i][0] / 16 % 8 == warp.in[j][0] / 16 % 8);
    }
    if (is_twice) ++conflicts_;
  }
}

void CudaBlock::barrier(int id, int threads) {
  auto& [waiting, opened] = barriers_[static_cast<size_t>(id)];
  const uint64_t before = opened;
  if (++waiting == threads) {
    waiting = 0;
    ++opened;
  } else {
    const auto& times = opened;
    wait_for([&times, before] { return times != before; });
  }
  if (current_ % 32 != 0) return;
  Warp& warp = warps_[static_cast<size_t>(current_) / 32];
  ++warp.passed;
  if (id == 0) ++warp.passed_all;
}

// ---- The machine
int CudaMachine::thread() {
  return CudaBlock::running_->current_;
}
void CudaMachine::barrier(int id, int threads) {
  warp_sync();
  CudaBlock::running_->barrier(id, threads);
  warp_sync();
}
void CudaMachine::barrier_all() {
  barrier(0, static_cast<int>(CudaBlock::running_->fibers_.size()));
}
void CudaMachine::warp_sync() {
  CudaBlock::running_->collect([](CudaBlock::Warp&) {});
}

namespace {
size_t lane() {
  return static_cast<size_t>(CudaMachine::thread()) % 32;
}
}  // namespace

bool CudaMachine::any(bool value) {
  CudaBlock& block = *CudaBlock::running_;
  CudaBlock::Warp& warp = block.warps_[static_cast<size_t>(block.current_) / 32];
  const size_t me = lane();
  warp.in[me][0] = value;
  block.collect([](CudaBlock::Warp& w) {
    bool any = false;
    for (const auto& in : w.in) any = any || in[0] != 0;
    for (auto& out : w.out) out[0] = any;
  });
  return warp.out[me][0] != 0;
}

uint32_t CudaMachine::shuffle(uint32_t value, int from) {
  CudaBlock& block = *CudaBlock::running_;
  CudaBlock::Warp& warp = block.warps_[static_cast<size_t>(block.current_) / 32];
  const size_t me = lane();
  warp.in[me][0] = value;
  warp.in[me][1] = static_cast<uint32_t>(from) % 32;
  block.collect([](CudaBlock::Warp& w) {
    for (size_t i = 0; i < 32; ++i) w.out[i][0] = w.in[w.in[i][1]][0];
  });
  return warp.out[me][0];
}

float CudaMachine::shuffle_xor(float value, int mask) {
  return std::bit_cast<float>(shuffle(std::bit_cast<uint32_t>(value), static_cast<int>(lane()) ^ mask));
}

uint32_t CudaMachine::permute(uint32_t a, uint32_t b, uint32_t selector) {
  const uint64_t both = uint64_t{b} << 32 | a;
  uint32_t result = 0;
  for (uint32_t i = 0; i < 4; ++i)
    result |= static_cast<uint32_t>(both >> (8 * (selector >> (4 * i) & 7)) & 0xFF) << (8 * i);
  return result;
}

void CudaMachine::copy_16(uint32_t shared, const void* global, bool inside) {
  CudaBlock& block = *CudaBlock::running_;
  block.touch(shared, 16, true);
  if (!block.error_.empty()) return;
  CudaBlock::Fiber::Copy copy = {shared, {}};
  if (reinterpret_cast<uintptr_t>(global) % 16 != 0)
    return block.fail("a copy from an address that is no multiple of 16");
  if (inside) std::memcpy(copy.bytes, global, 16);
  std::memset(block.shared_.data() + shared, 0xFF, 16);
  block.fibers_[static_cast<size_t>(block.current_)].copies.push_back(copy);
}

void CudaMachine::copy_wait_all() {
  CudaBlock& block = *CudaBlock::running_;
  auto& copies = block.fibers_[static_cast<size_t>(block.current_)].copies;
  for (const auto& copy : copies) {
    block.touch(copy.to, 16, true);
    std::memcpy(block.shared_.data() + copy.to, copy.bytes, 16);
  }
  copies.clear();
  warp_sync();
}

void CudaMachine::store_32(uint32_t shared, uint32_t value) {
  CudaBlock& block = *CudaBlock::running_;
  block.touch(shared, 4, true);
  if (block.error_.empty()) std::memcpy(block.shared_.data() + shared, &value, 4);
}

uint32_t CudaMachine::load_32(uint32_t shared) {
  CudaBlock& block = *CudaBlock::running_;
  uint32_t value = 0;
  block.touch(shared, 4, false);
  if (block.error_.empty()) std::memcpy(&value, block.shared_.data() + shared, 4);
  return value;
}

void CudaMachine::store_global(uint16_t* global, uint32_t value) {
  std::memcpy(global, &value, 4);
}

// Loads, from each of four matrices of 8 rows, two neighbours in a row for each lane, or in a column.
void CudaMachine::load_four(bool is_transposed, uint32_t (&r)[4], uint32_t at) {
  CudaBlock& block = *CudaBlock::running_;
  CudaBlock::Warp& warp = block.warps_[static_cast<size_t>(block.current_) / 32];
  const size_t me = lane();
  block.touch(at, 16, false);
  warp.in[me][0] = at;
  block.collect([&block, is_transposed](CudaBlock::Warp& w) {
    if (!block.error_.empty()) return;
    block.count_conflicts(w);
    for (size_t i = 0; i < 32; ++i) {
      for (size_t m = 0; m < 4; ++m) {
        uint16_t pair[2];
        for (size_t e = 0; e < 2; ++e) {
          const size_t far = i / 4, near = 2 * (i % 4) + e;
          const size_t row = is_transposed ? near : far, column = is_transposed ? far : near;
          std::memcpy(&pair[e], block.shared_.data() + w.in[8 * m + row][0] + 2 * column, 2);
        }
        std::memcpy(&w.out[i][m], pair, 4);
      }
    }
  });
  std::copy_n(warp.out[me], 4, r);
}

namespace {

float number(bool is_half, uint32_t packed, uint32_t which) {
  const auto bits = static_cast<uint16_t>(packed >> (16 * which));
  return is_half ? from_half(bits) : from_bf16(bits);
}

// m16n8k16: A, B and C from the fragments of the lanes.
void multiply_fragments(bool is_half, const uint32_t (&in)[32][8], uint32_t (&out)[32][4], const float (&c)[32][4]) {
  float a[16][16], b[16][8];
  for (uint32_t lane = 0; lane < 32; ++lane) {
    const uint32_t r = lane / 4, q = lane % 4;
    for (uint32_t i = 0; i < 4; ++i) {
      for (uint32_t e = 0; e < 2; ++e) a[r + 8 * (i & 1)][2 * q + e + 8 * (i / 2)] = number(is_half, in[lane][i], e);
    }
    for (uint32_t i = 0; i < 2; ++i) {
      for (uint32_t e = 0; e < 2; ++e) b[2 * q + e + 8 * i][r] = number(is_half, in[lane][4 + i], e);
    }
  }
  for (uint32_t lane = 0; lane < 32; ++lane) {
    for (uint32_t i = 0; i < 4; ++i) {
      const uint32_t row = lane / 4 + 8 * (i / 2), column = 2 * (lane % 4) + (i & 1);
      float sum = c[lane][i];
      for (uint32_t k = 0; k < 16; ++k) sum += a[row][k] * b[k][column];
      out[lane][i] = std::bit_cast<uint32_t>(sum);
    }
  }
}

}  // namespace

void CudaMachine::multiply_as(bool is_half, float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  CudaBlock& block = *CudaBlock::running_;
  CudaBlock::Warp& warp = block.warps_[static_cast<size_t>(block.current_) / 32];
  const size_t me = lane();
  std::copy_n(a, 4, warp.in[me]);
  warp.in[me][4] = b0;
  warp.in[me][5] = b1;
  for (size_t i = 0; i < 4; ++i) warp.out[me][i] = std::bit_cast<uint32_t>(c[i]);
  block.collect([is_half](CudaBlock::Warp& w) {
    float before[32][4];
    for (size_t i = 0; i < 32; ++i) {
      for (size_t e = 0; e < 4; ++e) before[i][e] = std::bit_cast<float>(w.out[i][e]);
    }
    multiply_fragments(is_half, w.in, w.out, before);
  });
  for (size_t i = 0; i < 4; ++i) c[i] = std::bit_cast<float>(warp.out[me][i]);
}

uint32_t CudaMachine::pack_as(bool is_half, float low, float high) {
  const uint32_t bits[2] = {is_half ? to_half(low) : to_bf16(low), is_half ? to_half(high) : to_bf16(high)};
  return bits[0] | bits[1] << 16;
}

uint32_t CudaMachine::add_half(uint32_t a, uint32_t b) {
  return pack_as(true, number(true, a, 0) + number(true, b, 0), number(true, a, 1) + number(true, b, 1));
}

void CudaMachine::unpack_half(float& low, float& high, uint32_t packed) {
  low = number(true, packed, 0);
  high = number(true, packed, 1);
}

float CudaMachine::maximum(float a, float b) {
  return std::fmax(a, b);
}
float CudaMachine::power_of_2(float x) {
  return std::exp2(x);
}
float CudaMachine::logarithm_2(float x) {
  return std::log2(x);
}

float from_half(uint16_t bits) {
  const uint32_t exponent = bits >> 10 & 31, fraction = bits & 1023;
  const float sign = bits >> 15 != 0 ? -1.0f : 1.0f;
  if (exponent == 31) return fraction != 0 ? std::nanf("") : sign * INFINITY;
  return sign * (exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                               : std::ldexp(static_cast<float>(1024 + fraction), static_cast<int>(exponent) - 25));
}

uint16_t to_half(float x) {
  const auto sign = static_cast<uint16_t>(std::signbit(x) ? 0x8000 : 0);
  if (std::isnan(x)) return 0x7FFF;
  if (x == 0) return sign;
  const float size = std::fmin(std::fabs(x), 65504.0f);
  int exponent = 0;
  std::frexp(size, &exponent);
  const int unit = std::max(exponent - 11, -24);  // exponent of the last place
  const auto places = static_cast<uint32_t>(std::nearbyint(std::ldexp(size, -unit)));
  if (unit == -24) return static_cast<uint16_t>(sign | places);
  return static_cast<uint16_t>(sign | ((static_cast<uint32_t>(unit + 25) << 10) + places - 1024));
}

}  // namespace deberta::test
