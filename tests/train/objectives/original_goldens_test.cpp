// The trainer against outputs and gradients of the original code (as for the engine:
// tests/engine/original_goldens_test.cpp), in double and in fp32. A case whose kind is in no list fails.
// B sequences  L positions  T packed tokens  P rows to predict  D hidden
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/json.h"
#include "checkpoint/safetensors.h"
#include "checkpoint/tensor_table.h"
#include "config/model_config.h"
#include "support/torch_numbers.h"
#include "train/objectives/language_model.h"
#include "train/objectives/original_case.h"
#include "train/objectives/replay.h"
#include "train/objectives/task.h"
#include "train/objectives/task_losses.h"
#include "train/ops/linear.h"

namespace deberta::train::original_goldens_test {
namespace {

using namespace test;

constexpr double kSingle = 5e-5, kDouble = 2e-5;  // from the folder's README

const std::set<std::string> kKinds = {
    "encoder", "sequence_classification", "token_classification", "multiple_choice", "record", "mlm", "rtd"};
const std::map<std::string, std::string> kOtherKinds = {
    {"layer", "a layer alone under a 3-D mask; the trainer has no 3-D masks but the causal one"},
    {"optimizer", "train/optim"},
    {"schedules", "train/optim"},
    {"masking_statistics", "train/data"},
    {"rows", "tests/kernels"},
    {"rtd_joint", "replaced_tokens_goldens_test.cpp"},
    {"rtd_decoupled", "train/step"},
    {"sift", "perturbation_goldens_test.cpp"}};
const std::map<std::string, std::string> kOtherCases = {{"v2_conv_mask3d", "a 3-D mask that is not causal"},
                                                        {"v3_relative_given", "relative positions as an input"}};

std::vector<float> floats(const SafetensorsFile& file, const std::string& name) {
  return to_fp32(*file.find(name));
}

struct Run {
  std::string name;
  std::string kind;
  const SafetensorsFile& file;
  double tolerance;
  Model model;
  PackedCase packed;
  std::map<std::string, double> errors = {};

