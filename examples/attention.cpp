// attention DIR TEXT: for each layer the mean size of each term of disentangled attention, content to content, content
// to position and position to content; then the rows of the relative table near the diagonal.
#include <cmath>
#include <cstdio>
#include <vector>

#include "deberta/analysis.h"
#include "deberta/pipeline.h"

static double mean_size(const std::vector<float>& term) {
  double sum = 0;
  for (const float score : term) sum += std::fabs(static_cast<double>(score));
  return term.empty() ? 0 : sum / static_cast<double>(term.size());
}

int main(int argc, char** argv) try {
  if (argc != 3) {
    std::fputs("usage: attention DIR TEXT\n", stderr);
    return 2;
  }
  const deberta::Pipeline pipeline = deberta::open_pipeline(argv[1]);
  const deberta::AttentionTerms terms = deberta::attention_terms(pipeline.model, pipeline.tokenizer.encode(argv[2]));
  std::printf("%zu tokens, %zu heads\nlayer\tc2c\tc2p\tp2c\n", terms.tokens, terms.heads);
  for (const deberta::LayerTerms& layer : terms.layers) {
    std::printf("%d\t%.4f\t%.4f\t%.4f\n", layer.layer, mean_size(layer.c2c_HLL), mean_size(layer.c2p_HLL),
                mean_size(layer.p2c_HLL));
  }
  for (const int row : deberta::relative_position_rows(pipeline.config, 3)) std::printf("%d ", row);
  std::puts("");
  return 0;
} catch (const deberta::Error& error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return error.exit_code();
}
