// Attention: argument checks, the choice of implementation, one task per sequence and head.
#include "kernels/attention.h"

#include <algorithm>

#include "deberta/error.h"
#include "kernels/reference/reference.h"

namespace deberta {
namespace {

void require(bool is_right, const char* what) {
  if (!is_right) throw Error(ErrorCode::kInternal, "attention", what);
}

int64_t longest(const int32_t* starts, size_t sequences) {
  int64_t result = 0;
  for (size_t b = 0; b < sequences; ++b) result = std::max<int64_t>(result, starts[b + 1] - starts[b]);
  return result;
}

void check_arguments(const AttentionParams& p) {
  const bool has_keys = p.starts[p.sequences] > 0;
  require(p.q.data != nullptr && p.out.data != nullptr && p.scratch != nullptr && p.head_size > 0, "a null pointer");
  require(!has_keys || (p.k.data != nullptr && p.v.data != nullptr), "a null pointer");
  require(!p.has_c2p || p.kr.data != nullptr, "c2p without its table");
  require(!p.has_p2c || p.qr.data != nullptr, "p2c without its table");
  require(p.dropout.threshold() < 256 && p.dropout.p >= 0, "dropout outside [0, 1)");
  if (!p.has_c2p && !p.has_p2c) return;
  if (p.given_buckets_LS != nullptr) {
    require(p.relative_rows > 0, "given buckets without the number of rows");
    return;
  }
  require(p.lut != nullptr, "a relative term without row numbers");
  int64_t reach = longest(p.starts, p.sequences);
  const int32_t* query_starts = query_starts_of(p);
  reach = std::max(reach, longest(query_starts, p.sequences));
  if (p.query_positions != nullptr) {
    for (int32_t t = 0; t < query_starts[p.sequences]; ++t) {
      require(p.query_positions[t] >= 0, "a negative query position");
      reach = std::max<int64_t>(reach, p.query_positions[t] + 1);
    }
  }
  require(reach <= p.lut->max_length(), "a sequence longer than the table of rows");
}

}  // namespace

size_t attention_scratch_bytes(const KernelSet&, const AttentionParams& params) {
  return reference_attention_scratch_bytes(params) * params.parallel.workers;
}

void attention(const KernelSet& kernels, const AttentionParams& params) {
  if (params.sequences == 0) return;
  require(params.starts != nullptr, "a null pointer");
  if (query_starts_of(params)[params.sequences] == 0) return;
  check_arguments(params);
  count_call(Operation::kAttention, kernels.level_of(Operation::kAttention));
  const size_t per_worker = reference_attention_scratch_bytes(params);
  parallel_for(params.parallel, params.sequences * params.heads, [&](size_t task, size_t worker) {
    reference_attention(params, task / params.heads, task % params.heads,
                        static_cast<char*>(params.scratch) + worker * per_worker);
  });
}

}  // namespace deberta
