// The verb `bench`: how fast the model runs here, on random ids of given lengths: latency, throughput on packed
// lengths, where the time goes; next to the machine's peak and other libraries' figures.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/thread_pool.h"
#include "cli/training.h"
#include "cli/verbs.h"
#include "cost/operations.h"
#include "deberta/library.h"
#include "heads/head_facts.h"
#include "measure/figure_report.h"
#include "measure/kernel_facts.h"
#include "measure/machine.h"
#include "measure/peer_figures.h"
#include "measure/runs.h"
#include "pipeline/entity_model.h"
#include "program/model_options.h"
#include "program/note.h"

namespace deberta::cli {
namespace {

constexpr size_t kLeastRuns = 3;
constexpr double kBetweenLimits = 0.05;  // seconds

struct Shape {
  int32_t length = 0;
  int32_t sequences = 0;
};

// The share of the machine's limit that each of several loads reaches: a run against the limits measured before and
// after it, so that a machine that slows down slows both.
class Shares {
 public:
  Shares(size_t loads, measure::Machine now) : machine_(now), shares_(loads) {}
  void add(size_t load, const measure::Work& work, double seconds) {
    runs_.push_back({load, work, seconds});
    waiting_ += seconds;
  }
  double waiting_seconds() const { return waiting_; }  // time of the runs since the last limit
  void settle(const measure::Machine& now, Precision precision) {
    for (const Run& run : std::exchange(runs_, {})) {
      const double limits =
          measure::limit_seconds(machine_, precision, run.work) + measure::limit_seconds(now, precision, run.work);
      shares_[run.load].push_back(limits / 2 / run.seconds);
    }
    machine_ = now;
    waiting_ = 0;
  }
  double median(size_t load) const { return measure::Durations(shares_[load]).percentile(50); }

 private:
  struct Run {
    size_t load;
    measure::Work work;
    double seconds;
  };
  measure::Machine machine_;
  std::vector<Run> runs_;
  double waiting_ = 0;
  std::vector<std::vector<double>> shares_;
};

// One loaded model with its number of threads, and what its figures share.
class Bench {
 public:
  Bench(const BenchVerb& options, const Checkpoint& checkpoint, const ModelConfig& config, size_t threads)
      : options_(options),
        precision_(program::precision_of(options.dtype)),
        kernels_(select_kernels(options.kernels)),
        pool_(threads),
        machine_(measure::measure_machine(kernels_, pool_)),
        model_(Model::load(checkpoint, config, bench_options(options, threads))) {
    forward_.wants_logits = facts_of(model_.head()).has_logits();
  }

  JsonObject machine_figure() const {
    return measure::machine_figure(machine_, kernels_, options_.kernels, precision_);
  }
  void note_other_choice() const {
    if (!measure::is_automatic(options_.kernels)) return;
    const std::string text = measure::other_choice(automatic_choice(), usable_levels(), machine_.peaks);
    if (!text.empty()) program::note(text);
  }

  // Measured in turns; returned in the order of `shapes`.
  std::vector<JsonObject> latencies(const std::vector<Shape>& shapes, const measure::PeerFigures& peers) {
    std::vector<Load> loads;
    for (const Shape& shape : shapes) {
      const std::vector<int32_t> lengths(static_cast<size_t>(shape.sequences), shape.length);
      loads.push_back({lengths, {measure::random_batch(lengths, model_.config().vocab_size)}});
    }
    const std::vector<Timed> timed = time_runs(loads, kLeastRuns);
    std::vector<JsonObject> figures;
    for (size_t i = 0; i < shapes.size(); ++i) figures.push_back(latency_figure(shapes[i], loads[i], timed[i], peers));
    return figures;
  }

  JsonObject mixed(const std::vector<int32_t>& lengths, const measure::PeerFigures& peers) {
    const auto budget = options_.batch_tokens;
    const Load load{lengths, measure::packed_batches(lengths, budget, model_.config().vocab_size)};
    const Timed timed = time_runs({load}, 1).front();
    JsonObject figure = begin_figure("mixed");
    figure.emplace_back("sequences", static_cast<uint64_t>(lengths.size()));
    figure.emplace_back("runs", static_cast<uint64_t>(timed.times.count()));
    figure.emplace_back("s", measure::rounded(timed.times.least(), 1e6));
    const double rate = add_rate(figure, lengths, timed);
    add_ratios(figure, peers.ratios("mixed", 0, rate));
    return figure;
  }

