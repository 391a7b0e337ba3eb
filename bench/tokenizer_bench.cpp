// How fast a tokenizer is loaded and encodes the lines of a text, with one thread and with two:
//   tokenizer_bench FOLDER TEXT [--benchmark_...]
// Lines of more than 40 bytes count, the first 20,000; one iteration encodes them all.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "deberta/tokenizer.h"

namespace {

std::string folder;
std::vector<std::string> lines;

const deberta::Tokenizer& tokenizer() {
  static const deberta::Tokenizer loaded = deberta::Tokenizer::load(folder);
  return loaded;
}

void load(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(deberta::Tokenizer::load(folder));
}
BENCHMARK(load)->Unit(benchmark::kMillisecond);

void encode(benchmark::State& state) {
  int64_t bytes = 0, tokens = 0;
  for (auto _ : state) {
    for (const std::string& line : lines) {
      tokens += static_cast<int64_t>(tokenizer().encode(line).size());
      bytes += static_cast<int64_t>(line.size());
    }
  }
  state.SetBytesProcessed(bytes);
  state.SetItemsProcessed(tokens);
}
BENCHMARK(encode)->Unit(benchmark::kMillisecond)->Threads(1)->Threads(2)->UseRealTime();

void read_lines(const char* path) {
  std::ifstream file(path);
  for (std::string line; lines.size() < 20000 && std::getline(file, line);) {
    if (line.size() > 40) lines.push_back(line);
  }
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (argc == 3) read_lines(argv[2]);
  if (lines.empty()) {
    std::fputs("usage: tokenizer_bench FOLDER TEXT [--benchmark_...]; TEXT has lines of more than 40 bytes\n", stderr);
    return 2;
  }
  folder = argv[1];
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
