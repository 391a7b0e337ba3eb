// Gathers rows in the forward pass; the gradient is a sparse tensor of the rows that were read.
#include "train/ops/embedding.h"

#include <ATen/ops/_sparse_coo_tensor_unsafe.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <span>
#include <vector>

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

// The rows of a table that ids name, ascending, each once.
struct ReadRows {
  std::vector<int32_t> ids_R, indices_N;  // indices_N: for each id its index in ids_R

  explicit ReadRows(const at::Tensor& ids_N) {
    const std::span<const int32_t> ids(ids_N.const_data_ptr<int32_t>(), rows_of(ids_N));
    ids_R.assign(ids.begin(), ids.end());
    std::ranges::sort(ids_R);
    ids_R.erase(std::unique(ids_R.begin(), ids_R.end()), ids_R.end());
    for (const int32_t id : ids) indices_N.push_back(index_of(id));
  }
  // -1: not among them.
  int32_t index_of(int64_t id) const {
    const auto position = std::ranges::lower_bound(ids_R, id);
    return position != ids_R.end() && *position == id ? static_cast<int32_t>(position - ids_R.begin()) : -1;
  }
  at::Tensor indices() const {
    const at::Tensor indices_1R = at::empty({1, static_cast<int64_t>(ids_R.size())}, at::kLong);
    std::ranges::copy(ids_R, indices_1R.mutable_data_ptr<int64_t>());
    return indices_1R;
  }
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

  // A sparse tensor of the rows that were read: a table has many more.
  static variable_list backward(AutogradContext* context, const variable_list& outputs) {
    const EmbeddingCall& call = held<EmbeddingCall>(context);
    const at::Tensor ids_N = context->get_saved_variables()[0], dx_NE = outputs[0].contiguous();
    const ReadRows read(ids_N);
    const at::Tensor rows_RE = at::zeros({static_cast<int64_t>(read.ids_R.size()), dx_NE.size(1)}, at::kFloat);
    EmbeddingGradientParams p{};
    p.ids_T = read.indices_N.data();
    p.dx_TE = dx_NE.const_data_ptr<float>();
    p.tokens = rows_of(ids_N);
    p.columns = columns_of(dx_NE);
    p.table_VE = rows_RE.mutable_data_ptr<float>();
    p.table_rows = read.ids_R.size();
    p.skipped_id = read.index_of(call.padding_id);
    const at::Tensor scratch = new_scratch(embedding_gradient_scratch_bytes(p.tokens));
    p.scratch = scratch.mutable_data_ptr();
    p.parallel = call.compute->parallel;
    embedding_gradient(call.compute->kernels, p);
    const at::Tensor table_VE = at::_sparse_coo_tensor_unsafe(read.indices(), rows_RE, call.table_shape);
    table_VE._coalesced_(true);
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
