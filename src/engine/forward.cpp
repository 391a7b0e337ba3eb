// DeBERTa (He et al. 2021), top to bottom:
//   h_0 = LN(word + type + position) * mask
//   for each layer:  a = LN( attention(h) Wo + h );  h = LN( act(a W1) W2 + a )
//   head(h_N)
// B sequences  T packed tokens  L length of one sequence  H heads  K head size  D hidden  E embedding size  F
// feed-forward
#include "engine/forward.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/attention.h"
#include "kernels/layer_norm.h"

namespace deberta {
namespace {

size_t as_size(int64_t value) {
  return static_cast<size_t>(value);
}

// The buffers of a pass. Planned twice: once to measure, once to take.
struct Workspace {
  float* hidden_TD = nullptr;
  float* embedding_TE = nullptr;  // hidden_TD itself when E = D
  float* qkv_3HTK = nullptr;
  float* context_TD = nullptr;
  float* inner_TF = nullptr;
  int32_t* positions_T = nullptr;
  float* head_rows_ND = nullptr;
  float* head_inner_ND = nullptr;
  std::byte* attention_scratch = nullptr;
};

struct Planner {
  Arena* arena = nullptr;  // null: measure only
  size_t size_bytes = 0;
  template <class T>
  T* take(size_t count) {
    size_bytes += Arena::bytes_for<T>(count);
    return arena != nullptr ? arena->take<T>(count) : nullptr;
  }
};

AttentionParams base_attention(const Pass& pass) {
  const Batch& batch = pass.batch;
  AttentionParams p{};
  p.sequences = batch.sequences();
  p.heads = as_size(pass.config.num_attention_heads);
  p.head_size = as_size(pass.config.attention_head_size);
  p.starts = batch.starts.data();
  p.scale = 1 / std::sqrt(static_cast<double>(pass.config.attention_head_size * pass.config.attention_terms()));
  p.lut = pass.lut;
  if (!batch.mask_T.empty()) p.key_mask_T = p.query_mask_T = batch.mask_T.data();
  p.parallel = pass.parallel;
  return p;
}

Workspace plan(const Pass& pass, Planner& planner) {
  const size_t tokens = pass.batch.tokens();
  const size_t hidden = as_size(pass.config.hidden_size);
  const bool has_projection = pass.weights.embed_proj.weights.panels != nullptr;
  Workspace w;
  w.hidden_TD = planner.take<float>(tokens * hidden);
  w.embedding_TE = has_projection ? planner.take<float>(tokens * as_size(pass.config.embedding_size)) : w.hidden_TD;
  w.qkv_3HTK = planner.take<float>(3 * tokens * hidden);
  w.context_TD = planner.take<float>(tokens * hidden);
  w.inner_TF = planner.take<float>(tokens * as_size(pass.config.intermediate_size));
  w.positions_T = planner.take<int32_t>(tokens);
  w.head_rows_ND = planner.take<float>(head_rows(pass) * hidden);
  w.head_inner_ND = planner.take<float>(head_rows(pass) * head_inner_columns(pass));
  w.attention_scratch = planner.take<std::byte>(attention_scratch_bytes(pass.kernels, base_attention(pass)));
  return w;
}

const int32_t* positions(const Pass& pass, int32_t* default_T) {
  if (!pass.batch.position_ids_T.empty()) return pass.batch.position_ids_T.data();
  for (size_t b = 0; b < pass.batch.sequences(); ++b) {
    std::iota(default_T + pass.batch.starts[b], default_T + pass.batch.starts[b + 1], 0);
  }
  return default_T;
}

void embed(const Pass& pass, const Workspace& space) {
  const Batch& batch = pass.batch;
  EmbeddingParams p{};
  p.word = pass.weights.word;
  p.type = pass.weights.type;
  p.position = pass.weights.position;
  p.ids_T = batch.ids_T.data();
  p.type_ids_T = batch.type_ids_T.empty() ? nullptr : batch.type_ids_T.data();
  p.position_ids_T = positions(pass, space.positions_T);
  p.tokens = batch.tokens();
  p.columns = as_size(pass.config.embedding_size);
  p.x_TE = space.embedding_TE;
  p.parallel = pass.parallel;
  embedding(pass.kernels, p);
  if (space.embedding_TE != space.hidden_TD) {
    apply_linear(pass, pass.weights.embed_proj, space.embedding_TE, batch.tokens(), KernelActivation::kLinear,
                 space.hidden_TD);
  }
  apply_norm(pass, pass.weights.embedding_norm, space.hidden_TD, batch.tokens(), as_size(pass.config.hidden_size),
             batch.mask_T.empty() ? nullptr : batch.mask_T.data());
}

// x = LN(input W^T + b + x): the residual stream is the output.
void add_and_norm(const Pass& pass, const Linear& linear, const Norm& norm, const float* input, float* x_TD) {
  GemmParams p{};
  p.a_MK = input;
  p.rows = pass.batch.tokens();
  p.weights = linear.weights;
  p.bias_N = linear.bias;
  p.residual_MN = p.c_MN = x_TD;
  p.parallel = pass.parallel;
  gemm(pass.kernels, p);
  apply_norm(pass, norm, x_TD, pass.batch.tokens(), as_size(pass.config.hidden_size));
}

void project_qkv(const Pass& pass, const LayerWeights& layer, const Workspace& space) {
  GemmParams p{};
  p.a_MK = space.hidden_TD;
  p.rows = pass.batch.tokens();
  p.weights = layer.qkv.weights;
  p.bias_N = layer.qkv.bias;
  p.c_MN = space.qkv_3HTK;
  p.head_size = as_size(pass.config.attention_head_size);
  p.head_stride = p.rows * p.head_size;
  p.parallel = pass.parallel;
  gemm(pass.kernels, p);
}

void attend(const Pass& pass, const LayerWeights& layer, const Workspace& space, const AttentionScoreOutputs& scores) {
  AttentionParams p = base_attention(pass);
  const size_t head_stride = pass.batch.tokens() * p.head_size;
  const size_t part = p.heads * head_stride;
  p.q = {space.qkv_3HTK, p.head_size, head_stride};
  p.k = {space.qkv_3HTK + part, p.head_size, head_stride};
  p.v = {space.qkv_3HTK + 2 * part, p.head_size, head_stride};
  p.out = {space.context_TD, p.heads * p.head_size, p.head_size};
  p.has_c2p = layer.kr_HRK != nullptr;
  p.has_p2c = layer.qr_HRK != nullptr;
  const size_t table_stride = as_size(2 * pass.config.span()) * p.head_size;
  p.kr = {layer.kr_HRK, p.head_size, table_stride};
  p.qr = {layer.qr_HRK, p.head_size, table_stride};
  p.scores = scores;
  p.scratch = space.attention_scratch;
  attention(pass.kernels, p);
}

void encoder_layer(const Pass& pass, const LayerWeights& layer, const Workspace& space,
                   const AttentionScoreOutputs& scores) {
  project_qkv(pass, layer, space);
  attend(pass, layer, space, scores);
  add_and_norm(pass, layer.attention_output, layer.attention_norm, space.context_TD, space.hidden_TD);
  apply_linear(pass, layer.up, space.hidden_TD, pass.batch.tokens(), to_kernel(pass.config.hidden_act), space.inner_TF);
  add_and_norm(pass, layer.down, layer.output_norm, space.inner_TF, space.hidden_TD);
}

// The scores of one layer for all sequences, as the kernel writes them, and their way into the result.
class ScoreCollector {
 public:
  ScoreCollector(const Pass& pass, const LayerWeights& layer) : pass_(pass) {
    if (!pass.options.wants_scores) return;
    for (size_t b = 0; b < pass.batch.sequences(); ++b) count_ += size_of(b);
    c2c_.resize(count_);
    if (layer.kr_HRK != nullptr) c2p_.resize(count_);
    if (layer.qr_HRK != nullptr) p2c_.resize(count_);
    probabilities_.resize(count_);
  }