  void compare(const std::string& output, const at::Tensor& expected, const at::Tensor& got) {
    const double error = worst_difference(expected.flatten(), got.flatten());
    errors[output] = error;
    EXPECT_LE(error, tolerance) << name << ": " << output;
  }
  // Rows [T, columns] against [B * L, columns].
  void compare_rows(const std::string& output, const at::Tensor& got_TD) {
    const at::Tensor expected = read(file, "out." + output);
    if (!expected.defined()) return;
    const at::Tensor rows_BLD = expected.view({-1, got_TD.size(1)});
    compare(output, take(rows_BLD, packed.real_BL), take(got_TD, packed.real_T));
  }
  static at::Tensor take(const at::Tensor& x, const std::vector<int64_t>& rows) {
    at::Tensor index = at::empty({static_cast<int64_t>(rows.size())}, at::kLong);
    std::copy(rows.begin(), rows.end(), index.data_ptr<int64_t>());
    return x.index_select(0, index);
  }
};

const Compute kCompute{.kernels = select_kernels("auto")};

// Gradients that backward() left in the model against out.grad.*, under any prefix.
void compare_gradients(Run& run, double count) {
  std::map<std::string, at::Tensor> gradients;
  visit(run.model, [&](const ParameterSpec& spec, at::Tensor& tensor) {
    gradients[spec.name] = tensor.grad().defined() ? test::gradient_of(tensor) / count : at::zeros_like(tensor);
  });
  std::set<std::string> seen;
  for (const TensorView& view : run.file.tensors()) {
    if (!view.name.starts_with("out.grad.")) continue;
    std::string name = view.name.substr(9);
    if (name.starts_with("deberta.")) name.erase(0, 8);
    const at::Tensor expected = read(run.file, view.name);
    const auto gradient = gradients.find(name);
    if (gradient ==
        gradients.end()) {  // a tensor that this objective does not train: the original has no gradient either
      EXPECT_EQ(expected.abs().max().item<double>(), 0) << run.name << ": " << name;
      continue;
    }
    run.compare("grad." + name, expected, gradient->second);
    seen.insert(name);
  }
  if (seen.empty()) return;
  for (const NamedParameter& parameter : trained_parameters(run.model)) {
    EXPECT_TRUE(seen.contains(parameter.name)) << run.name << " has no gradient of " << parameter.name;
  }
}

void check_loss(Run& run, const Loss& loss) {
  const auto count = static_cast<double>(loss.count);
  run.compare("loss", read(run.file, "out.loss"), loss.sum / count);
  loss.sum.backward();
  compare_gradients(run, count);
}

Pass make_pass(const Run& run) {
  return train::make_pass(run.model, kCompute, input_of(run.packed.batch), {});
}

EncoderStates check_hidden(Run& run) {
  EncoderStates states = encode(make_pass(run), run.model);
  for (size_t n = 0; n < states.hidden_TD.size(); ++n) {
    run.compare_rows("hidden." + std::to_string(n), states.hidden_TD[n]);
  }
  return states;
}

void run_encoder(Run& run) {
  const EncoderStates states = check_hidden(run);
  const at::Tensor cotangent = read(run.file, "in.cotangent");
  if (!cotangent.defined()) return;
  const at::Tensor h_TD = Run::take(states.hidden_TD.back(), run.packed.real_T);
  const at::Tensor weights = Run::take(cotangent.view({-1, h_TD.size(1)}), run.packed.real_BL);
  check_loss(run, {(h_TD * weights.to(h_TD.scalar_type())).sum(at::kDouble), 1, 0});
}

void run_language_model(Run& run) {
  set_labels(run.packed, integers<int32_t>(run.file, "in.labels"));
  const EncoderStates all = check_hidden(run);
  const Pass pass = make_pass(run);
  if (run.model.form.has_mask_decoder()) {
    EncoderStates states = all;
    states.hidden_TD.pop_back();
    const auto decoded =
        decode_masked(pass, run.model.encoder, run.model.embeddings.position_PE, states, run.packed.batch.rows_P);
    for (size_t k = 0; k < decoded.size(); ++k) {
      const std::string output = "decoder." + std::to_string(k + 1);
      run.compare(output, read(run.file, "out." + output), decoded[k]);
    }
  }
  const at::Tensor logits = linear(kCompute, word_states(pass, run.model, run.packed.batch.rows_P),
                                   run.model.embeddings.word_VE, run.model.head.bias_V);
  run.compare("logits", read(run.file, "out.logits"), logits);
  check_loss(run, language_model_loss(run.model, kCompute, run.packed.batch, {}));
}

at::Tensor logits_of(const Run& run, TaskLoss loss, const TaskBatch& batch) {
  const Pass pass = make_pass(run);
  return task_logits(pass, run.model, loss, batch, sum_embeddings(pass, run.model.embeddings)).logits_NC;
}

// Fine-tuning by the batch that the trainer would make. Logits are rows [B, C], questions [Q, choices], mentions [M].
void run_task(Run& run, TaskLoss loss, const TaskBatch& batch) {
  check_hidden(run);
  run.compare("logits", read(run.file, "out.logits").flatten(), logits_of(run, loss, batch).flatten());
  check_loss(run, task_loss(run.model, kCompute, batch, {.loss = loss}, {}));
}

void run_sequence_head(Run& run) {
  const TensorView& labels = *run.file.find("in.labels");
  TaskBatch batch;
  batch.input = run.packed.batch;
  if (run.kind == "multiple_choice") {
    batch.right_Q = integers<int32_t>(run.file, "in.labels");
    for (int32_t b = 0; static_cast<size_t>(b) <= batch.input.sequences(); b += 4) batch.questions.push_back(b);
    return run_task(run, TaskLoss::kChoice, batch);
  }
  if (labels.dtype == DType::kI32) {
    batch.classes_B = integers<int32_t>(run.file, "in.labels");
  } else {
    batch.values_BC = floats(run.file, "in.labels");
  }
  run_task(run, run.model.form.labels == 1 ? TaskLoss::kScore : TaskLoss::kClass, batch);
}

void run_token_head(Run& run) {
  TaskBatch batch;
  batch.input = run.packed.batch;
  const auto labels_BL = integers<int32_t>(run.file, "in.labels");
  for (size_t n = 0; n < run.packed.real_T.size(); ++n) {
    batch.input.rows_P.push_back(static_cast<int32_t>(run.packed.real_T[n]));
    batch.input.labels_P.push_back(labels_BL[static_cast<size_t>(run.packed.real_BL[n])]);
  }
  check_hidden(run);
  const at::Tensor logits_NC = logits_of(run, TaskLoss::kTokens, batch);
  const at::Tensor expected_BLC = read(run.file, "out.logits").view({-1, logits_NC.size(1)});
  run.compare("logits", Run::take(expected_BLC, run.packed.real_BL), logits_NC);
  check_loss(run, task_loss(run.model, kCompute, batch, {.loss = TaskLoss::kTokens}, {}));
}

// Token 0 of a sequence stands for no piece.
void run_mentions(Run& run) {
  TaskBatch batch;
  batch.input = run.packed.batch;
  batch.mentions = {0};
  batch.right_M = floats(run.file, "in.labels");
  const Shape& shape = run.file.find("in.entity_indices")->shape;  // [B, mentions, pieces]
  const auto length = static_cast<int64_t>(run.packed.mask_BL.size()) / shape[0];
  int64_t element = 0;
  for (const auto index : integers<int64_t>(run.file, "in.entity_indices")) {
    const int64_t sequence = element / (shape[1] * shape[2]);
    if (index > 0) {
      const auto real = std::ranges::find(run.packed.real_BL, sequence * length + index);
      batch.mention_rows.push_back(
          static_cast<int32_t>(run.packed.real_T[static_cast<size_t>(real - run.packed.real_BL.begin())]));
    }
    if (++element % shape[2] != 0) continue;
    batch.mentions.push_back(static_cast<int32_t>(batch.mention_rows.size()));
    batch.mention_sequences_M.push_back(static_cast<int32_t>(sequence));
  }
  run_task(run, TaskLoss::kMention, batch);
}

void run_replaced_tokens(Run& run) {
  const EncoderStates states = check_hidden(run);
  const at::Tensor logits = replaced_logits(make_pass(run), run.model.head, states.hidden_TD.back());
  run.compare_rows("logits", logits);
  check_loss(run, binary_loss(Run::take(logits, run.packed.real_T), floats(run.file, "out.label_ids")));
}

void run_case(Run& run) {
  if (run.kind == "encoder") return run_encoder(run);
  if (run.kind == "mlm") return run_language_model(run);
  if (run.kind == "token_classification") return run_token_head(run);
  if (run.kind == "record") return run_mentions(run);
  if (run.kind == "rtd") return run_replaced_tokens(run);
  run_sequence_head(run);
}

struct Tally {
  size_t cases = 0, values = 0, gradients = 0, cases_with_gradients = 0;
  double worst_value = 0, worst_gradient = 0;

