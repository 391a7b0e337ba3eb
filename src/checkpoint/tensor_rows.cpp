// The table of the encoder, the fused projections of version 1 among it; then the names that are not part of a model.
#include "checkpoint/tensor_rows.h"

#include <array>

#include "heads/head_facts.h"

namespace deberta {
namespace {

using Config = const ModelConfig&;

constexpr TensorRow::Condition kAlways = TensorRow::always;
constexpr bool is_v1(Config c) {
  return c.layout == Layout::kV1;
}
constexpr bool is_v2(Config c) {
  return c.layout == Layout::kV2;
}
constexpr bool has_types(Config c) {
  return c.type_vocab_size > 0;
}
constexpr bool has_embed_proj(Config c) {
  return c.embedding_size != c.hidden_size;
}
constexpr bool reads_positions(Config c) {
  return c.position_biased_input;
}
constexpr bool is_relative(Config c) {
  return c.relative_attention;
}
constexpr bool has_rel_norm(Config c) {
  return c.has_rel_layer_norm;
}
constexpr bool has_final_norm(Config c) {
  return c.norm_first;
}
constexpr bool has_conv(Config c) {
  return c.conv_kernel_size > 0;
}
constexpr bool has_talking_head(Config c) {
  return is_v1(c) && c.talking_head;
}
constexpr bool has_v1_c2p(Config c) {
  return is_v1(c) && c.relative_attention && c.has_c2p;
}
constexpr bool has_v1_p2c(Config c) {
  return is_v1(c) && c.relative_attention && c.has_p2c;
}
constexpr bool has_own_c2p(Config c) {
  return is_v2(c) && c.relative_attention && !c.share_att_key && c.has_c2p;
}
constexpr bool has_own_p2c(Config c) {
  return is_v2(c) && c.relative_attention && !c.share_att_key && c.has_p2c;
}

constexpr TensorRow part(std::string_view name, std::string_view shape, TensorRow::Condition exists = kAlways,
                         std::string_view key = {}, TensorRow::Condition is_required = kAlways) {
  return {.name = name, .shape = shape, .exists = exists, .is_required = is_required, .key = key};
}

constexpr std::array kRows = {
    part("embeddings.word_embeddings.weight", "V,E", kAlways, "vocab_size"),
    // The mask decoder reads the table too, but files without it are published: the head then sits on the last layer.
    part("embeddings.position_embeddings.weight", "P,E", kAlways, "max_position_embeddings", reads_positions),
    part("embeddings.token_type_embeddings.weight", "Y,E", has_types, "type_vocab_size"),
    part("embeddings.embed_proj.weight", "D,E", has_embed_proj, "embedding_size"),
    part("embeddings.LayerNorm.weight", "D"),
    part("embeddings.LayerNorm.bias", "D"),
    part("encoder.rel_embeddings.weight", "R,D", is_relative, "relative_attention"),
    // Without relative attention the norm is stored by some programs and read by none.
    part("encoder.LayerNorm.weight", "D", has_rel_norm, "norm_rel_ebd", is_relative),
    part("encoder.LayerNorm.bias", "D", has_rel_norm, "norm_rel_ebd", is_relative),
    part("encoder.final_LayerNorm.weight", "D", has_final_norm, "norm_first"),
    part("encoder.final_LayerNorm.bias", "D", has_final_norm, "norm_first"),
    part("encoder.conv.conv.weight", "D,D/G,W", has_conv, "conv_kernel_size"),
    part("encoder.conv.conv.bias", "D", has_conv, "conv_kernel_size"),
    part("encoder.conv.LayerNorm.weight", "D", has_conv, "conv_kernel_size"),
    part("encoder.conv.LayerNorm.bias", "D", has_conv, "conv_kernel_size"),

    part("encoder.layer.{n}.attention.self.query_proj.weight", "H*K,D", is_v2, "model_type"),
    part("encoder.layer.{n}.attention.self.query_proj.bias", "H*K", is_v2, "model_type"),
    part("encoder.layer.{n}.attention.self.key_proj.weight", "H*K,D", is_v2, "model_type"),
    part("encoder.layer.{n}.attention.self.key_proj.bias", "H*K", is_v2, "model_type"),
    part("encoder.layer.{n}.attention.self.value_proj.weight", "H*K,D", is_v2, "model_type"),
    part("encoder.layer.{n}.attention.self.value_proj.bias", "H*K", is_v2, "model_type"),
    part("encoder.layer.{n}.attention.self.pos_key_proj.weight", "H*K,D", has_own_c2p, "share_att_key"),
    part("encoder.layer.{n}.attention.self.pos_key_proj.bias", "H*K", has_own_c2p, "share_att_key"),
    part("encoder.layer.{n}.attention.self.pos_query_proj.weight", "H*K,D", has_own_p2c, "share_att_key"),
    part("encoder.layer.{n}.attention.self.pos_query_proj.bias", "H*K", has_own_p2c, "share_att_key"),
    part("encoder.layer.{n}.attention.self.in_proj.weight", "3*H*K,D", is_v1, "model_type"),
    part("encoder.layer.{n}.attention.self.q_bias", "H*K", is_v1, "model_type"),
    part("encoder.layer.{n}.attention.self.v_bias", "H*K", is_v1, "model_type"),
    part("encoder.layer.{n}.attention.self.pos_proj.weight", "H*K,D", has_v1_c2p, "pos_att_type"),
    part("encoder.layer.{n}.attention.self.pos_q_proj.weight", "H*K,D", has_v1_p2c, "pos_att_type"),
    part("encoder.layer.{n}.attention.self.pos_q_proj.bias", "H*K", has_v1_p2c, "pos_att_type"),
    part("encoder.layer.{n}.attention.self.head_logits_proj.weight", "H,H", has_talking_head, "talking_head"),
    part("encoder.layer.{n}.attention.self.head_weights_proj.weight", "H,H", has_talking_head, "talking_head"),
    part("encoder.layer.{n}.attention.output.dense.weight", "D,H*K"),
    part("encoder.layer.{n}.attention.output.dense.bias", "D"),
    part("encoder.layer.{n}.attention.output.LayerNorm.weight", "D"),
    part("encoder.layer.{n}.attention.output.LayerNorm.bias", "D"),
    part("encoder.layer.{n}.intermediate.dense.weight", "F,D", kAlways, "intermediate_size"),
    part("encoder.layer.{n}.intermediate.dense.bias", "F", kAlways, "intermediate_size"),
    part("encoder.layer.{n}.output.dense.weight", "D,F", kAlways, "intermediate_size"),
    part("encoder.layer.{n}.output.dense.bias", "D"),
    part("encoder.layer.{n}.output.LayerNorm.weight", "D"),
    part("encoder.layer.{n}.output.LayerNorm.bias", "D"),
};

constexpr std::array<std::string_view, 3> kIgnored = {
    "embeddings.position_ids",
    "embeddings.word_embeddings._weight",
    "embeddings.position_embeddings._weight",
};

// Names that other programs give to the head of a language model.
struct OtherName {
  std::string_view name, canonical;
};
constexpr std::array kOtherNames = {
    OtherName{"lm_head.weight", kOutputTable},
    OtherName{"lm_head.bias", "lm_predictions.lm_head.bias"},
};

constexpr std::array kTied = {
    TiedTensor{kOutputTable, "embeddings.word_embeddings.weight"},
    TiedTensor{"cls.predictions.decoder.bias", "lm_predictions.lm_head.bias"},
};

}  // namespace

std::span<const TensorRow> encoder_rows() {
  return kRows;
}
std::span<const TiedTensor> tied_tensors() {
  return kTied;
}

const TensorRow* find_tensor_row(std::string_view canonical_name) {
  for (const TensorRow& row : kRows) {
    if (row.names(canonical_name)) return &row;
  }
  return find_head_tensor(canonical_name);
}

bool is_ignored_tensor(std::string_view canonical_name) {
  for (const std::string_view name : kIgnored) {
    if (name == canonical_name) return true;
  }
  return false;
}

std::string_view to_canonical_name(std::string_view name) {
  for (const HeadFacts* head : all_heads()) {
    for (const TensorRow& row : head->tensors) {
      if (!row.alias.empty() && row.alias == name) return row.name;
    }
  }
  for (const OtherName& other : kOtherNames) {
    if (other.name == name) return other.canonical;
  }
  return name;
}

}  // namespace deberta
