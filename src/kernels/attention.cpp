// Attention: argument checks, the choice of implementation, the order of tasks and their scratch.
//   many (sequence, head) tasks: each by one worker, longest sequences first, its keys prepared in the worker's scratch
//   few: keys of all tasks are prepared first, by blocks; then blocks of queries are the tasks
#include "kernels/attention.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/arena.h"
#include "kernels/attention_kernel.h"
#include "kernels/attention_task.h"
#include "kernels/implementations.h"
#include "kernels/operand.h"
#include "kernels/profile.h"
#include "kernels/reference/reference.h"
#include "kernels/row_blocks.h"

namespace deberta {
namespace {

void check_table(const KernelSet& kernels, const AttentionParams& p, const RelativeTable& table, bool is_reversed) {
  const bool has_pairs = attention_table_has_pairs(kernels, p.precision, p.head_size);
  require(Operation::kAttention,
          table.has_pairs == has_pairs && table.is_reversed == is_reversed && table.head_size == p.head_size,
          "a table packed for another implementation");
}

void check_arguments(const KernelSet& kernels, const AttentionParams& p) {
  const bool has_keys = p.starts[p.sequences] > 0;
  require(Operation::kAttention,
          p.q.data != nullptr && p.out.data != nullptr && p.scratch != nullptr && p.head_size > 0, "a null pointer");
  require(Operation::kAttention, !has_keys || (p.k.data != nullptr && p.v.data != nullptr), "a null pointer");
  require(Operation::kAttention, p.precision != Precision::kInt8, "expected fp32 or bf16");
  require(Operation::kAttention, !p.has_c2p || p.kr.has_data(), "c2p without its table");
  require(Operation::kAttention, !p.has_p2c || p.qr.has_data(), "p2c without its table");
  require(Operation::kAttention, p.dropout.threshold() < 256 && p.dropout.p >= 0, "dropout outside [0, 1)");
  if (p.has_c2p) check_table(kernels, p, p.kr, true);
  if (p.has_p2c) check_table(kernels, p, p.qr, false);
  if (!p.has_c2p && !p.has_p2c) return;
  if (p.given_buckets_LS != nullptr) {
    require(Operation::kAttention, p.relative_rows > 0, "given buckets without the number of rows");
    return;
  }
  require(Operation::kAttention, p.lut != nullptr, "a relative term without row numbers");
  for (int32_t t = 0; p.query_positions != nullptr && t < query_starts_of(p)[p.sequences]; ++t) {
    require(Operation::kAttention, p.query_positions[t] >= 0, "a negative query position");
  }
  require(Operation::kAttention, end_of_attention_positions(p) <= p.lut->max_length(),
          "a sequence longer than the table of rows");
}

// Where the parts of a call's scratch begin.
struct Plan {
  const AttentionKernel& kernel;
  AttentionExtent extent;
  bool has_few_tasks = false;  // then each task has its shared part, else each worker
  size_t shared_bytes = 0, own_bytes = 0, shared_parts = 0;
  size_t size_bytes = 0;

  Plan(const AttentionKernel& of, const AttentionParams& p) : kernel(of), extent(attention_extent(p)) {
    const size_t tasks = p.sequences * p.heads;
    has_few_tasks = p.parallel.workers > 1 && tasks < 2 * p.parallel.workers;
    shared_bytes = Arena::bytes_for<std::byte>(kernel.shared_bytes(extent));
    own_bytes = Arena::bytes_for<std::byte>(kernel.own_bytes(extent));
    shared_parts = has_few_tasks ? tasks : p.parallel.workers;
    size_bytes = order_bytes(p) + shared_parts * shared_bytes + p.parallel.workers * own_bytes;
  }