  AttentionScoreOutputs outputs() {
    const auto data = [](std::vector<float>& x) { return x.empty() ? nullptr : x.data(); };
    return {data(c2c_), data(c2p_), data(p2c_), data(probabilities_)};
  }

  void append_to(ForwardResult& result, size_t layer) const {
    if (!pass_.options.wants_scores) return;
    size_t begin = 0;
    for (size_t b = 0; b < pass_.batch.sequences(); ++b) {
      const size_t end = begin + size_of(b);
      const auto part = [&](const std::vector<float>& x) {
        if (x.empty()) return std::vector<float>{};
        return std::vector<float>(x.begin() + static_cast<std::ptrdiff_t>(begin),
                                  x.begin() + static_cast<std::ptrdiff_t>(end));
      };
      result.scores.push_back({static_cast<int32_t>(layer), static_cast<int32_t>(b), part(c2c_), part(c2p_), part(p2c_),
                               part(probabilities_)});
      begin = end;
    }
  }

 private:
  size_t size_of(size_t sequence) const {
    const size_t length = as_size(pass_.batch.starts[sequence + 1] - pass_.batch.starts[sequence]);
    return as_size(pass_.config.num_attention_heads) * length * length;
  }

  const Pass& pass_;
  size_t count_ = 0;
  std::vector<float> c2c_, c2p_, p2c_, probabilities_;
};

void keep_hidden(const Pass& pass, size_t layer, const float* hidden_TD, ForwardResult& result) {
  const auto& wanted = pass.options.layers;
  if (std::find(wanted.begin(), wanted.end(), static_cast<int32_t>(layer)) == wanted.end()) return;
  const size_t count = pass.batch.tokens() * as_size(pass.config.hidden_size);
  result.hidden.push_back({static_cast<int32_t>(layer), std::vector<float>(hidden_TD, hidden_TD + count)});
}

}  // namespace

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

void apply_norm(const Pass& pass, const Norm& norm, float* x, size_t rows, size_t columns, const uint8_t* mask_T) {
  LayerNormParams p{};
  p.x_TD = p.y_TD = x;
  p.mask_T = mask_T;
  p.gamma_D = norm.gamma;
  p.beta_D = norm.beta;
  p.rows = rows;
  p.columns = columns;
  p.epsilon = pass.config.layer_norm_eps;
  p.parallel = pass.parallel;
  layer_norm(pass.kernels, p);
}

void run_forward(const Pass& pass, Arena& arena, ForwardResult& result) {
  Planner measure;
  plan(pass, measure);
  arena.reserve(measure.size_bytes);
  Planner taker{.arena = &arena};
  const Workspace space = plan(pass, taker);

  embed(pass, space);
  keep_hidden(pass, 0, space.hidden_TD, result);
  for (size_t n = 0; n < pass.weights.layers.size(); ++n) {
    const LayerWeights& layer = pass.weights.layers[n];
    ScoreCollector scores(pass, layer);
    encoder_layer(pass, layer, space, scores.outputs());
    scores.append_to(result, n + 1);
    keep_hidden(pass, n + 1, space.hidden_TD, result);
  }
  if (pass.options.wants_logits) run_head(pass, space.hidden_TD, space.head_rows_ND, space.head_inner_ND, result);
}

}  // namespace deberta
