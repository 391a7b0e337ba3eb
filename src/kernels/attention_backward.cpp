// Gradients of attention: argument checks, the choice of implementation, tasks and their scratch.
//   packed tables of all heads | sums of the tables' gradients, for each task | scratch of each worker | rounded tables
// A task is a head and a run of sequences; the sums of a head are then added in the order of its runs.
#include "kernels/attention_backward.h"

#include <fmt/core.h>

#include <algorithm>
#include <initializer_list>
#include <vector>

#include "base/arena.h"
#include "kernels/attention_backward_inputs.h"
#include "kernels/attention_backward_kernel.h"
#include "kernels/attention_task.h"
#include "kernels/choice.h"
#include "kernels/profile.h"
#include "kernels/reference/reference.h"
#include "kernels/row_blocks.h"

namespace deberta {
namespace {

constexpr Operation kOperation = Operation::kAttentionBackward;
using Params = AttentionBackwardParams;

// The forward call, without its outputs and tables.
AttentionParams forward_of(const Params& p) {
  const auto input = [&](const HeadRows<const float>& fp32, const HeadRows<const Bf16>& bf16) {
    if (p.precision == Precision::kBf16) return HeadRows<const void>{bf16.data, bf16.token_stride, bf16.head_stride};
    return HeadRows<const void>{fp32.data, fp32.token_stride, fp32.head_stride};
  };
  AttentionParams f{};
  f.precision = p.precision;
  f.q = input(p.q, p.q_bf16);
  f.k = input(p.k, p.k_bf16);
  f.v = input(p.v, p.v_bf16);
  f.out = {p.dq.data, p.dq.token_stride, p.dq.head_stride};  // no backward kernel reads or writes it
  f.sequences = p.sequences;
  f.heads = p.heads;
  f.head_size = p.head_size;
  f.starts = p.starts;
  f.query_starts = p.query_starts;
  f.query_positions = p.query_positions;
  f.scale = p.scale;
  f.has_c2p = p.kr.data != nullptr;
  f.has_p2c = p.qr.data != nullptr;
  f.lut = f.has_c2p || f.has_p2c ? p.lut : nullptr;
  f.key_mask_T = p.key_mask_T;
  f.query_mask_T = p.query_mask_T;
  f.is_causal = p.is_causal;
  f.dropout = p.dropout;
  return f;
}

bool has_terms(const Params& p) {
  return p.kr.data != nullptr || p.qr.data != nullptr;
}

size_t queries_of(const Params& p) {
  return static_cast<size_t>((p.query_starts != nullptr ? p.query_starts : p.starts)[p.sequences]);
}

void check_arguments(const Params& p, KernelLevel level) {
  const bool has_queries = queries_of(p) > 0, has_keys = p.starts[p.sequences] > 0;
  const auto has_all = [](std::initializer_list<const void*> pointers) {
    return std::none_of(pointers.begin(), pointers.end(), [](const void* x) { return x == nullptr; });
  };
  require(kOperation, p.scratch != nullptr && p.head_size > 0, "a null pointer");
  require(kOperation, p.precision != Precision::kInt8, "expected fp32 or bf16");
  const AttentionParams inputs = forward_of(p);
  require(kOperation, !has_queries || has_all({inputs.q.data, p.dout.data, p.dq.data}), "a null pointer");
  require(kOperation, !has_keys || has_all({inputs.k.data, inputs.v.data, p.dk.data, p.dv.data}), "a null pointer");
  require(kOperation, !has_queries || level == KernelLevel::kReference || has_all({p.out.data, p.lse_HT}),
          "outputs of the forward call");
  require(kOperation, p.dropout.threshold() < 256 && p.dropout.p >= 0, "dropout outside [0, 1)");
  if (!has_terms(p)) return;
  require(kOperation, p.lut != nullptr && p.relative_rows == static_cast<size_t>(p.lut->rows()),
          "a relative term without row numbers");
  require(kOperation,
          (p.kr.data == nullptr || p.dkr.data != nullptr) && (p.qr.data == nullptr || p.dqr.data != nullptr),
          "a relative term without its gradient");
  for (size_t t = 0; p.query_positions != nullptr && t < queries_of(p); ++t)
    require(kOperation, p.query_positions[t] >= 0, "a negative query position");
  require(kOperation, end_of_attention_positions(inputs) <= p.lut->max_length(),
          "a sequence longer than the table of rows");
}

// A kernel as a call runs it.
struct Chosen {
  const AttentionBackwardKernel& kernel;
  bool reads_pairs;    // packed tables
  bool rounds_tables;  // before the kernel reads them
};

// Where the parts of a call's scratch begin, in bytes.
struct Plan {
  RelativeTableParams table;
  AttentionExtent extent{};
  size_t table_bytes = 0;  // all heads together
  size_t sum_count = 0;    // numbers of one table of one head
  size_t sums = 0, workers = 0, worker_bytes = 0, rounded = 0, size_bytes = 0;

