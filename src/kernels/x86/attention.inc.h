// Attention of one sequence and one head, without gathers and without an L x L buffer:
//   for each block of keys:     K^T and P2C = K Qr^T, only the table rows that some query reaches    (shared scratch)
//   for each block of queries:  C2P = Q KrRev^T, only the rows reached; S = skew(C2P) + skew(P2C)^T; S += Q K^T;
//                               exact max, P = 2^(scale (S - max)) in place, its sum; O = P V / sum  (own scratch)
// S holds all keys of a block of queries, so there is no running maximum to correct, and every sum has one fixed order:
// q k ascending in d, then added to p2c + c2p; exponentials by lane, then across lanes; p v ascending in keys, a chain
// for each kDepth of them (AMX: a chain begins with what it is added to). Memory is linear in the length. Included by
// attention_<format>_<isa>.cpp after the operands (attention_fp32 or attention_bf16) and products.

namespace deberta {
namespace {

// Offsets in bytes, strides in 32-bit columns.
struct Layout {
  size_t keys, kt_stride, p2c_stride, s_stride, c2p_stride;
  size_t p2c, p2c_low, p2c_high, bits, values, shared_bytes;  // K^T is at 0
  size_t c2p, left, out, own_bytes;                           // S is at 0
};

constexpr size_t kPad = 16;  // keeps strides off powers of two, and lets a vector start at the last column

Layout layout_of(const AttentionExtent& e) {
  Layout l{};
  l.keys = round_up(e.keys, kKeyUnit);
  const auto band = [&](size_t distances) {
    return e.rows == 0 ? 0 : round_up(distances < e.rows ? distances : e.rows, kUnit) + 2 * kPad;
  };
  l.kt_stride = l.s_stride = l.keys + kPad;
  l.p2c_stride = band(e.positions + kBlock);
  l.c2p_stride = band(l.keys + e.positions);
  const auto bytes = [](size_t floats) { return round_up(floats * sizeof(float), 64); };
  l.p2c = bytes(e.head_size / kPack * l.kt_stride);
  l.p2c_low = l.p2c + bytes(l.keys * l.p2c_stride);
  l.p2c_high = l.p2c_low + bytes(l.keys);
  l.bits = l.p2c_high + bytes(l.keys);
  l.values = l.bits + round_up(l.keys / 8 + 8, 64);
  l.shared_bytes = l.values + round_up(value_bytes(e, l.keys), 64);
  l.c2p = bytes(kBlock * l.s_stride);
  l.left = l.c2p + bytes(kBlock * l.c2p_stride);
  l.out = l.left + round_up(left_bytes(e), 64);
  l.own_bytes = l.out + bytes(e.is_bf16 ? kBlock * e.head_size : 0);
  return l;
}

inline char* at(void* scratch, size_t offset) {
  return (char*)scratch + offset;
}
inline float* floats_at(void* scratch, size_t offset) {
  return (float*)at(scratch, offset);
}

// Columns j .. of K^T; keys at and beyond `count` become zeros. A number of K^T is a pack of kPack.
void transpose_keys(const Left& k, size_t count, size_t packs, float* kt, size_t kt_stride) {
  const size_t stride = k.stride / kPack;
  for (size_t j = 0; j < count; j += kLanes) {
    for (size_t i = 0; i < packs; i += kLanes) {
      const float* from = (const float*)k.data + j * stride + i;
      Vector r[kLanes];
      if (j + kLanes <= count) {
        DEBERTA_UNROLL
        for (size_t q = 0; q < kLanes; ++q) r[q] = load(from + q * stride);
      } else {
        for (size_t q = 0; q < kLanes; ++q) r[q] = j + q < count ? load(from + q * stride) : zero();
      }
      transpose(r);
      DEBERTA_UNROLL
      for (size_t q = 0; q < kLanes; ++q) store(kt + (i + q) * kt_stride + j, r[q]);
    }
  }
}

// c = rows of a times the band of a relative table.
void table_product(const AttentionTask& t, const Left& a, size_t rows, const void* table, const Band& band, float* c,
                   size_t c_stride) {
  Product p{};
  p.a = a.data;
  p.a_stride = a.stride;
  p.b = (const float*)table + band.first;
  p.b_stride = t.table_stride;
  p.rows = rows;
  p.columns = band.columns;
  p.depth = t.head_size;
  p.c = c;
  p.c_stride = c_stride;
  product<false>(p);
}

void prepare_keys(const AttentionTask& t, const AttentionExtent& extent, size_t begin, size_t end, void* shared,
                  void* own) {
  const Layout l = layout_of(extent);
  const Left k = left_of(t, t.k, t.k_stride, begin, end, at(own, l.left));
  transpose_keys(k, end - begin, t.head_size / kPack, floats_at(shared, 0) + begin, l.kt_stride);
  prepare_values(t, begin, end, at(shared, l.values));
  if (t.key_mask != nullptr) pack_key_bits(t.key_mask, begin, end, (uint16_t*)at(shared, l.bits));
  if (t.qr == nullptr) return;
  const Band band = key_band(t, begin, end);
  float* p2c = floats_at(shared, l.p2c);
  begin_products();
  table_product(t, k, end - begin, t.qr, band, p2c + begin * l.p2c_stride, l.p2c_stride);
  end_products();
  keep_ends(t, band, begin, end, p2c, l.p2c_stride, floats_at(shared, l.p2c_low), floats_at(shared, l.p2c_high));
}

// S = the relative terms, where there are any.
void relative_terms(const AttentionTask& t, const Layout& l, const Left& q, size_t begin, size_t end, void* shared,
                    void* own) {
  if (t.keys == 0) return;
  Bands b{};
  b.p2c = floats_at(shared, l.p2c);
  b.p2c_stride = l.p2c_stride;
  b.p2c_low = floats_at(shared, l.p2c_low);
  b.p2c_high = floats_at(shared, l.p2c_high);
  b.c2p = floats_at(own, l.c2p);
  b.c2p_stride = l.c2p_stride;
  float* s = floats_at(own, 0);
  if (t.kr != nullptr) {
    const Band band = query_band(t, begin, end);
    b.c2p_first = band.first;
    table_product(t, q, end - begin, t.kr, band, floats_at(own, l.c2p), l.c2p_stride);
  }
  if (t.kr != nullptr && t.qr != nullptr) {
    skew<true, true>(t, b, begin, end, kBlock, s, l.s_stride);
  } else if (t.kr != nullptr) {
    skew<true, false>(t, b, begin, end, kBlock, s, l.s_stride);
  } else if (t.qr != nullptr) {
    skew<false, true>(t, b, begin, end, kBlock, s, l.s_stride);
  }
}

// S += Q K^T
void content_scores(const AttentionTask& t, const Layout& l, const Left& q, size_t rows, void* shared, void* own) {
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
  product<false>(p);
}

// Rows of S become those of P; factors[i] = 1 / sum, 0 without a key.
void probabilities(const AttentionTask& t, const Layout& l, size_t begin, size_t end, void* shared, void* own,
                   float* factors) {
  const size_t words = (t.keys + 63) / 64, padded = kPadsKeys ? round_up(t.keys, kKeyUnit) : 0;
  for (size_t i = begin; i < end; ++i) {
    float* s_S = floats_at(own, 0) + (i - begin) * l.s_stride;
    const Allowed allowed{.keys = t.keys,
                          .key_bits = t.key_mask != nullptr ? (const uint16_t*)at(shared, l.bits) : nullptr,
                          .query_bits = t.mask != nullptr ? t.mask + (size_t)position_of(t, i) * words : nullptr};
    const auto put = [&](size_t j, Vector p) { put_probabilities(s_S, j, p); };
    RowSum row{.has_key = false, .largest = 0, .sum = 0};
    if (t.query_mask == nullptr || t.query_mask[i] != 0) {
      row = allowed.has_masks() ? softmax<true>(s_S, allowed, padded, t.scale, put)
                                : softmax<false>(s_S, allowed, padded, t.scale, put);
    }
    factors[i - begin] = row.has_key ? 1 / row.sum : 0;
    if (t.lse != nullptr) t.lse[i] = row.has_key ? row.largest + __builtin_log2f(row.sum) : -__builtin_inff();
  }
}

// c = P V by steps of keys, so that a step of V stays in L1.
void value_product(const AttentionTask& t, const Layout& l, size_t rows, void* shared, void* own, float* c,
                   size_t c_stride) {
  const Right v = values_of(t, at(shared, l.values));
  const size_t keys = kPadsKeys ? round_up(t.keys, kKeyUnit) : t.keys;
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
    if (!kPadsKeys && (t.key_mask != nullptr || t.mask != nullptr)) {
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
  relative_terms(t, l, q, begin, end, shared, own);
  content_scores(t, l, q, end - begin, shared, own);
  probabilities(t, l, begin, end, shared, own, factors);
  float* products = t.is_bf16 ? floats_at(own, l.out) : (float*)t.out + begin * t.out_stride;
  const size_t stride = t.is_bf16 ? t.head_size : t.out_stride;
  value_product(t, l, end - begin, shared, own, products, stride);
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
