// One autograd function from x to the output projection; q, k and v are columns of one matrix.
#include "train/ops/self_attention.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/zeros.h>

#include <array>

#include "train/ops/attention_call.h"
#include "train/ops/linear.h"
#include "train/ops/linear_call.h"

namespace deberta::train {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;
using OptionalTensor = std::optional<at::Tensor>;

constexpr size_t kProjections = 3;  // query, key and value, in this order

struct SelfAttentionCall {
  const Compute* compute = nullptr;
  AttentionInputs inputs;  // no tensors in it
  bool wants_dx = false;
  bool wants_projections = false, wants_output = false;  // gradients of the weights and biases
  std::array<bool, kProjections + 1> has_bias{};         // the last: of the output
};

at::Tensor columns_of_projection(const at::Tensor& qkv, size_t n, int64_t size) {
  return qkv.narrow(1, static_cast<int64_t>(n) * size, size);
}

void set_projections(const at::Tensor& qkv, int64_t size, AttentionInputs& in) {
  in.q_ND = columns_of_projection(qkv, 0, size);
  in.k_TD = columns_of_projection(qkv, 1, size);
  in.v_TD = columns_of_projection(qkv, 2, size);
}

at::Tensor stacked_bias(const std::array<OptionalTensor, kProjections>& biases, int64_t size) {
  std::vector<at::Tensor> parts;
  for (const OptionalTensor& bias_D : biases) parts.push_back(bias_D ? *bias_D : at::zeros({size}));
  return at::cat(parts);
}

class KernelSelfAttention : public torch::autograd::Function<KernelSelfAttention> {
 public:
  static at::Tensor forward(AutogradContext* context, const Compute* compute, const AttentionInputs& inputs,
                            const at::Tensor& x, const at::Tensor& query, const OptionalTensor& query_bias,
                            const at::Tensor& key, const OptionalTensor& key_bias, const at::Tensor& value,
                            const OptionalTensor& value_bias, const at::Tensor& output,
                            const OptionalTensor& output_bias, const OptionalTensor& kr, const OptionalTensor& qr) {
    const int64_t size = query.size(0);
    const at::Tensor x_TD = to_operand(*compute, x.contiguous());
    const at::Tensor qkv = multiply_to_operand(*compute, x_TD, {query, key, value},
                                               stacked_bias({query_bias, key_bias, value_bias}, size));
    AttentionInputs in = inputs;
    set_projections(qkv, size, in);
    if (kr) in.kr_RD = kr->contiguous();
    if (qr) in.qr_RD = qr->contiguous();
    const at::Tensor out = new_operand(*compute, x.size(0), size);
    const AttentionOutputs outputs = run_attention(*compute, in, out.narrow(1, 0, size));
    const at::Tensor output_DD = output.contiguous();
    context->save_for_backward({x_TD, qkv, in.kr_RD, in.qr_RD, out, outputs.lse_HN, query, key, value, output_DD});
    hold(context, SelfAttentionCall{
                      compute,
                      without_tensors(in),
                      x.requires_grad(),
                      query.requires_grad() || key.requires_grad() || value.requires_grad(),
                      output.requires_grad(),
                      {query_bias.has_value(), key_bias.has_value(), value_bias.has_value(), output_bias.has_value()}});
    return multiply(*compute, out, output_DD, output_bias.value_or(at::Tensor()));
  }

  // Those of the three projections come together, of weights and biases, if one of the weights wants its own.
  static variable_list backward(AutogradContext* context, const variable_list& outputs) {
    const auto& [compute, inputs, wants_dx, wants_projections, wants_output, has_bias] =
        held<SelfAttentionCall>(context);
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &x_TD = saved[0], &qkv = saved[1], &out = saved[4], &output_DD = saved[9];
    const int64_t size = output_DD.size(0);
    AttentionInputs in = inputs;
    set_projections(qkv, size, in);
    in.kr_RD = saved[2];
    in.qr_RD = saved[3];
    const LinearGradients of_output =
        differentiate(*compute, outputs[0].contiguous(), out, output_DD, {.dw = wants_output, .db = wants_output});
    const at::Tensor dqkv = new_floats({x_TD.size(0), static_cast<int64_t>(kProjections) * size});
    AttentionGradients d{columns_of_projection(dqkv, 0, size),
                         columns_of_projection(dqkv, 1, size),
                         columns_of_projection(dqkv, 2, size),
                         {},
                         {}};
    differentiate_attention(*compute, in, {out.narrow(1, 0, size), saved[5]}, of_output.dx_NI, d);
    const LinearGradients g = differentiate(*compute, dqkv, x_TD, {saved[6], saved[7], saved[8]},
                                            {.dx = wants_dx, .dw = wants_projections, .db = wants_projections});
    const auto part = [&](const at::Tensor& all, size_t n) {
      return all.defined() ? all.narrow(0, static_cast<int64_t>(n) * size, size) : all;
    };
    const auto bias = [&](size_t n) { return has_bias[n] ? part(g.db_O, n) : at::Tensor(); };
    const at::Tensor output_bias = has_bias.back() ? of_output.db_O : at::Tensor();
    return {at::Tensor(),     at::Tensor(), g.dx_NI,         part(g.dw_OI, 0), bias(0),  part(g.dw_OI, 1), bias(1),
            part(g.dw_OI, 2), bias(2),      of_output.dw_OI, output_bias,      d.dkr_RD, d.dqr_RD};
  }
};

// The operation as its parts.
at::Tensor composed(const Compute& compute, const at::Tensor& x_TD, AttentionInputs in, const SelfAttentionWeights& w) {
  const auto project = [&](const at::Tensor& x, const SelfAttentionWeights::Projection& projection) {
    return linear(compute, x, projection.weight_DD, projection.bias_D);
  };
  in.q_ND = project(x_TD, w.query);
  in.k_TD = project(x_TD, w.key);
  in.v_TD = project(x_TD, w.value);
  return project(attention(compute, in), w.output);
}

}  // namespace

at::Tensor self_attention(const Compute& compute, const at::Tensor& x_TD, const AttentionInputs& in,
                          const SelfAttentionWeights& w) {
  const bool has_even_width = w.query.weight_DD.size(0) % 2 == 0;  // else the number behind a row has to be 0
  if (!runs_kernels(compute, x_TD) || !has_even_width) return composed(compute, x_TD, in, w);
  return KernelSelfAttention::apply(&compute, in, x_TD, w.query.weight_DD, to_optional(w.query.bias_D), w.key.weight_DD,
                                    to_optional(w.key.bias_D), w.value.weight_DD, to_optional(w.value.bias_D),
                                    w.output.weight_DD, to_optional(w.output.bias_D), to_optional(in.kr_RD),
                                    to_optional(in.qr_RD));
}

}  // namespace deberta::train