  void add(const Run& run) {
    ++cases;
    const size_t before = gradients;
    for (const auto& [output, error] : run.errors) {
      const bool is_gradient = output.starts_with("grad.");
      ++(is_gradient ? gradients : values);
      double& worst = is_gradient ? worst_gradient : worst_value;
      worst = std::max(worst, error);
    }
    if (gradients > before) ++cases_with_gradients;
  }
};

void run_named(const std::string& folder, const std::string& name, at::ScalarType type, Tally& tally) {
  const Json about = load_json(folder + "/" + name + ".json");
  const std::string kind = about.find("kind")->as_string();
  if (kOtherKinds.contains(kind) || kOtherCases.contains(name)) return;
  ASSERT_TRUE(kKinds.contains(kind)) << name << ": no test knows cases of the kind " << kind;
  const SafetensorsFile file(folder + "/" + name + ".safetensors");
  Run run{.name = name,
          .kind = kind,
          .file = file,
          .tolerance = type == at::kDouble ? kDouble : kSingle,
          .model = load_case(about, file, type),
          .packed = pack_case(file, "in.")};
  run_case(run);
  EXPECT_FALSE(run.errors.empty()) << name << ": nothing was compared";
  tally.add(run);
}

void run_all(at::ScalarType type) {
  const std::string folder = original_goldens();
  if (folder.empty()) GTEST_SKIP() << kNoGoldens;
  Tally tally;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".json") run_named(folder, entry.path().stem().string(), type, tally);
  }
  EXPECT_GE(tally.cases_with_gradients, 8u);
  std::cout << tally.cases << " cases, " << tally.values << " outputs, worst error " << tally.worst_value << "; "
            << tally.gradients << " gradients of " << tally.cases_with_gradients << " cases, worst error "
            << tally.worst_gradient << "\n";
}

TEST(OriginalGoldens, AgreeInDouble) {
  run_all(at::kDouble);
}
TEST(OriginalGoldens, AgreeInSinglePrecision) {
  run_all(at::kFloat);
}

}  // namespace
}  // namespace deberta::train::original_goldens_test
