// What a server counts, as Prometheus reads it. Each request adds one to request_total and one to either
// request_success_total or request_failure_total.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace deberta::serve {

struct RequestFacts {
  std::string route;      // the template, "/models/{model}"
  std::string model;      // empty: none
  bool is_batch = false;  // more than one item
  int status = 200;       // 499: the client has left
  std::string_view
      failure;  // auth, validation, too_large, overloaded, deadline, cancelled, backend, internal; empty: none
  size_t items = 0, tokens = 0;
  size_t cut_inputs = 0, cut_tokens = 0;
  double total_s = 0, tokenization_s = 0, queue_s = 0, inference_s = 0;
  bool has_run = false;       // the three parts are known
  double output_s = 0;        // from the model's results to an answer; what is made while it is read is not counted
  bool is_inference = false;  // for an answer of the model, which is known
};

// What requests of one model took, as Triton's clients read it.
struct ModelStatistics {
  struct Times {
    uint64_t count = 0, nanoseconds = 0;
    void add(double seconds);
  };
  int64_t last_ms = 0;  // when the last request ended, since 1970; 0: there was none
  uint64_t items = 0;   // of requests that were answered
  uint64_t batches = 0;
  Times answered, failed;                // requests, from their first byte to their answer
  Times queued, read, computed, made;    // the parts of those that were answered
  std::map<size_t, Times> by_sequences;  // batches, by how many sequences they had
};

struct GaugeValue {
  std::string name;    // without the prefix deberta_; one of text-embeddings-inference has te_ and no other
  std::string labels;  // model="small"; empty: none
  double value = 0;
};

class Metrics {
 public:
  // `has_tei_names`: also te_request_count and others, by which text-embeddings-inference counts.
  explicit Metrics(bool has_tei_names = false) : has_tei_names_(has_tei_names) {}

  void count(const RequestFacts& facts);
  void count_batch(const std::string& model, size_t sequences, size_t tokens, double fill, double seconds);
  ModelStatistics statistics(const std::string& model) const;

  // The text of /metrics. Counters that others keep come as gauges whose names end in _total.
  std::string text(const std::vector<GaugeValue>& gauges) const;

 private:
  struct Histogram {
    const std::vector<double>* bounds = nullptr;
    std::vector<uint64_t> counts = {};  // per bound, and above the last
    double sum = 0;
    uint64_t count = 0;
    void add(double value);
  };
  using Labels = std::string;
  // What a request or a batch adds to, looked up by name and labels once: that takes longer than the adding.
  struct BatchFigures {
    uint64_t* batches;
    Histogram *sequences, *tokens, *fill, *duration;
    ModelStatistics* statistics;
  };
  struct RequestKind {
    std::string model, route;
    bool is_batch;
    auto operator<=>(const RequestKind&) const = default;
  };
  struct RunFigures {
    Histogram *tokenization, *queue, *inference, *overhead, *tokens;
  };
  struct RequestFigures {
    Labels labels;
    std::map<int, uint64_t*> by_status;
    uint64_t *successes, *items, *tokens, *cut_inputs, *cut_tokens;
    Histogram* duration;
    std::optional<RunFigures> run;  // once one has run
  };
  uint64_t* counter(const std::string& name, const Labels& labels) { return &counters_[name][labels]; }
  Histogram* histogram(const std::string& name, const Labels& labels, const std::vector<double>& bounds);
  BatchFigures& figures_of_batch(const std::string& model);
  RequestFigures& figures_of(const RequestFacts& facts);
  RunFigures run_figures(const Labels& labels);

  void count_as_tei(const RequestFacts& facts);
  void count_for_model(const RequestFacts& facts);

  const bool has_tei_names_;
  mutable std::mutex mutex_;
  std::map<std::string, std::map<Labels, uint64_t>> counters_;
  std::map<std::string, std::map<Labels, Histogram>> histograms_;
  std::map<std::string, ModelStatistics> statistics_;  // by the model's name
  std::map<std::string, BatchFigures> batch_figures_;  // by the model's name
  std::map<RequestKind, RequestFigures> request_figures_;
};

}  // namespace deberta::serve
