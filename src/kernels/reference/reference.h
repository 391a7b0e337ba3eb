// The plain loops behind every operation: double sums straight from the equation, never optimised.
#pragma once
#include <cstddef>
#include <cstdint>

namespace deberta {

struct GemmParams;
struct AttentionParams;
template <class Number>
struct AttentionBackwardOf;
struct LayerNormParams;
struct LayerNormGradientParams;
struct CrossEntropyParams;
struct SampleIdsParams;
struct QuantizeParams;
struct EmbeddingParams;
struct ConvolutionParams;

// y[row, column] with its epilogue. Reads the residual.
double reference_gemm(const GemmParams& params, size_t row, size_t column);

// All outputs of one sequence and head.
void reference_attention(const AttentionParams& params, size_t sequence, size_t head, void* worker_scratch);
size_t reference_attention_scratch_bytes(const AttentionParams& params);  // per worker

// All outputs of one head. Number: float or double.
template <class Number>
void reference_attention_backward(const AttentionBackwardOf<Number>& params, size_t head, void* worker_scratch);
template <class Number>
size_t reference_attention_backward_scratch_bytes(const AttentionBackwardOf<Number>& params);  // per worker

void reference_layer_norm(const LayerNormParams& params, size_t row);

// dz of one row; its part is added to the two others.
void reference_layer_norm_gradient(const LayerNormGradientParams& params, size_t row, float* dgamma_D, float* dbeta_D);

void reference_quantize(const QuantizeParams& params, size_t row);  // all but the side columns

void reference_embedding(const EmbeddingParams& params, size_t token);

void reference_cross_entropy(const CrossEntropyParams& params, size_t row);
int32_t reference_sample_id(const SampleIdsParams& params, size_t row);

// One row; `begin` and `end` are those of its sequence.
void reference_convolution(const ConvolutionParams& params, size_t row, size_t begin, size_t end);

}  // namespace deberta
