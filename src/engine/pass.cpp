// Linear layers and norms on rows.
#include "engine/pass.h"

#include "kernels/layer_norm.h"

namespace deberta {

void apply_linear(const Pass& pass, const Linear& linear, const float* x, size_t rows, KernelActivation activation,
                  float* y) {
  GemmParams p{};
  p.a_MK = x;
  p.rows = rows;
  p.weights = linear.weights;
  p.bias_N = linear.bias;
  p.activation = activation;
  p.c_MN = y;
  p.parallel = pass.parallel;
  gemm(pass.kernels, p);
}

void apply_norm(const Pass& pass, const Norm& norm, const NormStep& step) {
  LayerNormParams p{};
  p.x_TD = p.y_TD = step.x;
  p.residual_TD = step.residual;
  p.mask_T = step.mask_T;
  p.gamma_D = norm.gamma;
  p.beta_D = norm.beta;
  p.rows = step.rows;
  p.columns = step.columns;
  p.epsilon = pass.config.layer_norm_eps;
  p.parallel = pass.parallel;
  layer_norm(pass.kernels, p);
}

}  // namespace deberta
