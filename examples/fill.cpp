// fill DIR TEXT: the three likeliest tokens for each [MASK] of the text, and the text with each of them.
#include <cstdio>
#include <vector>

#include "deberta/pipeline.h"

int main(int argc, char** argv) try {
  if (argc != 3) {
    std::fputs("usage: fill DIR 'a text with a [MASK]'\n", stderr);
    return 2;
  }
  const deberta::Pipeline pipeline = deberta::open_pipeline(argv[1]);
  deberta::FillOptions options;
  options.top_k = 3;
  const deberta::TextInput inputs[] = {{argv[2]}};
  const std::vector<deberta::FillAnswer> answers = deberta::fill(pipeline, inputs, options);
  for (const deberta::FillAnswer::Mask& mask : answers.front().masks) {
    for (const deberta::FilledToken& token : mask.tokens) {
      std::printf("%s\t%.9g\t%s\n", token.token_str.c_str(), static_cast<double>(token.score), token.sequence.c_str());
    }
  }
  return 0;
} catch (const deberta::Error& error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return error.exit_code();
}
