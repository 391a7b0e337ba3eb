// The folder of a run that was not: logs, a checkpoint's state, results.
#pragma once
#include <filesystem>
#include <string>

#include "base/file.h"
#include "support/paths.h"
#include "train/report/run_record.h"
#include "train/state/checkpoint_folder.h"
#include "train/state/run_folder.h"

namespace deberta::train::test {

using deberta::test::TemporaryFolder;
using deberta::test::write_text;

class RunCase {
 public:
  const std::string& path() const { return folder_.path(); }
  std::string path(const std::string& name) const { return folder_.path(name); }
  void write(const std::string& name, const std::string& text) const { write_text(path(name), text); }
  std::string text(const std::string& name) const { return read_file(path(name), 1 << 24); }
  bool has(const std::string& name) const { return std::filesystem::exists(path(name)); }

  void add_checkpoint(const TrainerState& state) const {
    const std::string folder = path(checkpoint_name(state.step));
    std::filesystem::create_directories(folder + "/trainer");
    write_text(folder + "/" + kStateName, to_json(state).dump());
  }

  // A run of 20 steps with an evaluation that went on once, and is finished.
  void make_whole() const {
    write(kMetricsName,
          "{\"step\": 10, \"loss\": 2.5, \"learning_rate\": 0.001, \"grad_norm\": 1.5, \"tokens_per_s\": 100, "
          "\"tokens\": 640, \"time\": 1000}\n"
          "{\"step\": 10, \"eval_accuracy\": 0.25, \"time\": 1001}\n"
          "{\"step\": 20, \"loss\": 2.25, \"learning_rate\": 0.0005, \"grad_norm\": 1.25, \"tokens_per_s\": 110, "
          "\"tokens\": 1280, \"time\": 1002}\n"
          "{\"step\": 20, \"eval_accuracy\": 0.5, \"time\": 1003}\n");
    write(kEventsName,
          "{\"step\": 0, \"kind\": \"began\", \"time\": 999, \"details\": {\"model\": \"org/base\", \"corpus a.txt\": "
          "\"12 "
          "tokens\"}}\n"
          "{\"step\": 10, \"kind\": \"resumed\", \"time\": 1001, \"text\": \"from checkpoint-000010\", \"details\": "
          "{\"model\": \"org/base\", \"corpus a.txt\": \"12 tokens\"}}\n");
    TrainerState state{.step = 10, .total_steps = 20, .tokens = 1280, .seed = 7};
    state.options = {{"objective", "mlm"}, {"batch-size", "8"}};
    state.hashes = {{"corpora and tokenizer", std::string(64, 'c')}};
    add_checkpoint(state);
    state.step = 20;
    add_checkpoint(state);
    write(kResultsName, "{\"steps\": 20, \"tokens\": 1280, \"train_runtime\": 3.5, \"eval_accuracy\": 0.5}");
    write("config.json",
          "{\"model_type\": \"deberta-v2\", \"vocab_size\": 50, \"num_hidden_layers\": 2, \"num_attention_heads\": 2, "
          "\"architectures\": [\"DebertaV2ForMaskedLM\"], \"position_biased_input\": false}");
  }
  RunRecord record() const { return load_run_record(path()); }

 private:
  TemporaryFolder folder_;
};

// How often `part` is in `text`.
inline size_t times_in(const std::string& part, const std::string& text) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

}  // namespace deberta::train::test
