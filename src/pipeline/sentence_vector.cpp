// Applies the modules of sentence-transformers to the vectors of the tokens. Sums in double.
#include <algorithm>
#include <cmath>
#include <utility>

#include "decode/pooling.h"
#include "pipeline/sentence_modules.h"

namespace deberta {
namespace {

using Kind = SentenceLayer::Kind;

constexpr double kLayerNormEpsilon = 1e-5;  // the default of torch.nn.LayerNorm

double activate(double x, Activation activation) {
  switch (activation) {
    case Activation::kGelu:
      return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
    case Activation::kRelu:
      return x > 0 ? x : 0;
    case Activation::kSwish:
      return x / (1 + std::exp(-x));
    case Activation::kTanh:
      return std::tanh(x);
    case Activation::kSigmoid:
      return 1 / (1 + std::exp(-x));
    default:  // linear: the modules name no other
      break;
  }
  return x;
}

double row_times(const std::vector<float>& matrix, size_t row, const std::vector<float>& vector) {
  double sum = 0;
  for (size_t i = 0; i < vector.size(); ++i) sum += double{matrix[row * vector.size() + i]} * vector[i];
  return sum;
}

std::vector<float> apply_dense(const std::vector<float>& input, const SentenceLayer& layer) {
  std::vector<float> output(layer.outputs);
  for (size_t o = 0; o < layer.outputs; ++o) {
    const double bias = layer.bias.empty() ? 0.0 : double{layer.bias[o]};
    double value = activate(bias + row_times(layer.weight, o, input), layer.activation);
    // After the activation, not inside it: this is not the residual block of a transformer.
    if (layer.adds_input) value += layer.residual.empty() ? double{input[o]} : row_times(layer.residual, o, input);
    output[o] = static_cast<float>(value);
  }
  return output;
}

std::vector<float> apply_layer_norm(const std::vector<float>& input, const SentenceLayer& layer) {
  double mean = 0, squares = 0;
  for (const float x : input) mean += x / static_cast<double>(input.size());
  for (const float x : input) squares += (x - mean) * (x - mean) / static_cast<double>(input.size());
  const double inverse = 1 / std::sqrt(squares + kLayerNormEpsilon);
  std::vector<float> output(input.size());
  for (size_t i = 0; i < input.size(); ++i)
    output[i] = static_cast<float>((input[i] - mean) * inverse * layer.weight[i] + layer.bias[i]);
  return output;
}

std::vector<float> apply(std::vector<float> vector, const SentenceLayer& layer) {
  switch (layer.kind) {
    case Kind::kNormalize:
      normalize(vector);
      break;
    case Kind::kDense:
      return apply_dense(vector, layer);
    case Kind::kLayerNorm:
      return apply_layer_norm(vector, layer);
    case Kind::kTruncate:
      vector.resize(std::min(vector.size(), layer.outputs));
      break;
  }
  return vector;
}

}  // namespace

size_t columns_after(const SentenceModules& modules, size_t columns) {
  columns *= modules.poolings.size();
  for (const SentenceLayer& layer : modules.layers) {
    if (layer.kind == Kind::kDense) columns = layer.outputs;
    if (layer.kind == Kind::kTruncate) columns = std::min(columns, layer.outputs);
  }
  return columns;
}

std::vector<float> sentence_vector(std::span<const float> rows_LD, size_t columns, const SentenceModules& modules) {
  std::vector<float> vector;
  for (const Pooling pooling : modules.poolings) {
    const std::vector<float> part = pool(rows_LD, columns, pooling);
    vector.insert(vector.end(), part.begin(), part.end());
  }
  for (const SentenceLayer& layer : modules.layers) vector = apply(std::move(vector), layer);
  return vector;
}

}  // namespace deberta
