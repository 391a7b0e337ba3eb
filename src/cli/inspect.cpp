// The verb `inspect`: the tensors of a model, their statistics, the differences between two models.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "checkpoint/tensor.h"
#include "checkpoint/tensor_table.h"
#include "cli/statistics.h"
#include "cli/verbs.h"
#include "deberta/checkpoint.h"
#include "deberta/error.h"
#include "hub/module_list.h"
#include "program/answers.h"
#include "program/interrupt.h"
#include "program/model_options.h"
#include "program/note.h"

namespace deberta::cli {
namespace {

program::Answer describe(const TensorView& tensor, bool wants_statistics) {
  const std::string shape = to_string(tensor.shape);
  program::Answer answer{{{"name", tensor.name},
                          {"dtype", to_string(tensor.dtype)},
                          {"shape", shape},
                          {"bytes", static_cast<uint64_t>(tensor.bytes.size())}},
                         {{tensor.name, std::string(to_string(tensor.dtype)), shape,
                           program::cell(static_cast<uint64_t>(tensor.bytes.size()))}}};
  if (!wants_statistics) return answer;
  const Statistics s = statistics_of(tensor);
  const std::pair<const char*, double> values[] = {
      {"min", s.min}, {"max", s.max}, {"mean", s.mean}, {"deviation", s.deviation}};
  for (const auto& [name, value] : values) {
    answer.object.emplace_back(name, static_cast<float>(value));
    answer.lines.front().push_back(fmt::format("{:.6g}", value));
  }
  answer.object.emplace_back("not_finite", s.not_finite);
  answer.lines.front().push_back(program::cell(s.not_finite));
  return answer;
}

program::Answer difference(const std::string& name, const std::string& what, double largest) {
  return {{{"name", name}, {"difference", what}, {"largest", static_cast<float>(largest)}},
          {{name, what, fmt::format("{:.6g}", largest)}}};
}

// One tensor in both models; adds nothing when they hold the same bytes.
void compare(const TensorView& ours, const TensorView* theirs, std::vector<program::Answer>& answers) {
  if (theirs == nullptr) return answers.push_back(difference(ours.name, "only in the first", 0));
  if (ours.shape != theirs->shape) {
    return answers.push_back(
        difference(ours.name, fmt::format("shape {} and {}", to_string(ours.shape), to_string(theirs->shape)), 0));
  }
  if (ours.dtype == theirs->dtype && std::equal(ours.bytes.begin(), ours.bytes.end(), theirs->bytes.begin())) return;
  const std::vector<float> a = to_fp32(ours), b = to_fp32(*theirs);
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(double{a[i]} - b[i]));
  const std::string what = ours.dtype == theirs->dtype
                               ? "values"
                               : fmt::format("{} and {}", to_string(ours.dtype), to_string(theirs->dtype));
  answers.push_back(difference(ours.name, what, largest));
}

std::string describe_head(const Checkpoint& checkpoint) {
  const int64_t labels = count_labels(checkpoint);
  const std::string name(to_string(detect_head(checkpoint)));
  return labels == 0 ? name : fmt::format("{} with {} labels", name, labels);
}

// How the encoders and the heads differ, in words.
std::string summarise(const Checkpoint& ours, const Checkpoint& theirs, const std::vector<program::Answer>& answers) {
  const auto is_encoder = [](const program::Answer& answer) {
    const std::string& name = answer.lines.front().front().text;
    return name.starts_with("embeddings.") || name.starts_with("encoder.");
  };
  const auto encoder = std::count_if(answers.begin(), answers.end(), is_encoder);
  const std::string encoders =
      encoder == 0 ? std::string("the same encoder")
                   : fmt::format("encoders that differ in {} tensor{}", encoder, encoder == 1 ? "" : "s");
  if (static_cast<size_t>(encoder) == answers.size()) return encoders + " and the same head";
  return fmt::format("{}; the heads: {}, {}", encoders, describe_head(ours), describe_head(theirs));
}

int print_differences(const InspectVerb& options, const Checkpoint& ours) {
  const Checkpoint theirs =
      Checkpoint::open(transformer_folder(program::model_root(options.diff)), program::open_options(options.model));
  std::vector<program::Answer> answers;
  for (const TensorView& tensor : ours.tensors()) {
    program::check_interrupted();
    compare(tensor, theirs.find(tensor.name), answers);
  }
  for (const TensorView& tensor : theirs.tensors()) {
    if (ours.find(tensor.name) == nullptr) answers.push_back(difference(tensor.name, "only in the second", 0));
  }
  program::print_table(options.output, {"name", "difference", "largest"}, answers);
  program::note(summarise(ours, theirs, answers));
  return 0;
}

}  // namespace

int run(const InspectVerb& options) {
  const std::string path = program::weights_path(options.model.name);
  const Checkpoint checkpoint = Checkpoint::open(path, program::open_options(options.model));
  if (!options.diff.empty()) return print_differences(options, checkpoint);
  const bool wants_statistics = options.stats;
  std::vector<std::string> columns = {"name", "dtype", "shape", "bytes"};
  if (wants_statistics) columns.insert(columns.end(), {"min", "max", "mean", "deviation", "not_finite"});
  std::vector<program::Answer> answers;
  for (const TensorView& tensor : checkpoint.tensors()) {
    program::check_interrupted();
    answers.push_back(describe(tensor, wants_statistics));
  }
  program::print_table(options.output, columns, answers);
  return 0;
}

}  // namespace deberta::cli