  Plan(const Chosen& chosen, const Params& p)
      : table{.heads = p.heads, .head_size = p.head_size, .rows = p.relative_rows, .parallel = p.parallel},
        extent(attention_extent(forward_of(p))) {
    table_bytes = has_terms(p) ? Arena::bytes_for<std::byte>(attention_table_bytes(chosen.reads_pairs, table)) : 0;
    sum_count = has_terms(p) ? p.relative_rows * p.head_size : 0;
    sums = 2 * table_bytes;
    workers = sums + Arena::bytes_for<float>(kGradientChunks * p.heads * 2 * sum_count);
    worker_bytes = Arena::bytes_for<std::byte>(chosen.kernel.scratch_bytes(extent));
    rounded = workers + p.parallel.workers * worker_bytes;
    size_bytes = rounded + (chosen.rounds_tables ? rounded_tables_bytes(p) : 0);
  }

  std::byte* at(const Params& p, size_t offset) const { return static_cast<std::byte*>(p.scratch) + offset; }
  // [chunk][head][kr, qr][R][K]
  float* sum(const Params& p, size_t chunk, size_t head, size_t which) const {
    return reinterpret_cast<float*>(at(p, sums)) + ((chunk * p.heads + head) * 2 + which) * sum_count;
  }
};

// The sequences of a run: as many keys as those of the others, about.
struct Run {
  size_t begin, end;
};
Run run_of(const Params& p, size_t chunk) {
  const auto first = [&](size_t n) {
    const auto keys = static_cast<size_t>(p.starts[p.sequences]);
    const auto first_key = static_cast<int32_t>(n * keys / kGradientChunks);
    return static_cast<size_t>(std::lower_bound(p.starts, p.starts + p.sequences, first_key) - p.starts);
  };
  return {first(chunk), chunk + 1 == kGradientChunks ? p.sequences : first(chunk + 1)};
}

template <class Data>
Data* row_at(const HeadRows<Data>& rows, size_t row, size_t head) {
  return rows.data + rows.offset(row, head);
}

AttentionBackwardTask make_task(const Params& p, const AttentionParams& forward, size_t sequence, size_t head) {
  const auto query = static_cast<size_t>(query_starts_of(forward)[sequence]);
  const auto key = static_cast<size_t>(p.starts[sequence]);
  AttentionBackwardTask t{};
  t.forward = attention_task(forward, sequence, head);
  t.scale = static_cast<float>(p.scale);
  if (t.forward.queries > 0) {
    t.lse = p.lse_HT + head * queries_of(p) + query;
    t.out = row_at(p.out, query, head);
    t.dout = row_at(p.dout, query, head);
    t.dq = row_at(p.dq, query, head);
  }
  if (t.forward.keys > 0) {
    t.dk = row_at(p.dk, key, head);
    t.dv = row_at(p.dv, key, head);
  }
  t.out_stride = p.out.token_stride;
  t.dout_stride = p.dout.token_stride;
  t.dq_stride = p.dq.token_stride;
  t.dk_stride = p.dk.token_stride;
  t.dv_stride = p.dv.token_stride;
  if (p.kr.data != nullptr) t.kr = row_at(p.kr, 0, head);
  if (p.qr.data != nullptr) t.qr = row_at(p.qr, 0, head);
  t.kr_stride = p.kr.token_stride;
  t.qr_stride = p.qr.token_stride;
  return t;
}

// The tables as the scores read them.
AttentionParams with_tables(bool has_pairs, const Plan& plan, const Params& p) {
  AttentionParams forward = forward_of(p);
  RelativeTableParams table = plan.table;
  if (forward.has_p2c) forward.qr = attention_pack_table(has_pairs, table, p.qr, plan.at(p, plan.table_bytes));
  table.is_reversed = true;
  if (forward.has_c2p) forward.kr = attention_pack_table(has_pairs, table, p.kr, plan.at(p, 0));
  return forward;
}

// dkr or dqr: the sums of the runs, in order.
void store_table(const Plan& plan, const Params& p, size_t head, size_t which, const HeadRows<float>& out) {
  for (size_t row = 0; row < p.relative_rows; ++row) std::fill_n(row_at(out, row, head), p.head_size, 0.0f);
  for (size_t chunk = 0; chunk < kGradientChunks; ++chunk) {
    const Run run = run_of(p, chunk);
    for (size_t row = 0; run.begin < run.end && row < p.relative_rows; ++row) {
      float* out_K = row_at(out, row, head);
      const float* sum_K = plan.sum(p, chunk, head, which) + row * p.head_size;
      for (size_t k = 0; k < p.head_size; ++k) out_K[k] += sum_K[k];
    }
  }
}

void run_kernel(const Chosen& chosen, const Params& params) {
  const Plan plan(chosen, params);
  const Params p = chosen.rounds_tables ? with_rounded_tables(params, plan.at(params, plan.rounded)) : params;
  const AttentionParams forward = with_tables(chosen.reads_pairs, plan, p);
  parallel_for(p.parallel, kGradientChunks * p.heads, [&](size_t index, size_t worker) {
    const size_t chunk = index / p.heads, head = index % p.heads;
    const Run run = run_of(p, chunk);
    if (run.begin == run.end) return;
    std::fill_n(plan.sum(p, chunk, head, 0), 2 * plan.sum_count, 0.0f);
    for (size_t b = run.begin; b < run.end; ++b) {
      AttentionBackwardTask task = make_task(p, forward, b, head);
      task.dkr = plan.sum(p, chunk, head, 0);
      task.dqr = plan.sum(p, chunk, head, 1);
      chosen.kernel.add_gradients(task, plan.extent, plan.at(p, plan.workers + worker * plan.worker_bytes));
    }
  });
  if (!has_terms(p)) return;
  parallel_for(p.parallel, p.heads, [&](size_t head, size_t) {
    if (forward.has_c2p) store_table(plan, p, head, 0, p.dkr);
    if (forward.has_p2c) store_table(plan, p, head, 1, p.dqr);
  });
}

size_t reference_bytes(const KernelSet& kernels, const Params& p) {
  return reference_attention_backward_scratch_bytes(p) * p.parallel.workers +
         (p.precision == Precision::kBf16 ? widened_inputs_bytes(p) : 0) +
         (has_rounded_tables(kernels, p) ? rounded_tables_bytes(p) : 0);
}

void run_reference(const KernelSet& kernels, const Params& params) {
  const size_t per_worker = reference_attention_backward_scratch_bytes(params);
  auto* scratch = static_cast<std::byte*>(params.scratch);
  std::byte* copies = scratch + per_worker * params.parallel.workers;
  Params p = params;
  if (params.precision == Precision::kBf16) {
    p = with_widened_inputs(params, copies);
    copies += widened_inputs_bytes(params);
  }
  if (has_rounded_tables(kernels, params)) p = with_rounded_tables(p, copies);
  parallel_for(p.parallel, p.heads, [&](size_t head, size_t worker) {
    reference_attention_backward(p, head, scratch + worker * per_worker);
  });
}

// For a level that has a kernel.
Chosen chosen_for(const KernelSet& kernels, KernelLevel level, const Params& p) {
  const bool reads_pairs = implementation(level).multiplies_pairs;
  return {*kernel_of(level, &ImplementationRow::attention_backward, p.precision), reads_pairs,
          !reads_pairs && has_rounded_tables(kernels, p)};
}

void run(const KernelSet& kernels, KernelLevel level, const Params& p) {
  count_call(kOperation, level, p.precision);
  if (level == KernelLevel::kReference) return run_reference(kernels, p);
  run_kernel(chosen_for(kernels, level, p), p);
}

// The reference writes densely, into memory of its own: the outputs may be strided.
void run_checked(const KernelSet& kernels, KernelLevel level, const Params& p, KernelCheck& check) {
  run(kernels, level, p);
  const size_t columns = p.heads * p.head_size, keys = static_cast<size_t>(p.starts[p.sequences]);
  struct Output {
    const char* name;
    HeadRows<float> Params::*rows;
    size_t count;
    std::vector<float> expected{};
  } outputs[] = {{"dq", &Params::dq, queries_of(p)},
                 {"dk", &Params::dk, keys},
                 {"dv", &Params::dv, keys},
                 {"dkr", &Params::dkr, p.kr.data != nullptr ? p.relative_rows : 0},
                 {"dqr", &Params::dqr, p.qr.data != nullptr ? p.relative_rows : 0}};
  std::vector<std::byte> scratch(reference_bytes(kernels, p));
  Params reference = p;
  reference.scratch = scratch.data();
  for (Output& output : outputs) {
    output.expected.resize(output.count * columns);
    reference.*output.rows = {output.expected.data(), columns, p.head_size};
  }
  run_reference(kernels, reference);
  WorstElement worst;
  const char* where = outputs[0].name;
  for (const Output& output : outputs) {
    const WorstElement output_worst = find_worst(output.count, columns, [&](size_t row, size_t column) {
      const float got = row_at(p.*output.rows, row, column / p.head_size)[column % p.head_size];
      return double{got} - double{output.expected[row * columns + column]};
    });
    if (output_worst.difference <= worst.difference) continue;  // a NaN is not less
    worst = output_worst;
    where = output.name;
  }
  check.record(kOperation, worst.difference,
               fmt::format("[T {}, H {}, K {}] {} row {} column {}", queries_of(p), p.heads, p.head_size, where,
                           worst.row, worst.column));
}

}  // namespace

KernelLevel attention_backward_level(const KernelSet& kernels, const Params& p) {
  const KernelLevel level =
      level_for_heads(usable_levels(), kOperation, p.precision, kernels.level_of(kOperation, p.precision), p.head_size);
  if (level == KernelLevel::kReference || !has_terms(p) || p.lut->has_unit_steps()) return level;
  return KernelLevel::kReference;
}

size_t attention_backward_scratch_bytes(const KernelSet& kernels, const Params& params) {
  const KernelLevel level = attention_backward_level(kernels, params);
  if (level == KernelLevel::kReference) return reference_bytes(kernels, params);
  return Plan(chosen_for(kernels, level, params), params).size_bytes;
}

void attention_backward(const KernelSet& kernels, const Params& params) {
  if (params.sequences == 0) return;
  require(kOperation, params.starts != nullptr, "a null pointer");
  require(kOperation, !has_terms(params) || params.lut != nullptr, "a relative term without row numbers");
  const KernelLevel level = attention_backward_level(kernels, params);
  check_arguments(params, level);
  const ProfileTimer timer(
      {.operation = kOperation, .precision = params.precision, .outputs = params.heads * params.head_size},
      {.rows = queries_of(params), .workers = params.parallel.workers});
  if (kernels.check != nullptr) {
    run_checked(kernels, level, params, *kernels.check);
  } else {
    run(kernels, level, params);
  }
}

}  // namespace deberta
