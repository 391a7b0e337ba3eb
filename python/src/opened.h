// A model that a Python caller has opened: answers, vectors, passes. The GIL is released while it computes.
#pragma once
#include <nanobind/nanobind.h>
#include <sys/types.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "python/src/inputs.h"
#include "python/src/tasks.h"

namespace deberta::python {

struct OpenWords {  // as the caller wrote them
  std::string dtype = "auto";
  size_t threads = 0;
  std::string device = "cpu";
  std::string compat = "original";
  std::string tokenizer = "slow";
  bool allow_uncalibrated = false;
  size_t batch_tokens = 16000;
  bool share_weights = false;
};

class Opened {
 public:
  // Opens the model in a folder. Throws as open_pipeline(), kUsage for a word that is none of its row.
  Opened(const std::string& path, const OpenWords& words);
  explicit Opened(OpenedModel model);
  ~Opened();  // in a child of fork() the model is left alone: its threads are the parent's
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;

  // Calls that run end as they would; later ones are refused.
  void close() { model_.reset(); }
  bool is_closed() const { return model_ == nullptr; }

  // Throws kUsage once it is closed, and in a process that did not open it.
  std::shared_ptr<const OpenedModel> model() const;

  // One dict for each row, in order. A row that cannot be answered is an exception in its place, or, unless
  // `keeps_errors`, thrown. Signals are handled between groups of rows.
  nanobind::list run(const std::string& task, const Inputs& inputs, JsonObject parameters, bool keeps_errors) const;

  // [N, C]: the scores of classify, by class in the model's order.
  nanobind::tuple scores(const Inputs& inputs, JsonObject parameters) const;

  // [N, D]; without pooling a list of [L, D].
  nanobind::tuple embed(const Inputs& inputs, JsonObject parameters, const std::optional<std::string>& prompt) const;

 private:
  std::shared_ptr<const OpenedModel> model_;
  pid_t process_;
};

// Hands rows over in groups that fit one pack. After each, signals are handled and warnings passed on.
void for_each_group(size_t rows, const std::function<size_t(size_t row)>& bytes,
                    const std::function<void(size_t first, size_t count)>& take);

// The exception of Python for an error (deberta/_errors.py).
nanobind::object to_exception(const Error& error);

// The library's warnings, kept until a call holds the GIL again.
void keep_warnings();
// Gives them to Python's `warnings`. Throws python_error where a filter turns one into an exception.
void pass_warnings();

}  // namespace deberta::python
