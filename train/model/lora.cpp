// Finds the matrices to be adapted, merges s B A into them, and splits their gradients into those of A and B.
#include "train/model/lora.h"

#include <ATen/TensorOperators.h>

#include <algorithm>
#include <array>

#include "deberta/error.h"
#include "train/ops/linear.h"

namespace deberta::train {
namespace {

constexpr std::string_view kWeight = ".weight";
constexpr std::array<std::string_view, 8> kTargets = {"query_proj",         "key_proj",     "value_proj",
                                                      "pos_query_proj",     "pos_key_proj", "attention.output.dense",
                                                      "intermediate.dense", "output.dense"};

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorCode::kUsage, {{.message = what, .argument = "lora_targets"}});
}

void check_known(const std::string& target) {
  if (std::ranges::find(kTargets, target) != kTargets.end()) return;
  std::string known;
  for (const std::string_view name : kTargets) known += (known.empty() ? "" : ", ") + std::string(name);
  refuse("expected names among " + known + ", got \"" + target + "\"");
}

bool is_of(const std::string& module, const std::string& target) {
  return module.starts_with("encoder.") && module.ends_with("." + target);
}

// Every weight that is added to, with what is added.
template <class Each>
void visit_lora(Model& model, const Each& each) {
  size_t next = 0;
  visit(model, [&](const ParameterSpec& spec, at::Tensor& weight_OI) {
    if (next < model.lora.size() && spec.name == model.lora[next].module + std::string(kWeight))
      each(model.lora[next++], weight_OI);
  });
}

Compute in_fp32(Compute compute) {
  compute.precision = Precision::kFp32;
  compute.store = nullptr;
  return compute;
}

}  // namespace

std::vector<LoraMatrices> list_lora(Model& model) {
  std::vector<std::string> missing = model.form.lora->targets;
  std::ranges::for_each(missing, check_known);
  if (missing.empty()) refuse("expected at least one name, got none");
  std::vector<LoraMatrices> modules;
  visit(model, [&](const ParameterSpec& spec, at::Tensor&) {
    if (!spec.name.ends_with(kWeight)) return;
    const std::string module = spec.name.substr(0, spec.name.size() - kWeight.size());
    const auto names_it = [&](const std::string& target) { return is_of(module, target); };
    if (std::ranges::any_of(model.form.lora->targets, names_it))
      modules.push_back({.module = module, .shape_OI = spec.shape});
    std::erase_if(missing, names_it);
  });
  if (!missing.empty()) refuse("expected layers of the model, which has no " + missing.front());
  return modules;
}

void begin_lora(Model& model) {
  visit_lora(model, [](LoraMatrices& m, at::Tensor& weight_OI) { m.base_OI = weight_OI.detach(); });
  own_weights_of_lora(model);
}

void own_weights_of_lora(Model& model) {
  visit_lora(model,
             [](LoraMatrices&, at::Tensor& weight_OI) { weight_OI = weight_OI.detach().clone().requires_grad_(true); });
}

void merge_lora(const Compute& compute, Model& model) {
  if (model.lora.empty()) return;
  const at::AutoGradMode without_gradients(false);
  const Compute exact = in_fp32(compute);
  const double scale = model.form.lora->scale();
  visit_lora(model, [&](LoraMatrices& m, at::Tensor& weight_OI) {
    const at::Tensor product_OI = linear(exact, m.b_OR, m.a_RI.t().contiguous(), {});
    weight_OI.copy_(m.base_OI + product_OI * scale);
  });
}

void differentiate_lora(const Compute& compute, Model& model) {
  if (model.lora.empty()) return;
  const at::AutoGradMode without_gradients(false);
  const Compute exact = in_fp32(compute);
  const double scale = model.form.lora->scale();
  visit_lora(model, [&](LoraMatrices& m, at::Tensor& weight_OI) {
    const at::Tensor dw_OI = weight_OI.grad();
    if (!dw_OI.defined()) return;
    m.b_OR.mutable_grad().add_(linear(exact, dw_OI, m.a_RI, {}), scale);
    m.a_RI.mutable_grad().add_(linear(exact, m.b_OR.t().contiguous(), dw_OI.t().contiguous(), {}), scale);
    weight_OI.mutable_grad().reset();
  });
}

}  // namespace deberta::train
