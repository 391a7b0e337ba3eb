// Calls the engine's pooling forward, and hands each sequence's gradient back to the rows that made it.
#include "train/model/pooling.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <array>
#include <vector>

#include "heads/kernel_names.h"
#include "train/ops/kernel_call.h"

namespace deberta::train {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr size_t kColumnsAtOnce = 64;

struct PoolingCall {
  const Compute* compute = nullptr;
  ClassifierPooling pooling = ClassifierPooling::kFirst;
  SharedRows tokens;
};

PoolingInput input_of(const PoolingCall& call, const at::Tensor& hidden_TD, const float* query_D) {
  return {.pooling = to_kernel(call.pooling),
          .hidden_TD = hidden_TD.const_data_ptr<float>(),
          .columns = columns_of(hidden_TD),
          .starts = call.tokens->starts,
          .mask_T = call.tokens->mask_N.empty() ? nullptr : call.tokens->mask_N.data(),
          .query_D = query_D};
}

// What one sequence passes on to the rows of its tokens.
class SequenceGradient {
 public:
  SequenceGradient(const PoolingInput& input, size_t b, const float* g_BD, float* dh_TD)
      : in_(input), b_(b), g_D_(g_BD + b * input.columns), dh_TD_(dh_TD) {}

  void of_mean() {
    size_t count = 0;
    for (size_t t = in_.begin(b_); t < in_.end(b_); ++t) count += in_.counts(t);
    for (size_t t = in_.begin(b_); t < in_.end(b_); ++t) {
      for (size_t d = 0; in_.counts(t) && d < in_.columns; ++d)
        dh_TD_[t * in_.columns + d] = static_cast<float>(double{g_D_[d]} / static_cast<double>(count));
    }
  }

  void of_max(const int32_t* largest_BD) {
    for (size_t d = 0; d < in_.columns; ++d) {
      const int32_t t = largest_BD[b_ * in_.columns + d];
      if (t >= 0) dh_TD_[static_cast<size_t>(t) * in_.columns + d] = g_D_[d];
    }
  }

  // Leaves c_t in changes_T.
  void of_attention(const double* weights_T, double* changes_T) {
    double mean = 0;  // g . sum of a_s h_s
    for (size_t t = in_.begin(b_); t < in_.end(b_); ++t) {
      if (!in_.counts(t)) continue;
      changes_T[t] = dot_with_g(in_.row(t));
      mean += weights_T[t] * changes_T[t];
    }
    for (size_t t = in_.begin(b_); t < in_.end(b_); ++t) {
      if (!in_.counts(t)) continue;
      changes_T[t] = weights_T[t] * (changes_T[t] - mean);
      for (size_t d = 0; d < in_.columns; ++d)
        dh_TD_[t * in_.columns + d] =
            static_cast<float>(weights_T[t] * double{g_D_[d]} + changes_T[t] * double{in_.query_D[d]});
    }
  }

 private:
  double dot_with_g(const float* h_D) const {
    double sum = 0;
    for (size_t d = 0; d < in_.columns; ++d) sum += double{g_D_[d]} * double{h_D[d]};
    return sum;
  }

  const PoolingInput& in_;
  size_t b_;
  const float* g_D_;
  float* dh_TD_;
};

// Sum of c_t h_t, in the order of the tokens.
at::Tensor query_gradient(const PoolingInput& in, const std::vector<double>& changes_T, const Parallel& parallel) {
  at::Tensor dw_D = new_floats({static_cast<int64_t>(in.columns)});
  float* dw = dw_D.mutable_data_ptr<float>();
  parallel_for(parallel, (in.columns + kColumnsAtOnce - 1) / kColumnsAtOnce, [&](size_t block, size_t) {
    const size_t first = block * kColumnsAtOnce, width = std::min(kColumnsAtOnce, in.columns - first);
    std::array<double, kColumnsAtOnce> sums{};
    for (size_t t = 0; t < changes_T.size(); ++t) {
      if (!in.counts(t)) continue;
      for (size_t d = 0; d < width; ++d) sums[d] += changes_T[t] * double{in.row(t)[first + d]};
    }
    for (size_t d = 0; d < width; ++d) dw[first + d] = static_cast<float>(sums[d]);
  });
  return dw_D;
}

// Saved: the hidden states and, of attention, the query and the weights; of max the rows.
class KernelPooling : public torch::autograd::Function<KernelPooling> {
 public:
  static at::Tensor forward(AutogradContext* context, const PoolingCall& call, const at::Tensor& x_TD,
                            const std::optional<at::Tensor>& query) {
    const at::Tensor hidden_TD = x_TD.contiguous();
    const at::Tensor query_D = query ? query->contiguous() : at::Tensor();
    const PoolingInput in = input_of(call, hidden_TD, floats_or_null(query_D));
    const auto sequences = static_cast<int64_t>(in.sequences());
    at::Tensor pooled_BD = new_floats({sequences, hidden_TD.size(1)});
    PoolingOutput out{.pooled_BD = pooled_BD.mutable_data_ptr<float>()};
    variable_list saved = {hidden_TD};
    if (call.pooling == ClassifierPooling::kMax) {
      saved.push_back(at::zeros({sequences, hidden_TD.size(1)}, at::kInt));
      out.largest_BD = saved.back().mutable_data_ptr<int32_t>();
    } else if (call.pooling == ClassifierPooling::kAttention) {
      saved.push_back(query_D);
      saved.push_back(at::zeros({hidden_TD.size(0)}, at::kDouble));
      out.weights_T = saved.back().mutable_data_ptr<double>();
    }
    pool_rows(call.compute->kernels, in, out, call.compute->parallel);
    context->save_for_backward(saved);
    hold(context, call);
    return pooled_BD;
  }

