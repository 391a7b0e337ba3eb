// answer DIR QUESTION CONTEXT: the three likeliest answers with their places; the context may be of any length.
#include <cstdio>
#include <vector>

#include "deberta/pipeline.h"

int main(int argc, char** argv) try {
  if (argc != 4) {
    std::fputs("usage: answer DIR QUESTION CONTEXT\n", stderr);
    return 2;
  }
  const deberta::Pipeline pipeline = deberta::open_pipeline(argv[1]);
  deberta::QuestionOptions options;
  options.top_k = 3;
  options.rules.encode.max_tokens = 384;
  const deberta::TextInput inputs[] = {{argv[2], argv[3]}};
  const std::vector<deberta::QuestionAnswer> results = deberta::qa(pipeline, inputs, options);
  for (const deberta::SpanAnswer& answer : results.front().answers) {
    std::printf("%s\t%.9g\t%u\t%u\n", answer.text.c_str(), static_cast<double>(answer.score), answer.chars.begin,
                answer.chars.end);
  }
  return 0;
} catch (const deberta::Error& error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return error.exit_code();
}
