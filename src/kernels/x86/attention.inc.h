// Attention of one sequence and one head, without gathers and without an L x L buffer:
//   for each block of keys:     K^T and P2C = K Qr^T, only the table rows that some query reaches    (shared scratch)
//   for each block of queries:  C2P = Q KrRev^T, only the rows reached; S = skew(C2P) + skew(P2C)^T; S += Q K^T;
//                               exact max, P = 2^(scale (S - max)) in place, its sum; O = P V / sum  (own scratch)
// S holds all keys of a block of queries, so there is no running maximum to correct, and every sum has one fixed order:
// q k ascending in d, then added to p2c + c2p; exponentials by lane, then across lanes; p v ascending in keys, a chain
// for each kDepth of them (AMX: a chain begins with what it is added to). Memory is linear in the length. Included by
// attention_<format>_<isa>.cpp after the operands (attention_fp32 or attention_bf16) and products.

#include "kernels/x86/attention_block.inc.h"

namespace deberta {
namespace {

template <class Put>
inline RowSum masked_softmax(const float* s_S, const Allowed& allowed, size_t padded, float scale, const Put& put) {
  return allowed.has_masks() ? softmax<true>(s_S, allowed, padded, scale, put)
                             : softmax<false>(s_S, allowed, padded, scale, put);
}

// The softmax of one row of S, all `padded` numbers of it. The sum is that of all probabilities, those that are dropped
// too.
inline RowSum row_probabilities(const AttentionTask& t, const Layout& l, size_t query, size_t padded, float* s_S,
                                void* shared, void* own) {
  const Allowed allowed = allowed_of(t, l, query, shared);
  if (t.dropout.threshold == 0) {
    return masked_softmax(s_S, allowed, padded, t.scale, [&](size_t j, Vector p) { put_probabilities(s_S, j, p); });
  }
  uint16_t* kept = (uint16_t*)at(own, l.kept);
  keep_bits(t.dropout, (uint32_t)position_of(t, query), allowed.keys, kept);
  return masked_softmax(s_S, allowed, padded, t.scale, [&](size_t j, Vector p) {
    put_probabilities(s_S, j, select(to_mask((uint64_t)kept[j / 16] >> (j % 16)), p, zero()));
  });
}

// Rows of S become those of P for the first `keys`; factors[i] = scale of dropout / sum, 0 without a key.
void probabilities(const AttentionTask& t, const Layout& l, size_t begin, size_t end, size_t keys, void* shared,
                   void* own, float* factors) {
  const size_t padded = kPadsKeys ? round_up(keys, kKeyUnit) : keys;
  for (size_t i = begin; i < end; ++i) {
    float* s_S = floats_at(own, 0) + (i - begin) * l.s_stride;
    RowSum row{.has_key = false, .largest = 0, .sum = 0};
    if (t.query_mask == nullptr || t.query_mask[i] != 0) row = row_probabilities(t, l, i, padded, s_S, shared, own);
    factors[i - begin] = row.has_key ? t.dropout.scale / row.sum : 0;
    if (t.lse != nullptr) t.lse[i] = row.has_key ? row.largest + __builtin_log2f(row.sum) : -__builtin_inff();
  }
}

// c = P V of the first keys, by steps of them, so that a step of V stays in L1.
void value_product(const AttentionTask& t, const Layout& l, size_t rows, size_t first_keys, void* shared, void* own,
                   float* c, size_t c_stride) {
  const Right v = values_of(t, at(shared, l.values));
  const size_t keys = kPadsKeys ? round_up(first_keys, kKeyUnit) : first_keys;
  Product p{};
  p.a_stride = l.s_stride * sizeof(float) / sizeof(Number);
  p.b_stride = v.stride;
  p.rows = rows;
  p.columns = t.head_size;
  p.c = c;
  p.c_stride = c_stride;
  for (size_t j = 0; j < keys; j += kDepth) {
    p.a = (const Number*)at(own, 0) + j;
    p.b = v.data + j / kPack * v.stride;
    p.depth = keys - j < kDepth ? keys - j : kDepth;
    p.adds = j > 0;
    if (!kPadsKeys && (t.key_mask != nullptr || t.mask != nullptr || t.is_causal)) {
      product<!kPadsKeys>(p);
    } else {
      product<false>(p);
    }
  }
}

// Rows [begin, end) of O: the products times their factors, in the precision of the task.
void store_outputs(const AttentionTask& t, size_t begin, size_t end, const float* products, size_t stride,
                   const float* factors) {
  for (size_t i = begin; i < end; ++i) {
    const float* from = products + (i - begin) * stride;
    const Vector factor = all(factors[i - begin]);
    for (size_t d = 0; d < t.head_size; d += kLanes) {
      const Vector x = factors[i - begin] == 0 ? zero() : multiply(load(from + d), factor);
      const size_t offset = i * t.out_stride + d;
      if (t.is_bf16) {
        store_halves((uint16_t*)t.out + offset, to_bf16(x));
      } else {
        store((float*)t.out + offset, x);
      }
    }
  }
}

void attend(const AttentionTask& t, const AttentionExtent& extent, size_t begin, size_t end, void* shared, void* own) {
  const Layout l = layout_of(extent);
  float factors[kBlock];
  begin_products();
  const Left q = left_of(t, t.q, t.q_stride, begin, end, at(own, l.left));
  const size_t keys = keys_seen(t, end - 1);  // by any query of the block
  relative_terms(t, l, q, begin, end, keys, shared, own);
  content_scores(t, l, q, end - begin, keys, shared, own);
  probabilities(t, l, begin, end, keys, shared, own, factors);
  float* products = t.is_bf16 ? floats_at(own, l.out) : (float*)t.out + begin * t.out_stride;
  const size_t stride = t.is_bf16 ? t.head_size : t.out_stride;
  value_product(t, l, end - begin, keys, shared, own, products, stride);
  store_outputs(t, begin, end, products, stride, factors);
  end_products();
}

size_t shared_bytes(const AttentionExtent& extent) {
  return layout_of(extent).shared_bytes;
}
size_t own_bytes(const AttentionExtent& extent) {
  return layout_of(extent).own_bytes;
}

constexpr AttentionKernel kKernel = {.block = kBlock,
                                     .shared_bytes = shared_bytes,
                                     .own_bytes = own_bytes,
                                     .prepare_keys = prepare_keys,
                                     .attend = attend};

}  // namespace
}  // namespace deberta
