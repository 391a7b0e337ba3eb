// The rows of the table, and what the models of each version have in common.
#include "config/published_sizes.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <utility>

#include "config/model_config.h"

namespace deberta {
namespace {

constexpr std::array kSizes = {
#define DEBERTA_SIZE(name, version, layers, hidden, words) \
  PublishedSize{name, ModelVersion::version, layers, hidden, words},
#include "config/published_sizes.inc"
#undef DEBERTA_SIZE
};

constexpr std::string_view kFirstVersion = "v1-";

void append(JsonObject& document, std::initializer_list<JsonMember> members) {
  document.insert(document.end(), members.begin(), members.end());
}

}  // namespace

std::span<const PublishedSize> published_sizes() {
  return kSizes;
}

const PublishedSize* find_published_size(std::string_view name) {
  const bool is_first = name.starts_with(kFirstVersion);
  if (is_first) name.remove_prefix(kFirstVersion.size());
  const auto match = std::ranges::find(kSizes, name, &PublishedSize::name);
  if (match == kSizes.end() || (is_first && match->version != ModelVersion::kV1)) return nullptr;
  return &*match;
}

std::string list_published_sizes() {
  std::string names;
  for (const PublishedSize& size : kSizes) names += (names.empty() ? "" : ", ") + std::string(size.name);
  return names;
}

JsonObject config_of(const PublishedSize& size) {
  const bool is_first = size.version == ModelVersion::kV1;
  JsonObject document{{"model_type", is_first ? "deberta" : "deberta-v2"},
                      {"architectures", JsonArray{is_first ? "DebertaForMaskedLM" : "DebertaV2ForMaskedLM"}},
                      {"hidden_size", size.hidden},
                      {"num_hidden_layers", size.layers},
                      {"num_attention_heads", size.hidden / kPublishedHeadSize},
                      {"intermediate_size", kPublishedInnerFactor * size.hidden},
                      {"hidden_act", "gelu"},
                      {"hidden_dropout_prob", 0.1},
                      {"attention_probs_dropout_prob", 0.1},
                      {"max_position_embeddings", 512},
                      {"type_vocab_size", 0},
                      {"initializer_range", 0.02},
                      {"layer_norm_eps", 1e-7},
                      {"relative_attention", true},
                      {"max_relative_positions", -1}};
  if (!is_first) append(document, {{"position_buckets", 256}, {"norm_rel_ebd", "layer_norm"}, {"share_att_key", true}});
  append(document,
         {{"pos_att_type", is_first ? "c2p|p2c" : "p2c|c2p"}, {"position_biased_input", false}, {"pad_token_id", 0}});
  if (size.version == ModelVersion::kV2) append(document, {{"conv_kernel_size", 3}, {"conv_act", "gelu"}});
  return document;
}

ModelConfig published_config(const PublishedSize& size) {
  JsonObject document = config_of(size);
  document.emplace_back("vocab_size", size.words);
  return parse_model_config(Json(std::move(document)), std::string(size.name));
}

}  // namespace deberta
