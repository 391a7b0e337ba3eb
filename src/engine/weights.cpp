// From tensors to packed weights and projected relative tables.
#include "engine/weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>

#include "base/file.h"
#include "checkpoint/tensor_table.h"
#include "deberta/error.h"
#include "engine/weight_loader.h"
#include "kernels/layer_norm.h"
#include "kernels/operand.h"

namespace deberta {

// A linear layer before it is packed: its weight where it lies in the checkpoint when that is fp32, else converted.
struct WeightLoader::Dense {
  const float* weight_NK = nullptr;
  std::vector<float> converted_NK;
  std::vector<float> bias_N;
  size_t outputs = 0;
  size_t depth = 0;

  Dense() = default;
  Dense(Dense&&) = default;  // a vector keeps its elements where they are
  Dense& operator=(Dense&&) = default;
  explicit Dense(const TensorView& view) : outputs(as_size(view.shape[0])), depth(as_size(view.shape[1])) {
    const bool is_aligned = reinterpret_cast<uintptr_t>(view.bytes.data()) % alignof(float) == 0;
    if (view.dtype == DType::kF32 && is_aligned) {
      weight_NK = reinterpret_cast<const float*>(view.bytes.data());
    } else {
      hold(to_fp32(view));
    }
  }
  void hold(std::vector<float> values) {
    converted_NK = std::move(values);
    weight_NK = converted_NK.data();
    outputs = converted_NK.size() / depth;
  }
};

// One below the other.
WeightLoader::Dense WeightLoader::stack(const Dense& above, const Dense& below) {
  Dense both;
  both.depth = above.depth;
  std::vector<float> rows(above.weight_NK, above.weight_NK + above.outputs * above.depth);
  rows.insert(rows.end(), below.weight_NK, below.weight_NK + below.outputs * below.depth);
  both.hold(std::move(rows));
  both.bias_N = above.bias_N;
  both.bias_N.insert(both.bias_N.end(), below.bias_N.begin(), below.bias_N.end());
  return both;
}

const TensorView& WeightLoader::tensor(std::string_view name) {
  const TensorView* view = checkpoint_.find(name);
  if (view == nullptr) throw Error(ErrorCode::kInternal, "engine", fmt::format("the tensor table has no {}", name));
  return *view;
}

// F64 has no kernel: it is rounded once into the store.
EmbeddingTable WeightLoader::table(std::string_view name) {
  const TensorView& view = tensor(name);
  const size_t rows = as_size(view.shape[0]);
  switch (view.dtype) {
    case DType::kF32:
      return {store_.place(view.bytes.data(), view.bytes.size()), TableFormat::kF32, rows};
    case DType::kF16:
      return {store_.place(view.bytes.data(), view.bytes.size()), TableFormat::kF16, rows};
    case DType::kBf16:
      return {store_.place(view.bytes.data(), view.bytes.size()), TableFormat::kBf16, rows};
    default:
      return {vector(std::string(name)), TableFormat::kF32, rows};
  }
}

const float* WeightLoader::vector(const std::string& name) {
  const TensorView& view = tensor(name);
  return store_.make(view.count(), [&](float* values) { to_fp32(view, values); });
}

Norm WeightLoader::norm(const std::string& prefix) {
  return {.gamma = vector(prefix + ".weight"),
          .beta = vector(prefix + ".bias"),
          .columns = tensor(prefix + ".weight").count()};
}

// Where the operations read it.
Quantizer WeightLoader::place(Quantizer quantizer, size_t depth) {
  if (quantizer.reciprocal_K == nullptr) return quantizer;
  quantizer.reciprocal_K = static_cast<const float*>(store_.place(quantizer.reciprocal_K, depth * sizeof(float)));
  quantizer.outliers_O =
      static_cast<const int32_t*>(store_.place(quantizer.outliers_O, quantizer.outliers * sizeof(int32_t)));
  return quantizer;
}

Linear WeightLoader::pack(const WeightSource& source, Precision precision, std::span<const float> bias_N) {
  const size_t size_bytes = gemm_packed_bytes(kernels_, precision, source);
  float* panels = store_.allocate((size_bytes + sizeof(float) - 1) / sizeof(float));
  Linear linear{gemm_pack(kernels_, precision, source, panels, parallel_)};
  if (bias_N.empty()) return linear;
  linear.bias = store_.make(source.outputs, [&](float* values) { std::copy(bias_N.begin(), bias_N.end(), values); });
  return linear;
}

Linear WeightLoader::pack(const Dense& dense, Precision precision, const Quantizer& quantizer) {
  const WeightSource source{
      .w_NK = dense.weight_NK, .outputs = dense.outputs, .depth = dense.depth, .quantizer = quantizer};
  Linear linear = pack(source, precision, dense.bias_N);
  linear.weights.quantizer = place(quantizer, dense.depth);
  return linear;
}

Linear WeightLoader::packed(const WeightSource& source, std::span<const float> bias_N) {
  return pack(source, Precision::kFp32, bias_N);
}

// A projection that has no bias (some of version 1) gets zeros: the table of tensors knows where that is allowed.
WeightLoader::Dense WeightLoader::dense(const std::string& prefix) {
  Dense dense(tensor(prefix + ".weight"));
  const TensorView* bias = checkpoint_.find(prefix + ".bias");
  dense.bias_N = bias != nullptr ? to_fp32(*bias) : std::vector<float>(dense.outputs, 0.0f);
  return dense;
}

Linear WeightLoader::linear(const std::string& prefix) {
  return pack(dense(prefix), Precision::kFp32, {});
}

Linear WeightLoader::weights_only(std::string_view name, Precision precision) {
  return pack(Dense(tensor(name)), precision, {});
}

// Version 1 (model-heads.md#layout-of-version-1): one weight, head-major; within a head first its rows of q, then of k,
// then of v. There is no key bias.
std::array<WeightLoader::Dense, 3> WeightLoader::split_in_proj(const std::string& self) {
  const TensorView& view = tensor(self + "in_proj.weight");
  const std::vector<float> rows = to_fp32(view);
  const size_t depth = as_size(view.shape[1]);
  const size_t size = as_size(config_.attention_head_size) * depth;  // elements of one head's rows
  std::array<std::vector<float>, 3> weights;
  for (size_t head = 0; head < as_size(config_.num_attention_heads); ++head) {
    for (size_t part = 0; part < 3; ++part) {
      const auto first = rows.begin() + static_cast<std::ptrdiff_t>((3 * head + part) * size);
      weights[part].insert(weights[part].end(), first, first + static_cast<std::ptrdiff_t>(size));
    }
  }
  std::array<Dense, 3> parts;
  for (size_t part = 0; part < 3; ++part) {
    parts[part].depth = depth;
    parts[part].hold(std::move(weights[part]));
  }
  parts[0].bias_N = to_fp32(tensor(self + "q_bias"));
  parts[1].bias_N.assign(parts[1].outputs, 0.0f);
  parts[2].bias_N = to_fp32(tensor(self + "v_bias"));
  return parts;
}

std::array<WeightLoader::Dense, 3> WeightLoader::content_projections(const std::string& self) {
  if (config_.layout == Layout::kV1) return split_in_proj(self);
  return {dense(self + "query_proj"), dense(self + "key_proj"), dense(self + "value_proj")};
}

// The projection of the relative table; `name` is key or query.
std::string WeightLoader::relative_projection(std::string_view name) const {
  if (config_.layout == Layout::kV1) return name == "key" ? "pos_proj" : "pos_q_proj";
  return fmt::format("{}{}_proj", config_.share_att_key ? "" : "pos_", name);
}

// P' of model.md#disentangled-attention: normalised once for all layers.
RelativeRows WeightLoader::relative_table(WeightStore& temporary) {
  if (!config_.relative_attention || (!config_.has_c2p && !config_.has_p2c)) return {};
  const TensorView& view = tensor("encoder.rel_embeddings.weight");
  float* table_RD = temporary.make(view.count(), [&](float* values) { to_fp32(view, values); });
  const RelativeRows relative_RD{table_RD, as_size(view.shape[0])};
  if (!config_.has_rel_layer_norm) return relative_RD;
  WeightLoader loader(checkpoint_, config_, precision_, kernels_, parallel_, temporary);
  const Norm norm = loader.norm("encoder.LayerNorm");
  LayerNormParams p{};
  p.x_TD = p.y_TD = table_RD;
  p.gamma_D = norm.gamma;
  p.beta_D = norm.beta;
  p.columns = norm.columns;
  p.rows = relative_RD.rows;
  p.epsilon = config_.layer_norm_eps;
  p.parallel = parallel_;
  layer_norm(kernels_, p);
  return relative_RD;
}

// Kr (reversed) or Qr of one layer: the table through a projection with its bias (the bias does not cancel in p2c).
RelativeTable WeightLoader::project(const RelativeRows& relative_RD, const std::string& prefix, bool is_reversed) {
  WeightStore temporary(kernels_.memory);
  WeightLoader loader(checkpoint_, config_, precision_, kernels_, parallel_, temporary);
  const Linear projection = loader.linear(prefix);
  GemmParams p{};
  p.a_MK = relative_RD.data;
  p.rows = relative_RD.rows;
  p.weights = projection.weights;
  p.bias_N = projection.bias;
  p.head_size = as_size(config_.attention_head_size);
  p.head_stride = p.rows * p.head_size;
  p.role = ProductRole::kRelativeTable;
  p.parallel = parallel_;
  p.c_MN = temporary.allocate(p.rows * p.weights.outputs);
  gemm(kernels_, p);
  const Precision precision = attention_precision(precision_);
  const RelativeTableParams table{.precision = precision,
                                  .heads = as_size(config_.num_attention_heads),
                                  .head_size = p.head_size,
                                  .rows = p.rows,
                                  .is_reversed = is_reversed};
  float* packed = store_.allocate(attention_table_bytes(kernels_, table) / sizeof(float));
  const HeadRows<const float> rows{p.c_MN, p.head_size, p.rows * p.head_size};
  return attention_pack_table(kernels_, table, rows, packed);
}

namespace {

// AddressSanitizer sees a read beyond a matrix when each has a block of its own.
#ifdef DEBERTA_SANITIZED
constexpr bool kOneBlock = false;
#else
constexpr bool kOneBlock = true;
#endif

// Nothing is known without a calibration.
Quantizer quantizer_of(const Calibration& calibration, size_t layer, CalibratedInput input) {
  if (calibration.layers.empty()) return {};
  const InputCalibration& channels = calibration.of(layer, input);
  return {channels.reciprocal_K.data(), channels.outliers_O.data(), channels.outliers_O.size()};
}

}  // namespace

size_t WeightLoader::layer_bytes(int64_t n, const RelativeRows& relative_RD, const Calibration& calibration) const {
  const size_t hidden = as_size(config_.hidden_size), inner = as_size(config_.intermediate_size);
  const size_t heads = as_size(config_.num_attention_heads), head_size = as_size(config_.attention_head_size);
  size_t total = 4 * Arena::bytes_for<float>(hidden);  // of both norms
  const auto add = [&](size_t outputs, size_t depth, CalibratedInput input) {
    const Quantizer quantizer = quantizer_of(calibration, as_size(n), input);
    const WeightSource source{.outputs = outputs, .depth = depth, .quantizer = quantizer};
    total += Arena::bytes_for<std::byte>(gemm_packed_bytes(kernels_, precision_, source));
    total += Arena::bytes_for<float>(outputs);
  };
  add(heads * head_size, hidden, CalibratedInput::kProjections);
  add(2 * heads * head_size, hidden, CalibratedInput::kProjections);
  add(hidden, heads * head_size, CalibratedInput::kAttentionOutput);
  add(inner, hidden, CalibratedInput::kUp);
  add(hidden, inner, CalibratedInput::kDown);
  if (relative_RD.rows == 0) return total;
  const RelativeTableParams table{
      .precision = attention_precision(precision_), .heads = heads, .head_size = head_size, .rows = relative_RD.rows};
  const size_t tables = size_t{config_.has_c2p} + size_t{config_.has_p2c};
  return total + tables * Arena::bytes_for<std::byte>(attention_table_bytes(kernels_, table));
}

LayerWeights WeightLoader::layer(int64_t n, const RelativeRows& relative_RD, const Calibration& calibration) {
  const std::string layer = fmt::format("encoder.layer.{}.", n);
  const std::string self = layer + "attention.self.";
  const auto pack_for = [&](const Dense& dense, CalibratedInput input) {
    return pack(dense, precision_, quantizer_of(calibration, as_size(n), input));
  };
  LayerWeights w;
  const auto [query, key, value] = content_projections(self);
  w.query = pack_for(query, CalibratedInput::kProjections);
  w.key_value = pack_for(stack(key, value), CalibratedInput::kProjections);
  if (relative_RD.rows > 0 && config_.has_c2p) w.kr = project(relative_RD, self + relative_projection("key"), true);
  if (relative_RD.rows > 0 && config_.has_p2c) w.qr = project(relative_RD, self + relative_projection("query"), false);
  w.attention_output = pack_for(dense(layer + "attention.output.dense"), CalibratedInput::kAttentionOutput);
  w.attention_norm = norm(layer + "attention.output.LayerNorm");
  w.up = pack_for(dense(layer + "intermediate.dense"), CalibratedInput::kUp);
  w.down = pack_for(dense(layer + "output.dense"), CalibratedInput::kDown);
  w.output_norm = norm(layer + "output.LayerNorm");
  return w;
}

ConvolutionWeights WeightLoader::convolution() {
  if (config_.conv_kernel_size == 0) return {};
  constexpr std::string_view kWeight = "encoder.conv.conv.weight";
  ConvolutionWeights w;
  w.shape = {as_size(config_.hidden_size), as_size(config_.conv_kernel_size), as_size(config_.conv_groups)};
  if (const size_t size_bytes = convolution_packed_bytes(kernels_, w.shape); size_bytes > 0) {
    void* panels = store_.allocate(size_bytes / sizeof(float));
    w.packed_G = convolution_pack(kernels_, w.shape, to_fp32(tensor(kWeight)).data(), panels);
  }
  if (w.packed_G.empty() || kernels_.check != nullptr) w.weight_DGW = vector(std::string(kWeight));
  w.bias_D = vector("encoder.conv.conv.bias");
  w.norm = norm("encoder.conv.LayerNorm");
  return w;
}

namespace {

// What has been packed is not read again from the file.
void release_layer(const Checkpoint& checkpoint, size_t n) {
  const std::string prefix = fmt::format("encoder.layer.{}.", n);
  for (const TensorView& tensor : checkpoint.tensors()) {
    if (tensor.name.starts_with(prefix)) release_pages(tensor.bytes);
  }
}

// One for each layer, with room in one block of `w` for all: a pass reads them one after the other, and the fewer pages
// they lie on, the fewer it looks up.
std::vector<WeightStore> layer_stores(const WeightLoader& loader, const RelativeRows& relative_RD, ModelWeights& w) {
  std::vector<size_t> sizes;
  for (size_t n = 0; n < w.layers.size(); ++n)
    sizes.push_back(loader.layer_bytes(static_cast<int64_t>(n), relative_RD, w.calibration));
  std::span<std::byte> room = w.store.reserve(std::accumulate(sizes.begin(), sizes.end(), size_t{0}));
  std::vector<WeightStore> stores;
  for (const size_t size_bytes : sizes) {
    stores.emplace_back(loader.memory(), room.first(std::min(size_bytes, room.size())));
    room = room.subspan(std::min(size_bytes, room.size()));
  }
  return stores;
}

// Columns of the logits, which the head's row fixes or its classifier has; words are not counted.
int64_t labels_of(const Checkpoint& checkpoint, const HeadFacts& head) {
  return head.fixed_outputs > 0 ? head.fixed_outputs : count_labels(checkpoint);
}

void name_products(ModelWeights& w) {
  w.embed_proj.role = ProductRole::kEmbedding;
  for (LayerWeights& layer : w.layers) {
    layer.query.role = ProductRole::kQuery;
    layer.key_value.role = ProductRole::kKeyValue;
    layer.attention_output.role = ProductRole::kAttentionOutput;
    layer.up.role = ProductRole::kUp;
    layer.down.role = ProductRole::kDown;
  }
  w.head.dense.role = w.head.classifier.role = ProductRole::kHead;
}

// The order of a pass.
void order_products(std::vector<LayerWeights>& layers) {
  Linear* last = nullptr;
  for (LayerWeights& layer : layers) {
    for (Linear* linear : {&layer.key_value, &layer.query, &layer.attention_output, &layer.up, &layer.down}) {
      if (last != nullptr) last->next = &linear->weights;
      last = linear;
    }
  }
}

}  // namespace

std::span<std::byte> WeightStore::reserve(size_t size_bytes) {
  if (memory_ != nullptr || !kOneBlock) return {};
  Arena& block = blocks_.emplace_back();
  block.reserve(size_bytes);
  return {block.take<std::byte>(size_bytes), size_bytes};
}

float* WeightStore::allocate(size_t count) {
  const size_t size_bytes = Arena::bytes_for<float>(count);
  size_bytes_ += size_bytes;
  if (size_bytes > 0 && size_bytes <= room_.size()) {
    float* values = reinterpret_cast<float*>(room_.data());
    room_ = room_.subspan(size_bytes);
    std::fill(values + count, values + size_bytes / sizeof(float), 0.0f);
    return values;
  }
  Arena& block = blocks_.emplace_back(memory_);
  block.reserve(size_bytes);
  return block.take<float>(count);
}

const void* WeightStore::place(const void* host, size_t size_bytes) {
  if (memory_ == nullptr || size_bytes == 0) return host;
  float* copy = allocate((size_bytes + sizeof(float) - 1) / sizeof(float));
  memory_->copy_in(copy, host, size_bytes);
  return copy;
}

void WeightStore::take(WeightStore&& other) {
  std::fill(other.room_.begin(), other.room_.end(), std::byte{});
  for (Arena& block : other.blocks_) blocks_.push_back(std::move(block));
  size_bytes_ += other.size_bytes_;
}

std::vector<std::span<std::byte>> WeightStore::paged_blocks() const {
  std::vector<std::span<std::byte>> blocks;
  for (const Arena& block : blocks_)
    if (!block.paged_block().empty()) blocks.push_back(block.paged_block());
  return blocks;
}

ModelWeights load_weights(const Checkpoint& checkpoint, const Variant& variant, NumberFormat format,
                          const KernelSet& kernels, const Parallel& parallel) {
  const ModelConfig& config = variant.config;
  const Precision precision = format.precision;
  ModelWeights w;
  w.store = WeightStore(kernels.memory);
  w.precision = precision;
  w.calibration = std::move(format.calibration);
  w.outliers = w.calibration.most_outliers();
  WeightLoader loader(checkpoint, config, precision, kernels, parallel, w.store);
  w.has_mask_decoder = variant.has_mask_decoder;
  w.word = loader.table("embeddings.word_embeddings.weight");
  if (config.type_vocab_size > 0) w.type = loader.table("embeddings.token_type_embeddings.weight");
  if (variant.reads_positions()) w.position = loader.table("embeddings.position_embeddings.weight");
  if (config.embedding_size != config.hidden_size) {
    w.embed_proj = loader.weights_only("embeddings.embed_proj.weight", Precision::kFp32);
  }
  w.embedding_norm = loader.norm("embeddings.LayerNorm");
  WeightStore temporary(kernels.memory);
  const RelativeRows relative_RD = loader.relative_table(temporary);
  w.layers.resize(as_size(config.num_hidden_layers));
  std::vector<WeightStore> stores = layer_stores(loader, relative_RD, w);
  parallel_for(parallel, w.layers.size(), [&](size_t n, size_t) {  // a task is a whole layer
    WeightLoader layer_loader(checkpoint, config, precision, kernels, serial(), stores[n]);
    w.layers[n] = layer_loader.layer(static_cast<int64_t>(n), relative_RD, w.calibration);
    release_layer(checkpoint, n);
  });
  for (WeightStore& store : stores) w.store.take(std::move(store));
  order_products(w.layers);
  w.convolution = loader.convolution();
  w.head = variant.head.load(loader);
  w.labels = labels_of(checkpoint, *variant.head.facts);
  name_products(w);
  return w;
}

}  // namespace deberta
