// embed DIR FIRST SECOND: the cosine of two texts, each the mean of its tokens' vectors.
#include <cstdio>
#include <numeric>
#include <vector>

#include "deberta/pipeline.h"

int main(int argc, char** argv) try {
  if (argc != 4) {
    std::fputs("usage: embed DIR FIRST SECOND\n", stderr);
    return 2;
  }
  const deberta::Pipeline pipeline = deberta::open_pipeline(argv[1]);
  deberta::EmbeddingOptions options;
  options.pooling = deberta::Pooling::kMean;
  options.normalizes = true;  // then the cosine is the sum of products
  const deberta::TextInput inputs[] = {{argv[2]}, {argv[3]}};
  const std::vector<deberta::EmbeddingAnswer> answers = deberta::embed(pipeline, inputs, options);
  const std::vector<float>& first = answers[0].vectors;
  const std::vector<float>& second = answers[1].vectors;
  std::printf("%zu values, cosine %.6f\n", first.size(),
              std::inner_product(first.begin(), first.end(), second.begin(), 0.0));
  return 0;
} catch (const deberta::Error& error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return error.exit_code();
}