  // Where the time of a batch goes; thread time divided by threads.
  void operations(int32_t length, int32_t sequences, measure::FigureReport& report) {
    const std::vector<int32_t> lengths(static_cast<size_t>(sequences), length);
    const Batch batch = measure::random_batch(lengths, model_.config().vocab_size);
    run(batch);
    size_t count = 0;
    start_profile();
    const auto begin = std::chrono::steady_clock::now();
    const std::function<void()> work = [&] {
      run(batch);
      ++count;
    };
    measure::measure(options_.min_time / 2, kLeastRuns, {&work, 1});
    const double all = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    std::vector<ProfileEntry> entries = stop_profile();
    std::sort(entries.begin(), entries.end(),
              [](const ProfileEntry& a, const ProfileEntry& b) { return a.thread_seconds > b.thread_seconds; });
    const auto runs = static_cast<double>(count);
    const double whole = all / runs;
    const double attention = work_of(lengths).attention;
    double rest = whole;
    for (const ProfileEntry& entry : entries) {
      const double seconds = entry.thread_seconds / runs / static_cast<double>(machine_.threads);
      rest -= seconds;
      report.add(operation_figure(entry, length, sequences, seconds, whole, runs, attention));
    }
    JsonObject other = begin_operation("other", length, sequences);
    add_share(other, std::max(rest, 0.0), whole);
    report.add(std::move(other));
  }

 private:
  static ModelOptions bench_options(const BenchVerb& options, size_t threads) {
    ModelOptions model;
    model.precision = program::precision_of(options.dtype);
    model.allows_uncalibrated = true;  // random ids: only times matter
    model.threads = threads;
    model.kernels = options.kernels;
    return model;
  }

  void run(const Batch& batch) { model_.forward(batch, forward_, result_); }

  JsonObject begin_figure(const char* what) const {
    return {{"what", what},
            {"peer", "ours"},
            {"dtype", to_string(precision_)},
            {"threads", static_cast<uint64_t>(machine_.threads)}};
  }
  JsonObject begin_operation(const std::string& name, int32_t length, int32_t sequences) const {
    JsonObject figure = begin_figure("operation");
    figure.emplace_back("seq", length);
    figure.emplace_back("batch", sequences);
    figure.emplace_back("operation", name);
    return figure;
  }

  struct Load {
    std::vector<int32_t> lengths;
    std::vector<Batch> batches;  // all of them are one run
  };

  measure::Work work_of(std::span<const int32_t> lengths) const {
    return measure::work_of(model_.config(), {.lengths = lengths,
                                              .last = last_rows_of(model_.config(), model_.head()),
                                              .predicts_by_decoder = model_.has_mask_decoder()});
  }

  struct Timed {
    measure::Work work;
    measure::Durations times;
    double share;  // share of the limit
    uint64_t peak_mb;
  };

  JsonObject latency_figure(const Shape& shape, const Load& load, const Timed& timed,
                            const measure::PeerFigures& peers) const {
    const measure::Durations& times = timed.times;
    const auto ms = [&](double seconds) { return measure::rounded(seconds * 1e3, 1000); };
    JsonObject figure = begin_figure("latency");
    figure.emplace_back("seq", shape.length);
    figure.emplace_back("batch", shape.sequences);
    figure.emplace_back("runs", static_cast<uint64_t>(times.count()));
    figure.emplace_back("ms_median", ms(times.percentile(50)));
    figure.emplace_back("ms_min", ms(times.least()));
    figure.emplace_back("ms_p90", ms(times.percentile(90)));
    figure.emplace_back("ms_p99", ms(times.percentile(99)));
    add_rate(figure, load.lengths, timed);
    if (shape.sequences == 1) add_ratios(figure, peers.ratios("latency", shape.length, times.least() * 1e3));
    return figure;
  }

  double add_rate(JsonObject& figure, const std::vector<int32_t>& lengths, const Timed& timed) const {
    uint64_t tokens = 0;
    for (const int32_t length : lengths) tokens += static_cast<uint64_t>(length);
    const double seconds = timed.times.least();
    const double rate = std::round(static_cast<double>(tokens) / seconds);
    figure.emplace_back("tokens", tokens);
    figure.emplace_back("tokens_per_s", rate);
    figure.emplace_back("gflops", measure::rounded((timed.work.linear + timed.work.attention) / seconds / 1e9, 10));
    if (machine_.peak(precision_) > 0) figure.emplace_back("of_limit", measure::rounded(timed.share, 1000));
    figure.emplace_back("peak_mb", timed.peak_mb);
    return rate;
  }

  std::vector<Timed> time_runs(const std::vector<Load>& loads, size_t least_runs) {
    std::vector<uint64_t> peaks_mb(loads.size(), 0);
    std::vector<std::function<void()>> works;
    works.reserve(loads.size());
    for (const Load& load : loads) {
      works.emplace_back([&load, &peak_mb = peaks_mb[works.size()], this] {
        for (const Batch& batch : load.batches) run(batch);
        if (peak_mb == 0) peak_mb = measure::peak_memory_mb();
      });
    }
    const auto machine_now = [&] { return measure::at_this_moment(machine_, kernels_, pool_, precision_); };
    Shares shares(loads.size(), machine_now());
    std::vector<measure::Durations> times =
        measure::measure(options_.min_time, least_runs, works, [&](size_t i, double seconds) {
          shares.add(i, work_of(loads[i].lengths), seconds);
          if (shares.waiting_seconds() >= kBetweenLimits) shares.settle(machine_now(), precision_);
        });
    shares.settle(machine_now(), precision_);
    std::vector<Timed> timed;
    for (size_t i = 0; i < loads.size(); ++i)
      timed.push_back({work_of(loads[i].lengths), std::move(times[i]), shares.median(i), peaks_mb[i]});
    return timed;
  }

