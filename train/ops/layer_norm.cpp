// Dropout, residual and norm in one kernel that saves z, mean and inverse for its gradient.
#include "train/ops/layer_norm.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/native_layer_norm.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

#include "kernels/layer_norm.h"
#include "kernels/layer_norm_gradient.h"
#include "train/ops/dropout.h"
#include "train/ops/kernel_call.h"

namespace deberta::train {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct NormCall {
  const Compute* compute = nullptr;
  double epsilon = 0;
  Dropout dropout;
  Rows rows;
  bool has_residual = false;
};

// Forward with z = dropout(x) + residual kept, backward of both. Without a residual (undefined) and dropout z is x.
class KernelAddNorm : public torch::autograd::Function<KernelAddNorm> {
 public:
  static at::Tensor forward(AutogradContext* context, const NormCall& call, const at::Tensor& x,
                            const at::Tensor& gamma_D, const at::Tensor& beta_D,
                            const std::optional<at::Tensor>& residual) {
    const at::Tensor x_ND = x.contiguous(), residual_ND = residual ? residual->contiguous() : at::Tensor();
    const bool is_plain = !residual && call.dropout.threshold() == 0;
    const at::Tensor y_ND = new_floats(x.sizes()), z_ND = is_plain ? x_ND : new_floats(x.sizes());
    const at::Tensor mean_N = new_floats({x.size(0)}), inverse_N = new_floats({x.size(0)});
    LayerNormParams p{};
    p.x_TD = x_ND.const_data_ptr<float>();
    p.residual_TD = residual ? residual_ND.const_data_ptr<float>() : nullptr;
    p.gamma_D = gamma_D.const_data_ptr<float>();
    p.beta_D = beta_D.const_data_ptr<float>();
    p.y_TD = y_ND.mutable_data_ptr<float>();
    p.rows = rows_of(x_ND);
    p.columns = columns_of(x_ND);
    p.epsilon = call.epsilon;
    p.dropout = to_kernel(call.dropout, call.rows);
    p.z_TD = is_plain ? nullptr : z_ND.mutable_data_ptr<float>();
    p.mean_T = mean_N.mutable_data_ptr<float>();
    p.inverse_T = inverse_N.mutable_data_ptr<float>();
    p.parallel = call.compute->parallel;
    deberta::layer_norm(call.compute->kernels, p);
    context->save_for_backward({z_ND, mean_N, inverse_N, gamma_D});
    hold(context, call);
    return y_ND;
  }

  static variable_list backward(AutogradContext* context, const variable_list& outputs) {
    const NormCall& call = held<NormCall>(context);
    const variable_list saved = context->get_saved_variables();
    const at::Tensor dy_ND = outputs[0].contiguous(), &z_ND = saved[0], &gamma_D = saved[3];
    const at::Tensor dz_ND = new_floats(z_ND.sizes());
    at::Tensor dx_ND = dz_ND, dgamma_D, dbeta_D;
    if (call.dropout.threshold() > 0) dx_ND = new_floats(z_ND.sizes());
    if (context->needs_input_grad(1)) dgamma_D = new_floats(gamma_D.sizes());
    if (context->needs_input_grad(2)) dbeta_D = new_floats(gamma_D.sizes());
    LayerNormGradientParams p{};
    p.dy_TD = dy_ND.const_data_ptr<float>();
    p.z_TD = z_ND.const_data_ptr<float>();
    p.mean_T = saved[1].const_data_ptr<float>();
    p.inverse_T = saved[2].const_data_ptr<float>();
    p.gamma_D = gamma_D.const_data_ptr<float>();
    p.dz_TD = dz_ND.mutable_data_ptr<float>();
    if (call.dropout.threshold() > 0) p.dx_TD = dx_ND.mutable_data_ptr<float>();
    p.dropout = to_kernel(call.dropout, call.rows);
    p.dgamma_D = floats_or_null(dgamma_D);
    p.dbeta_D = floats_or_null(dbeta_D);
    p.rows = rows_of(z_ND);
    p.columns = columns_of(z_ND);
    const at::Tensor scratch = new_scratch(layer_norm_gradient_scratch_bytes(p.rows, p.columns));
    p.scratch = scratch.mutable_data_ptr();
    p.parallel = call.compute->parallel;
    layer_norm_gradient(call.compute->kernels, p);
    return {at::Tensor(), dx_ND, dgamma_D, dbeta_D, call.has_residual ? dz_ND : at::Tensor()};
  }
};

at::Tensor compose_norm(const at::Tensor& x_ND, const NormWeights& norm) {
  return std::get<0>(at::native_layer_norm(x_ND, {x_ND.size(1)}, norm.gamma_D, norm.beta_D, norm.epsilon));
}

}  // namespace

at::Tensor layer_norm(const Compute& compute, const at::Tensor& x_ND, const NormWeights& norm) {
  if (!runs_kernels(compute, x_ND)) return compose_norm(x_ND, norm);
  const NormCall call{&compute, norm.epsilon, {}, {}, false};
  return KernelAddNorm::apply(call, x_ND, norm.gamma_D, norm.beta_D, to_optional({}));
}

at::Tensor add_norm(const Compute& compute, const at::Tensor& x_ND, const at::Tensor& residual_ND,
                    const NormWeights& norm, const Dropout& dropout, const Rows& rows) {
  if (runs_kernels(compute, x_ND)) {
    const NormCall call{&compute, norm.epsilon, dropout, rows, true};
    return KernelAddNorm::apply(call, x_ND, norm.gamma_D, norm.beta_D, to_optional(residual_ND));
  }
  return compose_norm(train::dropout(compute, x_ND, dropout, rows) + residual_ND, norm);
}

at::Tensor mask_rows(const Compute&, const at::Tensor& x_ND, const Rows& rows) {
  if (rows.mask_N.empty()) return x_ND;
  at::Tensor is_masked_N = at::zeros({x_ND.size(0), 1}, at::kBool);
  std::transform(rows.mask_N.begin(), rows.mask_N.end(), is_masked_N.data_ptr<bool>(),
                 [](uint8_t mask) { return mask == 0; });
  return x_ND.masked_fill(is_masked_N.to(x_ND.device()), 0);
}

}  // namespace deberta::train
