// The verb `bench` with --training: how fast a step of training is here, its parts and its operations, beside the least
// time that this machine could take for it.
#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "cost/operations.h"
#include "deberta/error.h"
#include "kernels/profile.h"
#include "measure/figure_report.h"
#include "measure/machine.h"
#include "measure/peer_figures.h"
#include "measure/runs.h"
#include "options/verb_options.h"
#include "program/model_options.h"
#include "train/cli/verbs.h"
#include "train/finetune/step_timer.h"

namespace deberta::train {
namespace {

constexpr size_t kLeastRuns = 3;
constexpr double kUpdateBytes = 28;  // bytes moved for each parameter: four numbers read, three written

// The work of a step, whose head reads the first tokens: relative tables are projected in each.
struct StepWork {
  double linear = 0;
  double attention = 0;
};
StepWork work_of(const ModelConfig& config, const std::vector<int32_t>& lengths) {
  const Operations pass =
      forward_operations(config, {.lengths = lengths, .last = last_rows_of(config, Head::kSequence)});
  const double tables = table_operations(config, *std::ranges::max_element(lengths));
  return {.linear = kTrainingPasses * (pass.embedding + pass.layers() + pass.convolution + tables),
          .attention = kTrainingPasses * pass.attention};
}

class TrainingBench {
 public:
  TrainingBench(const BenchVerb& options, size_t threads)
      : options_(options),
        precision_(program::precision_of(options.dtype)),
        workplace_({.threads = threads, .kernels = options.kernels, .precision = precision_}),
        machine_(measure::measure_machine(workplace_.compute.kernels, workplace_.pool)),
        timer_(program::model_path(options.model.name), workplace_) {}

  JsonObject machine_figure() const {
    return measure::machine_figure(machine_, workplace_.compute.kernels, options_.kernels, precision_);
  }

  // `what` and `seq`: as bench/peers.py names them.
  JsonObject figure(const std::vector<int32_t>& lengths, const measure::PeerFigures& peers) {
    std::vector<StepSeconds> steps;
    std::vector<double> limits;
    const std::function<void()> work = [&] { steps.push_back(timer_.step(lengths)); };
    measure::measure(options_.min_time, kLeastRuns, {&work, 1}, [&](size_t, double seconds) {
      const measure::Machine now =
          measure::at_this_moment(machine_, workplace_.compute.kernels, workplace_.pool, precision_);
      limits.push_back(limit_seconds(now, lengths) / seconds);
    });
    const StepSeconds& best = *std::ranges::min_element(steps, {}, &StepSeconds::all);
    const auto tokens = static_cast<double>(tokens_of(lengths));
    JsonObject figure = begin_figure("train", lengths);
    std::vector<double> seconds;
    for (const StepSeconds& step : steps) seconds.push_back(step.all());
    figure.emplace_back("s", measure::rounded(best.all(), 1e4));
    figure.emplace_back("s_median", measure::rounded(median(seconds), 1e4));
    figure.emplace_back("forward_s", measure::rounded(best.forward, 1e4));
    figure.emplace_back("backward_s", measure::rounded(best.backward, 1e4));
    figure.emplace_back("update_s", measure::rounded(best.update, 1e4));
    figure.emplace_back("runs", static_cast<uint64_t>(steps.size()));
    figure.emplace_back("tokens_per_s", std::round(tokens / best.all()));
    if (machine_.peak(precision_) > 0) figure.emplace_back("of_limit", measure::rounded(median(limits), 1000));
    figure.emplace_back("peak_mb", measure::peak_memory_mb());
    JsonObject ratios = peers.ratios("train", lengths.front(), tokens / best.all());
    if (!ratios.empty()) figure.emplace_back("times_as_fast_as", std::move(ratios));
    return figure;
  }

  // Reports one step's thread time divided by threads; what is not an operation of the kernels is "other".
  void operations(const std::vector<int32_t>& lengths, measure::FigureReport& report) {
    start_profile();
    double whole = 0;
    for (size_t n = 0; n < kLeastRuns; ++n) whole += timer_.step(lengths).all();
    std::vector<ProfileEntry> entries = stop_profile();
    std::ranges::sort(entries, std::greater(), &ProfileEntry::thread_seconds);
    double rest = whole;
    for (const ProfileEntry& entry : entries) {
      const double seconds = entry.thread_seconds / static_cast<double>(machine_.threads);
      rest -= seconds;
      report.add(operation_figure(entry, lengths, seconds, whole));
    }
    JsonObject other = begin_figure("operation", lengths);
    other.emplace_back("operation", "other");
    add_share(other, std::max(rest, 0.0), whole);
    report.add(std::move(other));
  }

 private:
  static uint64_t tokens_of(const std::vector<int32_t>& lengths) {
    uint64_t tokens = 0;
    for (const int32_t length : lengths) tokens += static_cast<uint64_t>(length);
    return tokens;
  }
  static double median(std::vector<double> values) { return measure::Durations(std::move(values)).percentile(50); }

