// The verb `check`: everything that can be found wrong in a model directory without running it.
#include <fmt/core.h>

#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/tensor_table.h"
#include "cli/answers.h"
#include "cli/model_options.h"
#include "cli/statistics.h"
#include "cli/verbs.h"
#include "deberta/checkpoint.h"
#include "deberta/config.h"
#include "deberta/error.h"
#include "deberta/library.h"
#include "deberta/tokenizer.h"
#include "heads/model_directory.h"

namespace deberta::cli {
namespace {

// What was found, errors and warnings.
class Findings {
 public:
  void add(bool is_error, const Problem& problem) {
    is_error ? ++errors_ : ++warnings_;
    const char* severity = is_error ? "error" : "warning";
    answers_.push_back({{{"severity", severity}, {"where", problem.where}, {"message", problem.message}},
                        {{severity, problem.where, problem.message}}});
  }
  void error(std::string where, std::string message) { add(true, {std::move(where), std::move(message)}); }
  void warning(std::string where, std::string message) { add(false, {std::move(where), std::move(message)}); }

  // Runs a part of the check; what it throws becomes findings. True when it threw nothing.
  bool run(const std::function<void()>& part) {
    try {
      part();
      return true;
    } catch (const Error& error) {
      for (const Problem& problem : error.problems()) add(true, problem);
      return false;
    }
  }

  size_t errors() const { return errors_; }
  size_t warnings() const { return warnings_; }
  const std::vector<Answer>& answers() const { return answers_; }

 private:
  std::vector<Answer> answers_;
  size_t errors_ = 0;
  size_t warnings_ = 0;
};

void check_tensors(const std::string& path, const ModelConfig* config, Findings& findings) {
  const Checkpoint checkpoint = Checkpoint::open(path);
  if (config != nullptr) {
    const TensorReport report = compare_tensors(checkpoint, *config, detect_head(checkpoint), path);
    for (const Problem& problem : report.errors) findings.add(true, problem);
    for (const Problem& problem : report.warnings) findings.add(false, problem);
  }
  for (const TensorView& tensor : checkpoint.tensors()) {
    const Statistics s = statistics_of(tensor);
    if (s.not_finite > 0)
      findings.error(path + ": " + tensor.name, fmt::format("{} values are NaN or infinite", s.not_finite));
  }
}

void check_tokenizer(const std::string& path, const ModelConfig* config, Findings& findings) {
  const Tokenizer tokenizer = Tokenizer::load(path);
  if (config == nullptr) return;
  if (tokenizer.size() > static_cast<size_t>(config->vocab_size)) {
    findings.error(path,
                   fmt::format("the tokenizer has {} tokens, more than vocab_size {}; texts with the last ones fail",
                               tokenizer.size(), config->vocab_size));
  }
  if (tokenizer.special().pad != config->pad_token_id) {
    findings.warning(path + "/config.json", fmt::format("pad_token_id: expected {} as in the tokenizer, got {}",
                                                        tokenizer.special().pad, config->pad_token_id));
  }
  if (tokenizer.special().mask < 0) findings.warning(path, "the tokenizer has no mask token");
}

}  // namespace

int run_check(const Options& options) {
  const std::string path = model_path(options);
  check_model_directory(path);
  Findings findings;
  set_warning_sink([&](std::string_view message) { findings.warning("", std::string(message)); });
  std::optional<ModelConfig> config;
  findings.run([&] { config = load_model_config(path + "/config.json"); });
  const ModelConfig* known = config ? &*config : nullptr;
  findings.run([&] { check_tensors(path, known, findings); });
  findings.run([&] { check_tokenizer(path, known, findings); });
  set_warning_sink({});

  print_table(options, {"severity", "where", "message"}, findings.answers());
  const bool failed = findings.errors() > 0 || (options.flag("strict") && findings.warnings() > 0);
  if (!options.flag("quiet")) {
    std::fputs(fmt::format("{}: {} errors, {} warnings\n", path, findings.errors(), findings.warnings()).c_str(),
               stderr);
  }
  return failed ? 1 : 0;
}

}  // namespace deberta::cli
