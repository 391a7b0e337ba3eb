// How fast a tokenizer is loaded and encodes the lines of a text, with one thread and with two:
//   tokenizer_bench FOLDER TEXT [--benchmark_...]
// Uses the first 20,000 lines of more than 40 bytes.
#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "deberta/tokenizer.h"

namespace {

std::string folder;
std::vector<std::string> lines;

void load(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(deberta::Tokenizer::load(folder));
}
BENCHMARK(load)->Unit(benchmark::kMillisecond);

// One thread's share: every step-th line. Returns its number of tokens.
int64_t encode_share(const deberta::Tokenizer& tokenizer, size_t first, size_t step) {
  int64_t tokens = 0;
  for (size_t i = first; i < lines.size(); i += step) tokens += static_cast<int64_t>(tokenizer.encode(lines[i]).size());
  return tokens;
}

// All lines once, shared by the threads, with a tokenizer that has seen none of them.
void encode(benchmark::State& state) {
  const auto threads = static_cast<size_t>(state.range(0));
  int64_t bytes = 0;
  for (const std::string& line : lines) bytes += static_cast<int64_t>(line.size());
  for (auto _ : state) {
    const deberta::Tokenizer tokenizer = deberta::Tokenizer::load(folder);
    std::vector<std::thread> others;
    const auto begin = std::chrono::steady_clock::now();
    for (size_t i = 1; i < threads; ++i) {
      others.emplace_back([&, i] { benchmark::DoNotOptimize(encode_share(tokenizer, i, threads)); });
    }
    benchmark::DoNotOptimize(encode_share(tokenizer, 0, threads));
    for (std::thread& other : others) other.join();
    state.SetIterationTime(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  state.SetBytesProcessed(bytes * static_cast<int64_t>(state.iterations()));
}
BENCHMARK(encode)->Unit(benchmark::kMillisecond)->ArgName("threads")->Arg(1)->Arg(2)->UseManualTime();

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