  static void add_share(JsonObject& figure, double seconds, double whole) {
    figure.emplace_back("ms", measure::rounded(seconds * 1e3, 1000));
    figure.emplace_back("share", measure::rounded(seconds / whole, 1000));
  }

  JsonObject operation_figure(const ProfileEntry& entry, int32_t length, int32_t sequences, double seconds,
                              double whole, double runs, double attention) const {
    const ProfileKey& key = entry.key;
    const bool is_gemm = key.operation == Operation::kGemm;
    JsonObject figure = begin_operation(measure::operation_name(key), length, sequences);
    figure.emplace_back("shape",
                        is_gemm ? fmt::format("[{}, {}]", key.outputs, key.depth) : fmt::format("[{}]", key.outputs));
    figure.emplace_back("calls", measure::rounded(static_cast<double>(entry.calls) / runs, 10));
    add_share(figure, seconds, whole);
    double flop = 0;
    if (is_gemm) flop = 2.0 * static_cast<double>(entry.rows * key.outputs) * static_cast<double>(key.depth) / runs;
    if (key.operation == Operation::kAttention) flop = attention;
    if (flop == 0 || seconds <= 0) return figure;
    figure.emplace_back("gflops", measure::rounded(flop / seconds / 1e9, 10));
    const double peak = machine_.peak(key.precision);
    if (peak > 0) figure.emplace_back("of_peak", measure::rounded(flop / seconds / peak, 1000));
    return figure;
  }

  static void add_ratios(JsonObject& figure, JsonObject ratios) {
    if (!ratios.empty()) figure.emplace_back("times_as_fast_as", std::move(ratios));
  }

  const BenchVerb& options_;
  Precision precision_;
  KernelSet kernels_;
  ThreadPool pool_;
  measure::Machine machine_;
  Model model_;
  ForwardOptions forward_;
  ForwardResult result_;
};

}  // namespace

int run(const BenchVerb& options) {
  if (options.training) start_training_program(options.words);
  const std::vector<int32_t> lengths = measure::numbers("--lengths", options.lengths, 1 << 20);
  const std::vector<int32_t> batches = measure::numbers("--batch", options.batch, 1 << 16);
  const std::vector<int32_t> mixed =
      options.lengths_file.empty() ? std::vector<int32_t>{} : measure::load_lengths(options.lengths_file);
  const measure::PeerFigures peers =
      options.baseline.empty() ? measure::PeerFigures() : measure::PeerFigures(options.baseline);
  const std::string path = program::weights_path(options.model.name);
  const ModelConfig config = load_folder_config(path);
  const Checkpoint checkpoint = Checkpoint::open(path, program::open_options(options.model));

  measure::FigureReport machines(options.output, {"cpu", "threads", "isa", "peak_gflops_fp32", "peak_gflops_bf16",
                                                  "peak_gops_int8", "read_gb_per_s"});
  measure::FigureReport multipliers(options.output, {"precision", "level", "instruction", "gops", "why"});
  measure::FigureReport figures(options.output, {"what", "dtype", "threads", "seq", "batch", "ms_median", "ms_min",
                                                 "ms_p99", "tokens_per_s", "of_limit", "peak_mb", "times_as_fast_as"});
  measure::FigureReport calls(options.output, {"operation", "precision", "level", "calls"});
  measure::FigureReport operations(
      options.output, {"threads", "seq", "batch", "operation", "shape", "calls", "ms", "share", "gflops", "of_peak"});
  for (const size_t threads : measure::thread_counts(options.threads)) {
    Bench bench(options, checkpoint, config, threads);
    const Json machine(bench.machine_figure());
    machines.add(machine.as_object());
    for (const Json& row : machine.find("multipliers")->as_array()) {
      if (!program::is_json(program::format_of(options.output))) multipliers.add(row.as_object());
    }
    bench.note_other_choice();
    std::vector<Shape> shapes;
    for (const int32_t batch : batches) {
      for (const int32_t length : lengths) shapes.push_back({length, batch});
    }
    for (JsonObject& figure : bench.latencies(shapes, peers)) figures.add(std::move(figure));
    for (const Shape& shape : shapes) {
      if (options.operations) bench.operations(shape.length, shape.sequences, operations);
    }
    if (!mixed.empty()) figures.add(bench.mixed(mixed, peers));
  }
  if (options.operations) {
    for (JsonObject& count : measure::kernel_calls()) calls.add(std::move(count));
  }
  measure::FigureReport::print({&machines, &multipliers, &figures, &operations, &calls});
  return 0;
}

}  // namespace deberta::cli
