// Dropout of attention probabilities: which bits, and what they may depend on.
#include "kernels/dropout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "kernels/attention_case.h"

namespace deberta::dropout_test {
namespace {

using test::AttentionCase;

TEST(Dropout, PhiloxGivesThePublishedVectors) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (PhiloxCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}), (PhiloxCounter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (PhiloxCounter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Dropout, CounterAndKeyAreThoseOfTheDocument) {
  const Dropout d{.p = 0.1, .seed = 0x1122334455667788, .step = 5, .layer = 3, .sequence_offset = 10};
  const PhiloxCounter words = philox({7, 2, (10 + 4) * 12 + 11, 3 | 5 << 8}, {0x55667788, 0x11223344});
  const auto bytes = dropout_bytes(d, 4, 12, 11, 7, 2);
  for (size_t b = 0; b < 16; ++b) EXPECT_EQ(bytes[b], words[b / 4] >> 8 * (b % 4) & 255) << b;
  EXPECT_EQ(d.threshold(), 26u);
  EXPECT_DOUBLE_EQ(d.scale(), 256.0 / 230.0);
}

// With values = unit vectors the output row i is row i of the dropped probabilities. All scores are equal, so kept
// entries are scale / L.
std::vector<float> dropped_rows(const std::vector<int32_t>& lengths, const Dropout& dropout, size_t sequence) {
  AttentionCase c;
  c.lengths = lengths;
  c.heads = 2;
  c.head_size = 40;
  c.fill();
  std::fill(c.q.begin(), c.q.end(), 0.0f);
  std::fill(c.k.begin(), c.k.end(), 0.0f);
  std::fill(c.v.begin(), c.v.end(), 0.0f);
  for (size_t b = 0; b < lengths.size(); ++b) {
    for (size_t j = 0; j < static_cast<size_t>(lengths[b]); ++j) {
      for (size_t h = 0; h < 2; ++h) c.v[(static_cast<size_t>(c.starts[b]) + j) * c.width() + h * 40 + j] = 1;
    }
  }
  AttentionParams p = c.params();
  p.dropout = dropout;
  c.run(p);
  return {c.out.begin() + 16 + c.starts[sequence] * 80, c.out.begin() + 16 + c.starts[sequence + 1] * 80};
}

const Dropout kDropout{.p = 0.5, .seed = 42, .step = 1, .layer = 2, .sequence_offset = 0};

TEST(Dropout, DropsTheEntriesThatItsBytesName) {
  const std::vector<float> rows = dropped_rows({40}, kDropout, 0);
  size_t dropped = 0;
  for (uint32_t i = 0; i < 40; ++i) {
    for (uint32_t h = 0; h < 2; ++h) {
      for (uint32_t j = 0; j < 40; ++j) {
        const bool is_dropped = dropout_bytes(kDropout, 0, 2, h, i, j / 16)[j % 16] < 128;
        dropped += is_dropped ? 1 : 0;
        EXPECT_FLOAT_EQ(rows[i * 80 + h * 40 + j], is_dropped ? 0.0f : 2.0f / 40);
      }
    }
  }
  EXPECT_NEAR(static_cast<double>(dropped), 1600, 120);
}

TEST(Dropout, DependsOnSeedStepLayerSequenceHeadAndPositionsOnly) {
  const std::vector<float> rows = dropped_rows({40}, kDropout, 0);
  EXPECT_EQ(dropped_rows({40, 7, 12}, kDropout, 0), rows) << "other sequences in the pack";
  Dropout other = kDropout;
  other.sequence_offset = 2;
  Dropout moved = kDropout;
  moved.sequence_offset = 0;
  EXPECT_EQ(dropped_rows({5, 9, 40}, moved, 2), dropped_rows({40}, other, 0))
      << "its number in the batch, not its place";
  EXPECT_NE(dropped_rows({40}, other, 0), rows);
  for (const auto change : {+[](Dropout& d) { ++d.seed; }, +[](Dropout& d) { ++d.step; },
                            +[](Dropout& d) { ++d.layer; }, +[](Dropout& d) { d.seed += uint64_t{1} << 40; }}) {
    Dropout changed = kDropout;
    change(changed);
    EXPECT_NE(dropped_rows({40}, changed, 0), rows);
  }
}

TEST(Dropout, PackedIsPadded) {
  AttentionCase packed;
  packed.lengths = {20};
  packed.fill();
  AttentionParams p = packed.params();
  p.dropout = kDropout;
  packed.run(p);
  AttentionCase padded;
  padded.lengths = {33};
  padded.fill();  // the same numbers at the start
  padded.mask.assign(33, 1);
  std::fill(padded.mask.begin() + 20, padded.mask.end(), uint8_t{0});
  p = padded.params();
  p.dropout = kDropout;
  padded.run(p);
  for (size_t t = 0; t < 20; ++t) {
    for (size_t i = 0; i < 8; ++i) EXPECT_EQ(padded.result(t, 1, i), packed.result(t, 1, i));
  }
}

TEST(Dropout, RateZeroIsNoDropout) {
  Dropout off = kDropout;
  off.p = 0;
  const std::vector<float> rows = dropped_rows({40}, off, 0);
  for (size_t i = 0; i < 40; ++i) {
    for (size_t j = 0; j < 80; ++j) EXPECT_FLOAT_EQ(rows[i * 80 + j], 1.0f / 40);
  }
  EXPECT_EQ(rows, dropped_rows({40}, Dropout{}, 0));
}

}  // namespace
}  // namespace deberta::dropout_test