  double limit_seconds(const measure::Machine& machine, const std::vector<int32_t>& lengths) const {
    const StepWork work = work_of(timer_.config(), lengths);
    const double peak = machine.peak(precision_);
    if (peak == 0) return 0;
    return (work.linear + work.attention) / peak +
           kUpdateBytes * static_cast<double>(timer_.parameters()) / machine.read_bytes;
  }

  JsonObject begin_figure(const char* what, const std::vector<int32_t>& lengths) const {
    return {{"what", what},
            {"peer", "ours"},
            {"dtype", to_string(precision_)},
            {"threads", static_cast<uint64_t>(machine_.threads)},
            {"batch", static_cast<uint64_t>(lengths.size())},
            {"seq", lengths.front()},
            {"tokens", tokens_of(lengths)}};
  }

  static void add_share(JsonObject& figure, double seconds, double whole) {
    figure.emplace_back("ms", measure::rounded(seconds * 1e3 / kLeastRuns, 1000));
    figure.emplace_back("share", measure::rounded(seconds / whole, 1000));
  }

  JsonObject operation_figure(const ProfileEntry& entry, const std::vector<int32_t>& lengths, double seconds,
                              double whole) const {
    const ProfileKey& key = entry.key;
    const bool is_gemm = key.operation == Operation::kGemm;
    JsonObject figure = begin_figure("operation", lengths);
    figure.emplace_back("operation", to_string(key.operation));
    std::string shape = "[" + std::to_string(key.outputs);
    if (is_gemm) shape += ", " + std::to_string(key.depth);
    figure.emplace_back("shape", shape + "]");
    figure.emplace_back("calls", static_cast<double>(entry.calls) / kLeastRuns);
    add_share(figure, seconds, whole);
    double flop = 0;
    const double attention = kLeastRuns * work_of(timer_.config(), lengths).attention;
    if (is_gemm) flop = 2.0 * static_cast<double>(entry.rows * key.outputs) * static_cast<double>(key.depth);
    if (key.operation == Operation::kAttention) flop = attention / kTrainingPasses;
    if (key.operation == Operation::kAttentionBackward) flop = attention * (kTrainingPasses - 1) / kTrainingPasses;
    const double peak = machine_.peak(key.precision);
    if (flop == 0 || peak == 0) return figure;
    figure.emplace_back("gflops", measure::rounded(flop / seconds / 1e9, 10));
    figure.emplace_back("of_peak", measure::rounded(flop / seconds / peak, 1000));
    return figure;
  }

  const BenchVerb& options_;
  Precision precision_;
  Workplace workplace_;
  measure::Machine machine_;
  StepTimer timer_;
};

// Each load is a pack of sequences.
std::vector<std::vector<int32_t>> loads_of(const BenchVerb& options) {
  std::vector<std::vector<int32_t>> loads;
  for (const int32_t batch : measure::numbers("--batch", options.batch, 1 << 16)) {
    for (const int32_t length : measure::numbers("--lengths", options.lengths, 1 << 20))
      loads.emplace_back(static_cast<size_t>(batch), length);
  }
  if (!options.lengths_file.empty()) loads.push_back(measure::load_lengths(options.lengths_file));
  return loads;
}

}  // namespace

int run_bench(const Options& all) {
  const BenchVerb options(all);
  if (options.dtype == DtypeChoice::kInt8)
    throw Error(ErrorCode::kUsage, "--dtype", "expected fp32 or bf16, got int8; a training step has no int8");
  const std::vector<std::vector<int32_t>> loads = loads_of(options);
  const measure::PeerFigures peers =
      options.baseline.empty() ? measure::PeerFigures() : measure::PeerFigures(options.baseline);
  measure::FigureReport machines(options.output,
                                 {"cpu", "threads", "isa", "peak_gflops_fp32", "peak_gflops_bf16", "read_gb_per_s"});
  measure::FigureReport figures(
      options.output, {"dtype", "threads", "batch", "seq", "tokens", "s", "s_median", "forward_s", "backward_s",
                       "update_s", "tokens_per_s", "of_limit", "peak_mb", "times_as_fast_as"});
  measure::FigureReport operations(options.output,
                                   {"batch", "seq", "operation", "shape", "calls", "ms", "share", "gflops", "of_peak"});
  for (const size_t threads : measure::thread_counts(options.threads)) {
    TrainingBench bench(options, threads);
    machines.add(bench.machine_figure());
    for (const std::vector<int32_t>& lengths : loads) {
      figures.add(bench.figure(lengths, peers));
      if (options.operations) bench.operations(lengths, operations);
    }
  }
  measure::FigureReport::print({&machines, &figures, &operations});
  return 0;
}

}  // namespace deberta::train