  static size_t order_bytes(const AttentionParams& p) { return Arena::bytes_for<uint32_t>(p.sequences); }
  std::byte* base(const AttentionParams& p) const { return static_cast<std::byte*>(p.scratch); }
  void* shared(const AttentionParams& p, size_t part) const { return base(p) + order_bytes(p) + part * shared_bytes; }
  void* own(const AttentionParams& p, size_t worker) const {
    return base(p) + order_bytes(p) + shared_parts * shared_bytes + worker * own_bytes;
  }
};

// A sequence without keys still has outputs: zeros.
void prepare(const Plan& plan, const AttentionTask& t, size_t block, void* shared, void* own) {
  const size_t begin = block * plan.kernel.block;
  plan.kernel.prepare_keys(t, plan.extent, begin, std::min(t.keys, begin + plan.kernel.block), shared, own);
}

void attend(const Plan& plan, const AttentionTask& t, size_t block, void* shared, void* own) {
  const size_t begin = block * plan.kernel.block;
  plan.kernel.attend(t, plan.extent, begin, std::min(t.queries, begin + plan.kernel.block), shared, own);
}

void run_whole_tasks(const Plan& plan, const AttentionParams& p) {
  auto* order_B = static_cast<uint32_t*>(p.scratch);
  std::iota(order_B, order_B + p.sequences, 0u);
  std::sort(order_B, order_B + p.sequences, [&](uint32_t a, uint32_t b) {
    const size_t a_length = length_of(p.starts, a), b_length = length_of(p.starts, b);
    return a_length != b_length ? a_length > b_length : a < b;
  });
  parallel_for(p.parallel, p.sequences * p.heads, [&](size_t task, size_t worker) {
    const AttentionTask t = attention_task(p, order_B[task / p.heads], task % p.heads);
    void* shared = plan.shared(p, worker);
    void* own = plan.own(p, worker);
    if (t.queries == 0) return;
    for (size_t block = 0; block * plan.kernel.block < t.keys; ++block) prepare(plan, t, block, shared, own);
    for (size_t block = 0; block * plan.kernel.block < t.queries; ++block) attend(plan, t, block, shared, own);
  });
}

// Calls work(task, block, worker) for every block of every task; there are few sequences.
template <class Work>
void for_blocks(const Plan& plan, const AttentionParams& p, const int32_t* starts, const Work& work) {
  const auto blocks_of = [&](size_t b) { return (length_of(starts, b) + plan.kernel.block - 1) / plan.kernel.block; };
  size_t blocks = 0;
  for (size_t b = 0; b < p.sequences; ++b) blocks += blocks_of(b);
  parallel_for(p.parallel, blocks * p.heads, [&](size_t index, size_t worker) {
    size_t block = index / p.heads, b = 0;
    for (; block >= blocks_of(b); ++b) block -= blocks_of(b);
    work(b * p.heads + index % p.heads, block, worker);
  });
}

void run_blocks(const Plan& plan, const AttentionParams& p) {
  for_blocks(plan, p, p.starts, [&](size_t task, size_t block, size_t worker) {
    const AttentionTask t = attention_task(p, task / p.heads, task % p.heads);
    if (t.queries > 0) prepare(plan, t, block, plan.shared(p, task), plan.own(p, worker));
  });
  for_blocks(plan, p, query_starts_of(p), [&](size_t task, size_t block, size_t worker) {
    const AttentionTask t = attention_task(p, task / p.heads, task % p.heads);
    attend(plan, t, block, plan.shared(p, task), plan.own(p, worker));
  });
}

void run_reference(const AttentionParams& p) {
  const size_t per_worker = reference_attention_scratch_bytes(p);
  parallel_for(p.parallel, p.sequences * p.heads, [&](size_t task, size_t worker) {
    reference_attention(p, task / p.heads, task % p.heads, static_cast<char*>(p.scratch) + worker * per_worker);
  });
}

void run(KernelLevel level, const AttentionParams& p) {
  const AttentionKernel* kernel = kernel_of(level, &ImplementationRow::attention, p.precision);
  count_call(Operation::kAttention, level, p.precision);
  if (kernel == nullptr) return run_reference(p);
  const Plan plan(*kernel, p);
  plan.has_few_tasks ? run_blocks(plan, p) : run_whole_tasks(plan, p);
}

double number(Precision precision, const void* data, size_t at) {
  if (precision == Precision::kBf16) return double{from_bf16(static_cast<const Bf16*>(data)[at])};
  return double{static_cast<const float*>(data)[at]};
}

// The reference writes densely, into memory of its own: the outputs may be strided.
void run_checked(KernelLevel level, const AttentionParams& p, KernelCheck& check) {
  run(level, p);
  const auto rows = static_cast<size_t>(query_starts_of(p)[p.sequences]);
  const size_t columns = p.heads * p.head_size;
  std::vector<float> expected(rows * columns);
  std::vector<std::byte> scratch(reference_attention_scratch_bytes(p) * p.parallel.workers);
  AttentionParams reference = p;
  reference.out = {.data = expected.data(), .token_stride = columns, .head_stride = p.head_size};
  reference.lse_HT = nullptr;
  reference.scores = {};
  reference.scratch = scratch.data();
  run_reference(reference);
  const WorstElement worst = find_worst(rows, columns, [&](size_t row, size_t column) {
    const size_t offset = p.out.offset(row, column / p.head_size) + column % p.head_size;
    return number(p.precision, p.out.data, offset) - number(p.precision, expected.data(), row * columns + column);
  });
  check.record(Operation::kAttention, worst.difference,
               fmt::format("[T {}, H {}, K {}] row {} column {}", rows, p.heads, p.head_size, worst.row, worst.column));
}

}  // namespace

KernelLevel attention_level(const KernelSet& kernels, const AttentionParams& p) {
  const bool has_terms = p.has_c2p || p.has_p2c;
  const bool needs_reference = p.scores.is_wanted() || p.averages_empty_rows ||
                               (has_terms && (p.given_buckets_LS != nullptr || !p.lut->has_unit_steps()));
  if (needs_reference) return KernelLevel::kReference;
  return attention_table_level(kernels, p.precision, p.head_size);
}

size_t attention_scratch_bytes(const KernelSet& kernels, const AttentionParams& params) {
  const size_t reference = reference_attention_scratch_bytes(params) * params.parallel.workers;
  const KernelLevel level = attention_table_level(kernels, params.precision, params.head_size);
  const AttentionKernel* kernel = kernel_of(level, &ImplementationRow::attention, params.precision);
  return kernel == nullptr ? reference : std::max(reference, Plan(*kernel, params).size_bytes);
}

void attention(const KernelSet& kernels, const AttentionParams& params) {
  if (params.sequences == 0) return;
  require(Operation::kAttention, params.starts != nullptr, "a null pointer");
  if (query_starts_of(params)[params.sequences] == 0) return;
  const OperationScope scope(
      kernels, {params.q.data, params.k.data, params.v.data, params.out.data, params.kr.data, params.qr.data,
                params.query_positions, params.given_buckets_LS, params.key_mask_T, params.query_mask_T, params.masks_B,
                params.lse_HT, params.scores.c2c, params.scores.c2p, params.scores.p2c, params.scores.probabilities,
                params.scratch});
  check_arguments(kernels, params);
  const KernelLevel level = attention_level(kernels, params);
  const ProfileTimer timer(
      {.operation = Operation::kAttention, .precision = params.precision, .outputs = params.heads * params.head_size},
      {.rows = static_cast<size_t>(query_starts_of(params)[params.sequences]), .workers = params.parallel.workers});
  if (kernels.check != nullptr) {
    run_checked(level, params, *kernels.check);
  } else {
    run(level, params);
  }
}

}  // namespace deberta
