// fp32 attention of one sequence and one head, without gathers and without an L x L buffer:
//   for each block of keys:     K^T and P2C = K Qr^T, only the table rows that some query reaches    (shared scratch)
//   for each block of queries:  C2P = Q KrRev^T, only the rows reached; S = skew(C2P) + skew(P2C)^T; S += Q K^T;
//                               exact max, P = 2^(scale (S - max)) in place, its sum; O = P V / sum  (own scratch)
// S holds all keys of a block of queries, so there is no running maximum to correct, and every sum has one fixed order:
// p2c + c2p, then q k ascending in d; exponentials by lane, then across lanes; p v ascending in keys. Memory is linear
// in the length. bf16 inputs are widened once per block and outputs rounded. Included by attention_<isa>.cpp after
// attention_fp32.inc.h and attention_rows.inc.h.

namespace deberta {
namespace {

// Offsets in bytes, strides in floats.
struct Layout {
  size_t keys, kt_stride, p2c_stride, s_stride, c2p_stride;
  size_t p2c, bits, wide_k, wide_v, shared_bytes;  // K^T is at 0
  size_t c2p, wide_q, wide_out, own_bytes;         // S is at 0
};

constexpr size_t kPad = 16;  // keeps strides off powers of two, and lets a vector start at the last column

Layout layout_of(const AttentionExtent& e) {
  Layout l{};
  l.keys = round_up(e.keys, kUnit);
  const auto band = [&](size_t distances) {
    return e.rows == 0 ? 0 : round_up(distances < e.rows ? distances : e.rows, kUnit) + 2 * kPad;
  };
  l.kt_stride = l.s_stride = l.keys + kPad;
  l.p2c_stride = band(e.positions + kBlock);
  l.c2p_stride = band(l.keys + e.positions);
  const auto bytes = [](size_t floats) { return round_up(floats * sizeof(float), 64); };
  const size_t wide = e.is_bf16 ? e.head_size : 0;
  l.p2c = bytes(e.head_size * l.kt_stride);
  l.bits = l.p2c + bytes(l.keys * l.p2c_stride);
  l.wide_k = l.bits + round_up(l.keys / 8 + 8, 64);
  l.wide_v = l.wide_k + bytes(l.keys * wide);
  l.shared_bytes = l.wide_v + bytes(l.keys * wide);
  l.c2p = bytes(kBlock * l.s_stride);
  l.wide_q = l.c2p + bytes(kBlock * l.c2p_stride);
  l.wide_out = l.wide_q + bytes(kBlock * wide);
  l.own_bytes = l.wide_out + bytes(kBlock * wide);
  return l;
}

inline float* floats_at(void* scratch, size_t offset) {
  return (float*)((char*)scratch + offset);
}

struct Rows {
  const float* data;
  size_t stride;
};

// Rows begin .. end of an input as fp32: in place, or widened into `wide`, whose row 0 is row `begin`.
Rows rows_of(const AttentionTask& t, const void* data, size_t stride, size_t begin, size_t end, float* wide) {
  if (!t.is_bf16) return {(const float*)data + begin * stride, stride};
  for (size_t row = begin; row < end; ++row) {
    const uint16_t* from = (const uint16_t*)data + row * stride;
    float* to = wide + (row - begin) * t.head_size;
    for (size_t i = 0; i < t.head_size; i += kLanes) store(to + i, from_bf16(from + i));
  }
  return {wide, t.head_size};
}

// Columns j .. of K^T; keys at and beyond `count` become zeros.
void transpose_keys(const Rows& k, size_t count, size_t head_size, float* kt, size_t kt_stride) {
  for (size_t j = 0; j < count; j += kLanes) {
    for (size_t i = 0; i < head_size; i += kLanes) {
      Vector r[kLanes];
      if (j + kLanes <= count) {
        DEBERTA_UNROLL_ALL
        for (size_t q = 0; q < kLanes; ++q) r[q] = load(k.data + (j + q) * k.stride + i);
      } else {
        for (size_t q = 0; q < kLanes; ++q) r[q] = j + q < count ? load(k.data + (j + q) * k.stride + i) : zero();
      }
      transpose(r);
      DEBERTA_UNROLL_ALL
      for (size_t q = 0; q < kLanes; ++q) store(kt + (i + q) * kt_stride + j, r[q]);
    }
  }
}

void prepare_keys(const AttentionTask& t, const AttentionExtent& extent, size_t begin, size_t end, void* shared,
                  void* /*own*/) {
  const Layout l = layout_of(extent);
  const size_t at = begin * t.head_size;
  const Rows k = rows_of(t, t.k, t.k_stride, begin, end, floats_at(shared, l.wide_k) + at);
  if (t.is_bf16) rows_of(t, t.v, t.v_stride, begin, end, floats_at(shared, l.wide_v) + at);
  transpose_keys(k, end - begin, t.head_size, floats_at(shared, 0) + begin, l.kt_stride);
  if (t.key_mask != nullptr) pack_key_bits(t.key_mask, begin, end, (uint16_t*)((char*)shared + l.bits));
  if (t.qr == nullptr) return;
  const Band band = key_band(t, begin, end);
  Product p{};
  p.a = k.data;
  p.a_stride = k.stride;
  p.b = (const float*)t.qr + band.first;
  p.b_stride = t.table_stride;
  p.rows = end - begin;
  p.columns = band.columns;
  p.depth = t.head_size;
  p.c = floats_at(shared, l.p2c) + begin * l.p2c_stride;
  p.c_stride = l.p2c_stride;
  multiply<false>(p);
}

// S = the relative terms, where there are any.
void relative_terms(const AttentionTask& t, const Layout& l, const Rows& q, size_t begin, size_t end, void* shared,
                    void* own) {
  if (t.keys == 0) return;
  Bands b{floats_at(shared, l.p2c), l.p2c_stride, floats_at(own, l.c2p), l.c2p_stride, 0};
  float* s = floats_at(own, 0);
  if (t.kr != nullptr) {
    const Band band = query_band(t, begin, end);
    b.c2p_first = band.first;
    Product p{};
    p.a = q.data;
    p.a_stride = q.stride;
    p.b = (const float*)t.kr + band.first;
    p.b_stride = t.table_stride;
    p.rows = end - begin;
    p.columns = band.columns;
    p.depth = t.head_size;
    p.c = floats_at(own, l.c2p);
    p.c_stride = l.c2p_stride;
    multiply<false>(p);
  }
  if (t.kr != nullptr && t.qr != nullptr) {
    skew<true, true>(t, b, begin, end, kBlock, s, l.s_stride);
  } else if (t.kr != nullptr) {
    skew<true, false>(t, b, begin, end, kBlock, s, l.s_stride);
  } else if (t.qr != nullptr) {
    skew<false, true>(t, b, begin, end, kBlock, s, l.s_stride);
  }
}

void content_scores(const AttentionTask& t, const Layout& l, const Rows& q, size_t rows, void* shared, void* own) {
  Product p{};
  p.a = q.data;
  p.a_stride = q.stride;
  p.b = floats_at(shared, 0);
  p.b_stride = l.kt_stride;
  p.rows = rows;
  p.columns = round_up(t.keys, kUnit);
  p.depth = t.head_size;
  p.c = floats_at(own, 0);
  p.c_stride = l.s_stride;
  p.adds = t.kr != nullptr || t.qr != nullptr;
  multiply<false>(p);
}

// Rows of S become those of P; factors[i] = 1 / sum, 0 without a key.
void probabilities(const AttentionTask& t, const Layout& l, size_t begin, size_t end, void* shared, void* own,
                   float* factors) {
  const size_t words = (t.keys + 63) / 64;
  for (size_t i = begin; i < end; ++i) {
    float* s_S = floats_at(own, 0) + (i - begin) * l.s_stride;
    const Allowed allowed{t.keys, t.key_mask != nullptr ? (const uint16_t*)((char*)shared + l.bits) : nullptr,
                          t.mask != nullptr ? t.mask + (size_t)position_of(t, i) * words : nullptr};
    const auto put = [&](size_t j, Vector p) { store(s_S + j, p); };
    RowSum row{false, 0, 0};
    if (t.query_mask == nullptr || t.query_mask[i] != 0) {
      row = allowed.has_masks() ? softmax<true>(s_S, allowed, 0, t.scale, put)
                                : softmax<false>(s_S, allowed, 0, t.scale, put);
    }
    factors[i - begin] = row.has_key ? 1 / row.sum : 0;
    if (t.lse != nullptr) t.lse[i] = row.has_key ? row.largest + __builtin_log2f(row.sum) : -__builtin_inff();
  }
}

// O = P V by blocks of keys, so that a block of V stays in L1; then the division.
void outputs(const AttentionTask& t, const Layout& l, size_t begin, size_t end, const float* factors, void* shared,
             void* own) {
  constexpr size_t kDepth = 128;
  const bool is_masked = t.key_mask != nullptr || t.mask != nullptr;
  float* out = t.is_bf16 ? floats_at(own, l.wide_out) : (float*)t.out + begin * t.out_stride;
  const size_t out_stride = t.is_bf16 ? t.head_size : t.out_stride;
  const Rows v = t.is_bf16 ? Rows{floats_at(shared, l.wide_v), t.head_size} : Rows{(const float*)t.v, t.v_stride};
  Product p{};
  p.a_stride = l.s_stride;
  p.b_stride = v.stride;
  p.rows = end - begin;
  p.columns = t.head_size;
  p.c = out;
  p.c_stride = out_stride;
  for (size_t j = 0; j < t.keys; j += kDepth) {
    p.a = floats_at(own, 0) + j;
    p.b = v.data + j * v.stride;
    p.depth = t.keys - j < kDepth ? t.keys - j : kDepth;
    p.adds = j > 0;
    if (is_masked) {
      multiply<true>(p);
    } else {
      multiply<false>(p);
    }
  }
  for (size_t i = 0; i < end - begin; ++i) {
    const Vector factor = all(factors[i]);
    for (size_t d = 0; d < t.head_size; d += kLanes) {
      const Vector x = factors[i] == 0 ? zero() : multiply(load(out + i * out_stride + d), factor);
      if (t.is_bf16) {
        to_bf16((uint16_t*)t.out + (begin + i) * t.out_stride + d, x);
      } else {
        store(out + i * out_stride + d, x);
      }
    }
  }
}

void attend(const AttentionTask& t, const AttentionExtent& extent, size_t begin, size_t end, void* shared, void* own) {
  const Layout l = layout_of(extent);
  float factors[kBlock];
  const Rows q = rows_of(t, t.q, t.q_stride, begin, end, floats_at(own, l.wide_q));
  relative_terms(t, l, q, begin, end, shared, own);
  content_scores(t, l, q, end - begin, shared, own);
  probabilities(t, l, begin, end, shared, own, factors);
  outputs(t, l, begin, end, factors, shared, own);
}

size_t shared_bytes(const AttentionExtent& extent) {
  return layout_of(extent).shared_bytes;
}
size_t own_bytes(const AttentionExtent& extent) {
  return layout_of(extent).own_bytes;
}

constexpr AttentionKernel kKernel = {kBlock, shared_bytes, own_bytes, prepare_keys, attend};

}  // namespace
}  // namespace deberta
