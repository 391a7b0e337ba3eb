// Scores of a block of queries, in scratch: what attention and its gradient begin with (attention.inc.h). Included
// after the operands and products.

namespace deberta {
namespace {

// Offsets in bytes, strides in 32-bit columns.
struct Layout {
  size_t keys, kt_stride, p2c_stride, s_stride, c2p_stride;
  size_t p2c, p2c_low, p2c_high, bits, values, shared_bytes;  // K^T is at 0
  size_t c2p, left, out, kept, own_bytes;                     // S is at 0
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
  l.kept = l.out + bytes(e.is_bf16 ? kBlock * e.head_size : 0);
  l.own_bytes = l.kept + round_up((l.keys / 16 + kLanes / 2) * sizeof(uint16_t), 64);
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

// S = the relative terms with the first keys, where there are any.
void relative_terms(const AttentionTask& t, const Layout& l, const Left& q, size_t begin, size_t end, size_t keys,
                    void* shared, void* own) {
  if (keys == 0) return;
  Bands b{};
  b.p2c = floats_at(shared, l.p2c);
  b.p2c_stride = l.p2c_stride;
  b.p2c_low = floats_at(shared, l.p2c_low);
  b.p2c_high = floats_at(shared, l.p2c_high);
  b.c2p = floats_at(own, l.c2p);
  b.c2p_stride = l.c2p_stride;
  float* s = floats_at(own, 0);
  if (t.kr != nullptr) {
    const Band band = query_band(t, begin, end, keys);
    b.c2p_first = band.first;
    table_product(t, q, end - begin, t.kr, band, floats_at(own, l.c2p), l.c2p_stride);
  }
  if (t.kr != nullptr && t.qr != nullptr) {
    skew<true, true>(t, b, begin, end, keys, kBlock, s, l.s_stride);
  } else if (t.kr != nullptr) {
    skew<true, false>(t, b, begin, end, keys, kBlock, s, l.s_stride);
  } else if (t.qr != nullptr) {
    skew<false, true>(t, b, begin, end, keys, kBlock, s, l.s_stride);
  }
}

// S += Q K^T, with the first keys.
void content_scores(const AttentionTask& t, const Layout& l, const Left& q, size_t rows, size_t keys, void* shared,
                    void* own) {
  Product p{};
  p.a = q.data;
  p.a_stride = q.stride;
  p.b = floats_at(shared, 0);
  p.b_stride = l.kt_stride;
  p.rows = rows;
  p.columns = round_up(keys, kUnit);
  p.depth = t.head_size;
  p.c = floats_at(own, 0);
  p.c_stride = l.s_stride;
  p.adds = t.kr != nullptr || t.qr != nullptr;
  product<false>(p);
}

inline Allowed allowed_of(const AttentionTask& t, const Layout& l, size_t query, void* shared) {
  const size_t words = (t.keys + 63) / 64;
  return {.keys = keys_seen(t, query),
          .key_bits = t.key_mask != nullptr ? (const uint16_t*)at(shared, l.bits) : nullptr,
          .query_bits = t.mask != nullptr ? t.mask + (size_t)position_of(t, query) * words : nullptr};
}

}  // namespace
}  // namespace deberta
