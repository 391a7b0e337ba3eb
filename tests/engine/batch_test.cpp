// Packing.
#include "deberta/model.h"

#include <gtest/gtest.h>

#include <vector>

#include "support/expect_error.h"

namespace deberta::batch_test {
namespace {

using Ints = std::vector<int32_t>;
using Mask = std::vector<uint8_t>;

TEST(Batch, AddAppendsSequences) {
  Batch batch;
  EXPECT_EQ(batch.sequences(), 0u);
  batch.add(Ints{5, 6, 7});
  batch.add(Ints{});
  batch.add(Ints{8});
  EXPECT_EQ(batch.ids_T, (Ints{5, 6, 7, 8}));
  EXPECT_EQ(batch.starts, (Ints{0, 3, 3, 4}));
  EXPECT_EQ(batch.longest, 3);
  EXPECT_EQ(batch.sequences(), 3u);
  EXPECT_TRUE(batch.type_ids_T.empty());
}

TEST(Batch, TypeIdsOfSequencesWithoutAnyAreZero) {
  Batch batch;
  batch.add(Ints{5, 6});
  batch.add(Ints{7, 8}, Ints{0, 1});
  batch.add(Ints{9});
  EXPECT_EQ(batch.type_ids_T, (Ints{0, 0, 0, 1, 0}));
  EXPECT_ERROR(batch.add(Ints{1, 2}, Ints{0}), kInput, "type_ids: expected 2 elements, got 1");
  EXPECT_EQ(batch.tokens(), 5u) << "a refused sequence leaves nothing behind";
}

TEST(Pack, LeavesPaddingOutAndKeepsPositions) {
  const Ints ids = {0, 0, 11, 12, 21, 22, 23, 0, 31, 32, 33, 34};
  const Mask mask = {0, 0, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1};
  const PackedRows packed = pack({.sequences = 3, .length = 4, .ids_BL = ids, .mask_BL = mask});
  EXPECT_EQ(packed.batch.ids_T, (Ints{11, 12, 21, 22, 23, 31, 32, 33, 34}));
  EXPECT_EQ(packed.batch.starts, (Ints{0, 2, 5, 9}));
  EXPECT_EQ(packed.batch.position_ids_T, (Ints{2, 3, 0, 1, 2, 0, 1, 2, 3}));
  EXPECT_EQ(packed.rows_T, (Ints{2, 3, 4, 5, 6, 8, 9, 10, 11}));
  EXPECT_TRUE(packed.batch.mask_T.empty());
  EXPECT_EQ(packed.batch.longest, 4);
}

TEST(Pack, KeepsHolesAsMaskedTokens) {
  const Ints ids = {11, 12, 13, 14, 15, 0};
  const Mask mask = {1, 0, 0, 1, 1, 0};
  const PackedRows packed = pack({.sequences = 1, .length = 6, .ids_BL = ids, .mask_BL = mask});
  EXPECT_EQ(packed.batch.ids_T, (Ints{11, 12, 13, 14, 15}));
  EXPECT_EQ(packed.batch.mask_T, (Mask{1, 0, 0, 1, 1}));
  EXPECT_TRUE(packed.batch.position_ids_T.empty());
}

TEST(Pack, AWhollyMaskedRowBecomesAnEmptySequence) {
  const Ints ids = {11, 12, 21, 22};
  const Mask mask = {0, 0, 1, 1};
  const Ints types = {0, 1, 1, 0};
  const Ints positions = {4, 5, 6, 7};
  const PackedRows packed = pack({.sequences = 2,
                                  .length = 2,
                                  .ids_BL = ids,
                                  .mask_BL = mask,
                                  .type_ids_BL = types,
                                  .position_ids_BL = positions});
  EXPECT_EQ(packed.batch.starts, (Ints{0, 0, 2}));
  EXPECT_EQ(packed.batch.type_ids_T, (Ints{1, 0}));
  EXPECT_EQ(packed.batch.position_ids_T, (Ints{6, 7}));
}

TEST(Pack, KeepsPaddingAsMaskedTokensWhenAsked) {
  const std::vector<int32_t> ids{0, 7, 8, 0};
  const std::vector<uint8_t> mask{0, 1, 1, 0};
  const PackedRows packed = pack({.sequences = 1, .length = 4, .ids_BL = ids, .mask_BL = mask, .keeps_padding = true});
  EXPECT_EQ(packed.batch.ids_T, ids);
  EXPECT_EQ(packed.batch.mask_T, mask);
  EXPECT_EQ(packed.rows_T, (std::vector<int32_t>{0, 1, 2, 3}));
  EXPECT_EQ(packed.batch.starts, (std::vector<int32_t>{0, 4}));
}

TEST(Pack, WithA3dMaskNothingIsLeftOut) {
  const Ints ids(2 * 65, 7);
  Mask mask(2 * 65 * 65, 0);
  mask[0] = mask[64] = 1;           // sequence 0, query 0: keys 0 and 64
  mask[65 * 65 + 65 * 3 + 63] = 1;  // sequence 1, query 3: key 63
  const PackedRows packed = pack({.sequences = 2, .length = 65, .ids_BL = ids, .mask_BLL = mask});
  EXPECT_EQ(packed.batch.tokens(), 130u);
  EXPECT_TRUE(packed.batch.mask_T.empty());
  ASSERT_EQ(packed.batch.masks_B.size(), 2u);
  std::vector<uint64_t> first(130), second(130);
  first[0] = first[1] = 1;
  second[6] = uint64_t{1} << 63;
  EXPECT_EQ(packed.batch.masks_B[0], first);
  EXPECT_EQ(packed.batch.masks_B[1], second);
}

TEST(Pack, WithGivenPositionsTokensKeepTheirRowsOfTheMatrix) {
  const Ints ids = {0, 11, 12, 0, 0, 0};
  const Mask mask = {0, 1, 1, 0, 0, 0};
  const Ints buckets = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  const PackedRows packed = pack({.sequences = 2, .length = 3, .ids_BL = ids, .mask_BL = mask, .buckets_LL = buckets});
  EXPECT_EQ(packed.batch.ids_T, (Ints{0, 11, 12}));
  EXPECT_EQ(packed.batch.mask_T, (Mask{0, 1, 1}));
  EXPECT_EQ(packed.batch.starts, (Ints{0, 3, 3}));
  EXPECT_EQ(packed.batch.given_buckets_LL, buckets);
  EXPECT_EQ(packed.batch.given_length, 3);
}

TEST(Batch, ASequenceAddedBesideMaskedOnesHasNo3dMask) {
  Batch batch;
  batch.add(Ints{5});
  batch.masks_B = {{1}};
  batch.add(Ints{6, 7});
  ASSERT_EQ(batch.masks_B.size(), 2u);
  EXPECT_TRUE(batch.masks_B[1].empty());
}

TEST(Pack, RefusesSizesThatDoNotFit) {
  const Ints ids = {1, 2, 3};
  const Mask mask = {1, 1};
  EXPECT_ERROR(pack({.sequences = 2, .length = 2, .ids_BL = ids}), kInput, "ids: expected 4 elements, got 3");
  EXPECT_ERROR(pack({.sequences = 1, .length = 3, .ids_BL = ids, .mask_BL = mask}), kInput,
               "mask: expected 3 elements, got 2");
  EXPECT_ERROR(pack({.sequences = 1, .length = 3, .ids_BL = ids, .mask_BLL = mask}), kInput,
               "3-D mask: expected 9 elements, got 2");
  EXPECT_ERROR(pack({.sequences = 1, .length = 3, .ids_BL = ids, .buckets_LL = ids}), kInput,
               "relative positions: expected 9 elements, got 3");
  EXPECT_ERROR(pack({.sequences = 1, .length = 3, .ids_BL = ids, .mask_BL = Mask(3, 1), .mask_BLL = Mask(9, 1)}),
               kInput, "mask: expected two dimensions or three, got both");
  EXPECT_ERROR(pack({.sequences = size_t{1} << 40, .length = size_t{1} << 40, .ids_BL = ids}), kInput,
               "expected fewer tokens");
}

}  // namespace
}  // namespace deberta::batch_test
