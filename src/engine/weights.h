// What a loaded model holds: weights packed for its kernels, and the relative tables projected once.
// H heads  K head size  D hidden  E embedding size  F feed-forward  R relative rows  V vocabulary  C classes
// U words and labels of entities  I inner columns of the ends of their spans
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/arena.h"
#include "base/parallel.h"
#include "checkpoint/calibration.h"
#include "deberta/checkpoint.h"
#include "deberta/config.h"
#include "engine/variant.h"
#include "kernels/attention_table.h"
#include "kernels/convolution.h"
#include "kernels/embedding.h"
#include "kernels/gemm.h"

namespace deberta {

struct Linear {
  PackedWeights weights;
  const float* bias = nullptr;
  const PackedWeights* next = nullptr;  // weights of the product that follows in a pass; null: not known
  ProductRole role = ProductRole::kUnnamed;
};

struct Norm {
  const float* gamma = nullptr;
  const float* beta = nullptr;
  size_t columns = 0;
};

struct LayerWeights {
  Linear query;      // [D, D]
  Linear key_value;  // [2 D, D]: key, value. Separate from query: some layers compute only some rows
  RelativeTable kr;  // without data: no c2p
  RelativeTable qr;  // without data: no p2c
  Linear attention_output;
  Norm attention_norm;
  Linear up;    // [F, D]
  Linear down;  // [D, F]
  Norm output_norm;
};

struct ConvolutionWeights {
  ConvolutionShape shape;
  const float* weight_DGW = nullptr;    // [D, D / groups, kernel]; null without one, or when only `packed_G` is read
  std::vector<PackedWeights> packed_G;  // one for each group; empty for the reference
  const float* bias_D = nullptr;
  Norm norm;
};

// A layer of a bidirectional LSTM, in one direction.
struct LstmWeights {
  Linear input;   // [2 U, U], with both biases
  Linear hidden;  // [2 U, U / 2]
};

// Two linear layers, with an activation between them.
struct TwoLayers {
  Linear first, second;
};

// The tensors of the heads of entities (entity_heads.h). Which are set depends on the head and the span mode.
struct EntityWeights {
  Linear projection;                            // [U, D]; without panels: words and labels have the encoder's states
  std::vector<std::array<LstmWeights, 2>> rnn;  // by layer: forward, backward
  // Spans.
  TwoLayers label;               // [4 U, U], [U, 4 U]
  TwoLayers start, end;          // [I, U], [U, I]
  Linear first_half, last_half;  // [4 U, U]: the inner layer of a span, by the half that it reads; markerV0
  Linear folded;                 // [4 U, U], marker [2 U, U]: a label through the last layer of a span, transposed
  Linear folded_bias;            // [1, U]: through that layer's bias
  // Words.
  Linear token_alone, token_product, label_alone, label_product;  // [U, U]
  Linear inner_token, inner_label, inner_product;  // [4 U, U]: the inner layer, by the part that it reads
  const float* out_3F = nullptr;                   // [3, 4 U]
  const float* out_bias_3 = nullptr;
};

// The tensors behind h_N. Which are set depends on the head.
struct HeadWeights {
  const float* pooling_query_D = nullptr;  // pooling by attention only
  Linear dense;       // pooler, original token projection, inner layer of the language model or replaced-token head
  Norm norm;          // language-model and replaced-token heads
  Linear classifier;  // [C, D], [2, D], or the word table [V, E]
  EntityWeights entities;
};

// Blocks of floats that never move.
class WeightStore {
 public:
  // On the host, or in `memory` of a device. `room` is used first: part of a block that another store reserved.
  explicit WeightStore(std::shared_ptr<DeviceMemory> memory = nullptr, std::span<std::byte> room = {})
      : memory_(std::move(memory)), room_(room) {}

  // A block of the host's memory to give away; nothing on a device. Throws kOutOfMemory.
  std::span<std::byte> reserve(size_t size_bytes);
  float* allocate(size_t count);  // 64-byte aligned; throws kOutOfMemory
  // `count` numbers that fill(float*) writes on the host.
  template <class Fill>
  float* make(size_t count, Fill&& fill) {
    float* values = allocate(count);
    if (memory_ == nullptr) {
      fill(values);
    } else {
      std::vector<float> host(count);
      fill(host.data());
      memory_->copy_in(values, host.data(), count * sizeof(float));
    }
    return values;
  }
  // Where operations read `host`, which must stay valid: there, or in a copy on the device.
  const void* place(const void* host, size_t size_bytes);
  // What is left of the other's room becomes zeros: equal models have equal blocks.
  void take(WeightStore&& other);
  // The large blocks in the host's memory.
  std::vector<std::span<std::byte>> paged_blocks() const;
  uint64_t size_bytes() const { return size_bytes_; }

 private:
  std::shared_ptr<DeviceMemory> memory_;  // null: the host's
  std::span<std::byte> room_;
  std::vector<Arena> blocks_;
  uint64_t size_bytes_ = 0;
};

struct ModelWeights {
  Precision precision = Precision::kFp32;  // encoder layers; heads are fp32, the output word table bf16
  Calibration calibration;                 // int8: the layers' quantizers point into it; no layers: none
  size_t outliers = 0;                     // int8: the most outlier columns of any layer
  EmbeddingTable word, type, position;     // on the host mapped: the checkpoint must live as long; rows = 0: not read
  Linear embed_proj;                       // set when E != D
  Norm embedding_norm;
  std::vector<LayerWeights> layers;
  ConvolutionWeights convolution;
  bool has_mask_decoder = false;
  HeadWeights head;
  int64_t labels = 0;  // C
  WeightStore store;
};

// What the linear layers of the encoder multiply in.
struct NumberFormat {
  Precision precision = Precision::kFp32;
  Calibration calibration = {};  // int8
};

// `checkpoint` must have passed compare_tensors. Throws kOutOfMemory.
ModelWeights load_weights(const Checkpoint& checkpoint, const Variant& variant, NumberFormat format,
                          const KernelSet& kernels, const Parallel& parallel);

}  // namespace deberta
