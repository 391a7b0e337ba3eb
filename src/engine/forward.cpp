// DeBERTa (He et al. 2021), top to bottom:
//   h_0 = LN(word + type + position) * mask
//   h_n = layer_n(h_{n-1});  with a convolution  h_1 = LN( layer_1(h_0) + act(conv(h_0)) ) * mask
//   head(h_N), or with the mask decoder head(q2 of h_{N-1})
// T packed tokens  D hidden  E embedding size
#include "engine/forward.h"

#include <algorithm>

#include "engine/layer.h"
#include "engine/mask_decoder.h"
#include "engine/query_rows.h"
#include "engine/score_collector.h"
#include "engine/workspace.h"
#include "heads/kernel_names.h"
#include "kernels/convolution.h"

namespace deberta {
namespace {

// The linear layer that reads h_n next: the following layer's first; null after the last.
const Linear* consumer_of(const Pass& pass, size_t n) {
  return n < pass.weights.layers.size() ? &pass.weights.layers[n].query : nullptr;
}

void embed(const Pass& pass, const Workspace& space) {
  const Batch& batch = pass.batch;
  EmbeddingParams p{};
  p.word = pass.weights.word;
  p.type = pass.weights.type;
  if (pass.config.position_biased_input) p.position = pass.weights.position;
  p.ids_T = space.ids_T;
  p.type_ids_T = space.type_ids_T;
  p.position_ids_T = space.positions_T;
  p.tokens = batch.tokens();
  p.columns = as_size(pass.config.embedding_size);
  p.x_TE = space.embedding_TE;
  p.parallel = pass.parallel;
  embedding(pass.kernels, p);
  if (space.embedding_TE != space.hidden_TD) {
    apply_linear(pass, pass.weights.embed_proj,
                 {.x = space.embedding_TE, .rows = batch.tokens(), .y = space.hidden_TD});
  }
  apply_norm(pass, pass.weights.embedding_norm, hidden_states(pass, space),
             {.mask_T = space.input_mask_T, .consumer = consumer_of(pass, 0)});
}

// act(conv(h_0)), before the first layer overwrites h_0.
void convolve(const Pass& pass, const Workspace& space) {
  ConvolutionParams p{};
  p.x_TD = space.hidden_TD;
  p.mask_T = space.input_mask_T;
  p.starts = pass.batch.starts.data();
  p.sequences = pass.batch.sequences();
  p.shape = pass.weights.convolution.shape;
  p.weight_DGW = pass.weights.convolution.weight_DGW;
  p.packed_G = pass.weights.convolution.packed_G.data();
  p.scratch = space.convolution_scratch;
  p.bias_D = pass.weights.convolution.bias_D;
  p.activation = to_kernel(pass.config.conv_act);
  p.y_TD = space.convolution_TD;
  p.parallel = pass.parallel;
  convolution(pass.kernels, p);
}

void add_convolution(const Pass& pass, const Linear* consumer, const Workspace& space) {
  apply_norm(pass, pass.weights.convolution.norm, hidden_states(pass, space),
             {.residual_TD = space.convolution_TD, .mask_T = space.input_mask_T, .consumer = consumer});
}

// Where the hidden states of a layer are kept; null when they were not requested.
Hidden* find_kept(const Pass& pass, size_t layer, ForwardResult& result) {
  const auto& wanted = pass.options.layers;
  const auto at = std::find(wanted.begin(), wanted.end(), static_cast<int32_t>(layer));
  return at == wanted.end() ? nullptr : &result.hidden[as_size(at - wanted.begin())];
}

void keep_hidden(const Pass& pass, size_t layer, const Workspace& space, ForwardResult& result) {
  Hidden* hidden = find_kept(pass, layer, result);
  if (hidden == nullptr) return;
  hidden->layer = static_cast<int32_t>(layer);
  copy_to_host(pass, space.hidden_TD, pass.batch.tokens() * as_size(pass.config.hidden_size), hidden->rows_TD);
}

void run_layer(const Pass& pass, size_t n, const Workspace& space, ForwardResult& result) {
  const LayerWeights& layer = pass.weights.layers[n - 1];
  const Linear* consumer = consumer_of(pass, n);
  const bool has_convolution = n == 1 && pass.config.conv_kernel_size > 0;
  ScoreCollector scores(pass, layer, pass.options.wants_scores);
  if (has_convolution) convolve(pass, space);
  encoder_layer(pass, {.layer = layer, .consumer = consumer, .scores = scores.outputs()}, space);
  if (has_convolution) add_convolution(pass, consumer, space);
  scores.append_to(result.scores, n);
  keep_hidden(pass, n, space, result);
}

}  // namespace

void run_forward(const Pass& pass, PassMemory& memory, ForwardResult& result) {
  const Workspace space = make_workspace(pass, memory);
  const size_t last = pass.weights.layers.size();
  const bool has_decoder = runs_mask_decoder(pass);
  result.hidden.resize(pass.options.layers.size());
  embed(pass, space);
  keep_hidden(pass, 0, space, result);
  for (size_t n = 1; n < last; ++n) run_layer(pass, n, space, result);
  if (has_decoder) run_mask_decoder(pass, space, result);  // from h_{N-1}
  const bool is_read = pass.options.wants_scores || find_kept(pass, last, result) != nullptr;
  const bool has_only_convolved = last == 1 && pass.config.conv_kernel_size > 0;
  if (last > 0 && !has_decoder && !is_read && !has_only_convolved && reads_some_rows(pass)) {
    run_layer_for_rows(pass, pass.weights.layers.back(), space);
  } else if (last > 0 && (!has_decoder || is_read)) {
    run_layer(pass, last, space, result);
  }
  if (pass.options.wants_logits) pass.head.compute(pass, space, result);
}

}  // namespace deberta
