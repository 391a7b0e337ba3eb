// A block of a card on the host, for the kernels of src/kernels/cuda, whose code it runs unchanged: every thread is a
// fiber; the lanes of a warp meet at each instruction that they execute together. What a card would do by chance is
// done in the worst way here:
//   - shared memory begins as NaN, and what is being copied into it is NaN until it is waited for;
//   - a byte that one warp writes and another reads or writes with no barrier between them is a race, whatever the
//   order in which they came;
//   - warps run in order or in reverse: the results must be the same bits;
//   - an address outside the shared memory, or not a multiple of what is accessed, is an error;
//   - rows that ldmatrix reads together from the same banks, which costs time, are counted.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace deberta::test {

class CudaBlock {
 public:
  CudaBlock(int threads, size_t shared_bytes, bool runs_in_reverse);
  ~CudaBlock();
  CudaBlock(const CudaBlock&) = delete;
  CudaBlock& operator=(const CudaBlock&) = delete;

  // Runs `thread` for each thread of the block. The first error (a race, a bad address, threads that wait for ever), or
  // nothing.
  std::string run(const std::function<void()>& thread);

  // ldmatrix only: reads of eight rows that took more than one turn.
  size_t bank_conflicts() const { return conflicts_; }

 private:
  friend struct CudaMachine;
  struct Fiber;
  struct Warp;
  struct Cell;
  static CudaBlock* running_;

  void fail(const std::string& what);
  void wait_for(const std::function<bool()>& is_over);
  void touch(uint32_t at, uint32_t bytes, bool writes);
  void collect(const std::function<void(Warp&)>& act);
  void count_conflicts(const Warp& warp);
  void barrier(int id, int threads);

  std::vector<uint8_t> shared_;
  std::vector<Cell> cells_;
  std::vector<Fiber> fibers_;
  std::vector<Warp> warps_;
  std::vector<std::pair<int, uint64_t>> barriers_;  // by id: threads that wait, times that it opened
  std::string error_;
  size_t conflicts_ = 0;
  bool reverse_;
  int current_ = 0;
};

// The Machine of the kernels.
struct CudaMachine {
  static int thread();
  static void barrier_all();
  static void barrier(int id, int threads);
  static void warp_sync();
  static bool any(bool value);
  static uint32_t shuffle(uint32_t value, int from);
  static float shuffle_xor(float value, int mask);
  static uint32_t permute(uint32_t a, uint32_t b, uint32_t selector);
  static void copy_16(uint32_t shared, const void* global, bool inside);
  static void copy_commit() {}
  static void copy_wait_all();
  static void store_32(uint32_t shared, uint32_t value);
  static uint32_t load_32(uint32_t shared);
  static void store_global(uint16_t* global, uint32_t value);
  static void load_matrices(uint32_t (&r)[4], uint32_t at) { load_four(false, r, at); }
  static void load_matrices_transposed(uint32_t (&r)[4], uint32_t at) { load_four(true, r, at); }
  template <bool kHalf>
  static void multiply(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    multiply_as(kHalf, c, a, b0, b1);
  }
  template <bool kHalf>
  static uint32_t pack(float low, float high) {
    return pack_as(kHalf, low, high);
  }
  static uint32_t pack_half(float low, float high) { return pack_as(true, low, high); }
  static uint32_t add_half(uint32_t a, uint32_t b);
  static void unpack_half(float& low, float& high, uint32_t packed);
  static float maximum(float a, float b);
  static float power_of_2(float x);
  static float logarithm_2(float x);

 private:
  static void load_four(bool is_transposed, uint32_t (&r)[4], uint32_t at);
  static void multiply_as(bool is_half, float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1);
  static uint32_t pack_as(bool is_half, float low, float high);
};

float from_half(uint16_t bits);
uint16_t to_half(float x);  // to nearest, saturated at 65504

}  // namespace deberta::test
