// classify DIR TEXT...: the best label of each text. Warnings of the library go to standard error.
#include <cstdio>
#include <string_view>
#include <vector>

#include "deberta/deberta.h"

int main(int argc, char** argv) try {
  if (argc < 3) {
    std::fputs("usage: classify DIR TEXT...\n", stderr);
    return 2;
  }
  deberta::set_warning_sink([](void*, std::string_view message) {
    std::fprintf(stderr, "warning: %.*s\n", static_cast<int>(message.size()), message.data());
  });
  const deberta::Pipeline pipeline = deberta::open_pipeline(argv[1]);
  std::vector<deberta::TextInput> inputs;
  for (int i = 2; i < argc; ++i) inputs.push_back({argv[i]});
  for (const deberta::SequenceAnswer& answer : deberta::classify(pipeline, inputs)) {
    std::printf("%s\t%.9g\n", answer.labels.front().label.c_str(), static_cast<double>(answer.labels.front().score));
  }
  return 0;
} catch (const deberta::Error& error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return error.exit_code();
}
