// Several corpora in one run: which of them a sample is taken from, and which of its runs. A function of the seed and
// the sample's number alone.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "train/data/runs.h"
#include "train/data/step_plan.h"

namespace deberta::train {

struct Source {
  Runs runs;
  double weight = 1;
};

struct SampleOrigin {
  size_t source = 0;
  uint64_t epoch = 0;  // epoch of that source, within the stage
  uint64_t run = 0;
};

// A source's share of the samples is proportional to weight * pieces^exponent, to 1/4096. Of each 4096 samples in a row
// every source gets the same number, at random positions. A source yields all its runs, in an order of its own for
// each epoch and stage, before it repeats one. With one source, sample n of a stage is number n of its order.
class Sources {
 public:
  // Throws kUsage for a weight or an exponent that is not possible, and where a source gets no sample; kInput for a
  // source that has no run of a stage's length.
  Sources(std::vector<Source> sources, double exponent, const std::vector<LengthStage>& stages, uint64_t seed);

  // Not thread-safe: the last 4096 samples that were located are kept.
  SampleOrigin find(uint64_t number_in_stage, size_t stage);
  const Runs& runs(size_t source) const { return sources_[source].runs; }
  size_t size() const { return sources_.size(); }
  // How many of each 4096 samples every source gets.
  const std::vector<uint32_t>& shares() const { return shares_; }
  double share(size_t source) const { return static_cast<double>(shares_[source]) / kBlock; }

 private:
  static constexpr uint32_t kBlock = 4096;
  struct Draw {
    uint32_t source = 0;
    uint32_t rank = 0;  // how many of the block's samples before are of the same source
  };

  void share_out(double exponent);
  void draw_block(uint64_t block, size_t stage);

  std::vector<Source> sources_;
  std::vector<LengthStage> stages_;
  std::vector<uint32_t> shares_;
  uint64_t source_key_;
  uint64_t order_key_;
  std::vector<Draw> draws_;  // the samples of the block below
  uint64_t block_ = UINT64_MAX;
  size_t stage_ = 0;
};

}  // namespace deberta::train