  static variable_list backward(AutogradContext* context, const variable_list& outputs) {
    const auto& call = held<PoolingCall>(context);
    const variable_list saved = context->get_saved_variables();
    const bool is_attention = call.pooling == ClassifierPooling::kAttention;
    const PoolingInput in = input_of(call, saved[0], is_attention ? saved[1].const_data_ptr<float>() : nullptr);
    const at::Tensor g_BD = outputs[0].contiguous();
    at::Tensor dh_TD = at::zeros(saved[0].sizes(), at::kFloat);
    std::vector<double> changes_T(is_attention ? rows_of(dh_TD) : 0);
    float* dh = dh_TD.mutable_data_ptr<float>();
    const float* g = g_BD.const_data_ptr<float>();
    parallel_for(call.compute->parallel, in.sequences(), [&](size_t b, size_t) {
      SequenceGradient gradient(in, b, g, dh);
      if (call.pooling == ClassifierPooling::kMean) gradient.of_mean();
      if (call.pooling == ClassifierPooling::kMax) gradient.of_max(saved[1].const_data_ptr<int32_t>());
      if (is_attention) gradient.of_attention(saved[2].const_data_ptr<double>(), changes_T.data());
    });
    const bool wants_query = is_attention && context->needs_input_grad(1);
    return {at::Tensor(), dh_TD, wants_query ? query_gradient(in, changes_T, call.compute->parallel) : at::Tensor()};
  }
};

at::Tensor pool_sequence(ClassifierPooling pooling, const at::Tensor& h_LD, const at::Tensor& query_D) {
  if (pooling == ClassifierPooling::kMax) return std::get<0>(h_LD.max(0));
  const at::Tensor wide_LD = h_LD.to(at::kDouble);
  if (pooling == ClassifierPooling::kMean) return wide_LD.mean(0).to(h_LD.scalar_type());
  const at::Tensor weights_L = wide_LD.matmul(query_D.to(at::kDouble)).softmax(0);
  return weights_L.matmul(wide_LD).to(h_LD.scalar_type());
}

at::Tensor compose(const PoolingCall& call, const at::Tensor& hidden_TD, const at::Tensor& query_D) {
  const Rows& tokens = *call.tokens;
  std::vector<at::Tensor> pooled;
  for (size_t b = 0; b < tokens.sequences(); ++b) {
    std::vector<int32_t> counted;
    for (size_t t = tokens.begin(b); t < tokens.end(b); ++t) {
      if (tokens.mask_N.empty() || tokens.mask_N[t] != 0) counted.push_back(static_cast<int32_t>(t));
    }
    pooled.push_back(counted.empty() ? at::zeros({hidden_TD.size(1)}, hidden_TD.options().requires_grad(false))
                                     : pool_sequence(call.pooling, take_rows(hidden_TD, counted), query_D));
  }
  return at::stack(pooled);
}

}  // namespace

at::Tensor pool(const Pass& pass, const OutputHead& head, const at::Tensor& hidden_TD) {
  const PoolingCall call{&pass.compute, pass.form.config.classifier_pooling, pass.tokens};
  if (runs_kernels(pass.compute, hidden_TD))
    return KernelPooling::apply(call, hidden_TD, to_optional(head.pooling_query_D));
  return compose(call, hidden_TD, head.pooling_query_D);
}

}  // namespace deberta::train
