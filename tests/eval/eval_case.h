// Files and models of a test, in a folder of their own, and hooks that record their calls.
#pragma once
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "eval/answered_rows.h"
#include "support/paths.h"
#include "support/tiny_model.h"

namespace deberta::test {

// Nothing that such a test runs may print.
class EvalCase : public testing::Test {
 protected:
  void SetUp() override {
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
  }
  void TearDown() override {
    const std::string out = testing::internal::GetCapturedStdout(), errors = testing::internal::GetCapturedStderr();
    if (HasFailure()) std::fputs(out.c_str(), stdout);  // what the test itself printed
    EXPECT_EQ(HasFailure() ? "" : out, "");
    EXPECT_EQ(errors, "");
  }

  std::string write(const std::string& name, const std::string& text) {
    write_text(folder_.path(name), text);
    return folder_.path(name);
  }

  // A random model; it counts how often it is opened.
  OpenModel model(Head head, std::vector<std::string> labels = {}, uint64_t seed = 1) {
    return model(tiny_config(), head, std::move(labels), seed);
  }
  OpenModel model(ModelConfig config, Head head, std::vector<std::string> labels = {}, uint64_t seed = 1) {
    config.vocab_size = 1100;
    config.labels = std::move(labels);
    write_tiny_model(folder_.path(), config, head, static_cast<int64_t>(config.labels.size()), seed);
    std::filesystem::copy(fixture("tokenizer/bytes.model"), folder_.path("spm.model"),
                          std::filesystem::copy_options::overwrite_existing);
    return [this]() -> const Pipeline& {
      ++opened_;
      pipeline_.emplace(open_pipeline(folder_.path(), {.threads = 1}));
      return *pipeline_;
    };
  }

  EvalHooks hooks(BadRows bad_rows = BadRows::kFail) {
    return {.bad_rows = bad_rows,
            .on_bad_row = [this](const Error& error) { bad_.emplace_back(error.what()); },
            .on_progress = [this](size_t done, size_t, std::optional<double>) { progress_.push_back(done); },
            .is_stopped = [this] { return is_stopped_.load(); }};
  }

  std::string written(const AnsweredRows& rows) const {
    class Text final : public FileWriter {
     public:
      void write(Bytes bytes) override { text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size()); }
      std::string text;
    } out;
    rows.write_predictions(out);
    return out.text;
  }

  static double value(const EvalResult& result, const std::string& name) {
    for (const Metric& metric : result.metrics) {
      if (metric.name == name) return metric.value.value_or(-1);
    }
    ADD_FAILURE() << "no metric " << name;
    return -1;
  }

  TemporaryFolder folder_;
  std::optional<Pipeline> pipeline_;
  size_t opened_ = 0;
  std::vector<std::string> bad_;
  std::vector<size_t> progress_;
  std::atomic<bool> is_stopped_ = false;
};

}  // namespace deberta::test
