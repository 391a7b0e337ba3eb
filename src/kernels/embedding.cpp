// Embedding: argument checks and the choice of implementation.
#include "kernels/embedding.h"

#include "deberta/error.h"
#include "kernels/reference/reference.h"

namespace deberta {

void embedding(const KernelSet& kernels, const EmbeddingParams& params) {
  if (params.tokens == 0) return;
  if (params.ids_T == nullptr || params.x_TE == nullptr || params.word.data == nullptr ||
      (params.position.rows > 0 && params.position_ids_T == nullptr)) {
    throw Error(ErrorCode::kInternal, "embedding", "a null pointer");
  }
  count_call(Operation::kEmbedding, kernels.level_of(Operation::kEmbedding));
  parallel_for(params.parallel, params.tokens, [&](size_t token, size_t) { reference_embedding(params, token); });
}

}  // namespace deberta
