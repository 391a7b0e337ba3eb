// [H, L, L] of one sequence after another.
#include "engine/score_collector.h"

namespace deberta {

ScoreCollector::ScoreCollector(const Pass& pass, const LayerWeights& layer, bool is_wanted)
    : pass_(pass), is_wanted_(is_wanted) {
  if (!is_wanted_) return;
  for (size_t b = 0; b < pass.batch.sequences(); ++b) count_ += size_of(b);
  plan(c2c_);
  if (layer.kr.has_data()) plan(c2p_);
  if (layer.qr.has_data()) plan(p2c_);
  plan(probabilities_);
}

void ScoreCollector::plan(Scores& scores) {
  if (count_ == 0) return;
  scores.host.resize(count_);
  scores.data = scores.host.data();
  if (pass_.kernels.memory == nullptr) return;
  scores.buffer = Arena(pass_.kernels.memory);
  scores.buffer.reserve(Arena::bytes_for<float>(count_));
  scores.data = scores.buffer.take<float>(count_);
}

AttentionScoreOutputs ScoreCollector::outputs() const {
  return {c2c_.data, c2p_.data, p2c_.data, probabilities_.data};
}

void ScoreCollector::append_to(std::vector<AttentionScores>& all, size_t number) {
  if (!is_wanted_) return;
  for (Scores* scores : {&c2c_, &c2p_, &p2c_, &probabilities_}) {
    if (scores->data != scores->host.data()) copy_to_host(pass_, scores->data, count_, scores->host);
  }
  size_t begin = 0;
  for (size_t b = 0; b < pass_.batch.sequences(); ++b) {
    const size_t end = begin + size_of(b);
    const auto part = [&](const Scores& scores) {
      const std::vector<float>& x = scores.host;
      if (x.empty()) return std::vector<float>{};
      return std::vector<float>(x.begin() + static_cast<std::ptrdiff_t>(begin),
                                x.begin() + static_cast<std::ptrdiff_t>(end));
    };
    all.push_back({static_cast<int32_t>(number), static_cast<int32_t>(b), part(c2c_), part(c2p_), part(p2c_),
                   part(probabilities_)});
    begin = end;
  }
}

size_t ScoreCollector::size_of(size_t sequence) const {
  const size_t length = as_size(pass_.batch.starts[sequence + 1] - pass_.batch.starts[sequence]);
  return as_size(pass_.config.num_attention_heads) * length * length;
}

}  // namespace deberta
