#include "train/ops/embedding.h"

#include <ATen/ops/embedding.h>
#include <ATen/ops/zeros.h>

#include "kernels/embedding.h"
#include "kernels/embedding_gradient.h"
#include "train/ops/kernel_call.h"

namespace deberta::train {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct EmbeddingCall {
  const Compute* compute = nullptr;
  std::vector<int64_t> table_shape;
  int64_t padding_id = kNoPadding;
};

class KernelEmbedding : public torch::autograd::Function<KernelEmbedding> {
 public:
  static at::Tensor forward(AutogradContext* context, const Compute* compute, const at::Tensor& table,
                            const at::Tensor& ids_N, int64_t padding_id) {
    const at::Tensor table_VE = table.contiguous();
    context->save_for_backward({ids_N});
    hold(context, EmbeddingCall{compute, table.sizes().vec(), padding_id});
    at::Tensor x_NE = new_floats({ids_N.size(0), table.size(1)});
    EmbeddingParams p{};
    p.word = {.data = table_VE.const_data_ptr<float>(), .rows = rows_of(table_VE)};
    p.ids_T = ids_N.const_data_ptr<int32_t>();
    p.tokens = rows_of(ids_N);
    p.columns = columns_of(table_VE);
    p.x_TE = x_NE.mutable_data_ptr<float>();
    p.parallel = compute->parallel;
    deberta::embedding(compute->kernels, p);
    return x_NE;
  }

  static variable_list backward(AutogradContext* context, const variable_list& outputs) {
    const EmbeddingCall& call = held<EmbeddingCall>(context);
    const at::Tensor ids_N = context->get_saved_variables()[0], dx_NE = outputs[0].contiguous();
    const at::Tensor table_VE = at::zeros(call.table_shape, at::kFloat);
    EmbeddingGradientParams p{};
    p.ids_T = ids_N.const_data_ptr<int32_t>();
    p.dx_TE = dx_NE.const_data_ptr<float>();
    p.tokens = rows_of(ids_N);
    p.columns = columns_of(dx_NE);
    p.table_VE = table_VE.mutable_data_ptr<float>();
    p.table_rows = rows_of(table_VE);
    p.skipped_id = static_cast<int32_t>(call.padding_id);
    const at::Tensor scratch = new_scratch(embedding_gradient_scratch_bytes(p.tokens));
    p.scratch = scratch.mutable_data_ptr();
    p.parallel = call.compute->parallel;
    embedding_gradient(call.compute->kernels, p);
    return {at::Tensor(), table_VE, at::Tensor(), at::Tensor()};
  }
};

}  // namespace

at::Tensor embedding(const Compute& compute, const at::Tensor& table_VE, const at::Tensor& ids_N, int64_t padding_id) {
  if (runs_kernels(compute, table_VE) && ids_N.numel() > 0)
    return KernelEmbedding::apply(&compute, table_VE, ids_N, padding_id);
  return at::embedding(table_VE, ids_N, padding_id);
}

}  // namespace deberta::train
