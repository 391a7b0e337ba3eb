// What is frozen, how deep each tensor lies, and every reason for which a form cannot be trained.
#include "train/model/form.h"

#include <algorithm>
#include <string_view>

namespace deberta::train {
namespace {

constexpr std::string_view kLayer = "encoder.layer.";

int64_t number_of_layer(const std::string& name) {
  return std::stoll(name.substr(kLayer.size()));
}

std::string expected(const char* what, const std::string& wanted, int64_t got) {
  return std::string(what) + ": expected " + wanted + ", got " + std::to_string(got);
}

void check_sizes(const ModelConfig& c, std::vector<std::string>& obstacles) {
  if (c.num_attention_heads * c.attention_head_size != c.hidden_size) {
    obstacles.push_back(expected(
        "hidden_size", std::to_string(c.num_attention_heads * c.attention_head_size) + " (heads times their size)",
        c.hidden_size));
  }
  if (c.conv_kernel_size > 0 && c.conv_kernel_size % 2 == 0) {
    obstacles.push_back(expected("conv_kernel_size", "an odd number", c.conv_kernel_size));
  }
  if (c.conv_kernel_size > 0 && c.is_causal) {
    obstacles.push_back("conv_kernel_size: expected 0, as a convolution sees the token that is to be predicted, got " +
                        std::to_string(c.conv_kernel_size));
  }
  if (c.conv_kernel_size > 0 && c.num_hidden_layers < 1) {
    obstacles.push_back(expected("num_hidden_layers", "at least 1 for the convolution", c.num_hidden_layers));
  }
}

void check_decoder(const ModelForm& form, std::vector<std::string>& obstacles) {
  const int64_t passes = form.config.mask_decoder_passes;
  if (passes < 0 || passes > 3) obstacles.push_back(expected("mask_decoder_passes", "0 to 3", passes));
  if (!form.has_mask_decoder()) return;
  const ModelConfig& c = form.config;
  if (c.num_hidden_layers < 2) {
    obstacles.push_back(expected("num_hidden_layers", "at least 2 for the mask decoder", c.num_hidden_layers));
  }
  if (c.embedding_size != c.hidden_size) {
    obstacles.push_back(expected(
        "embedding_size", "hidden_size " + std::to_string(c.hidden_size) + " for the mask decoder", c.embedding_size));
  }
}

// The forms of ablations.
void check_ablations(const ModelForm& form, std::vector<std::string>& obstacles) {
  const ModelConfig& c = form.config;
  if (form.has_p2p() && !(c.has_c2p && c.has_p2c)) {
    obstacles.push_back("pos_att_type: expected c2p and p2c beside p2p, whose projections it has");
  }
  if (c.layout == Layout::kV1 && (form.has_p2p() || c.norm_first || c.has_own_decoder)) {
    obstacles.push_back("model_type: expected deberta-v2 with p2p, norm_first or own_decoder_layers");
  }
  if (c.shares_layers && form.frozen_layers && *form.frozen_layers > 0 && *form.frozen_layers < c.num_hidden_layers) {
    obstacles.push_back(expected("frozen layers", "none or all with share_layers", *form.frozen_layers));
  }
  if (c.has_fixed_distances && c.hidden_size % 2 != 0) {
    obstacles.push_back(expected("hidden_size", "an even number with fixed_relative_table", c.hidden_size));
  }
}

void check_head(const ModelForm& form, std::vector<std::string>& obstacles) {
  const HeadFacts& head = facts_of(form.head);
  if (head.has_classes() && form.labels < 1) {
    obstacles.push_back(expected("classes of the head", "at least 1", form.labels));
  }
  if (head.is_per_sequence() && form.config.pooler_hidden_act == Activation::kOther) {
    obstacles.push_back("pooler_hidden_act: expected an activation that this program knows");
  }
  if (head.is_per_sequence() && form.config.pooler_hidden_size != form.config.hidden_size) {
    obstacles.push_back(expected("pooler_hidden_size", "hidden_size " + std::to_string(form.config.hidden_size),
                                 form.config.pooler_hidden_size));
  }
}

}  // namespace

bool is_frozen(const ModelForm& form, const std::string& name) {
  if (form.lora) return name.starts_with("embeddings.") || name.starts_with("encoder.");
  if (!form.frozen_layers) return false;
  if (name.starts_with(kLayer)) return number_of_layer(name) < *form.frozen_layers;
  if (name.starts_with("encoder.")) return *form.frozen_layers == form.config.num_hidden_layers;
  return name.starts_with("embeddings.");
}

int64_t layers_below_head(const ModelForm& form, const std::string& name) {
  const int64_t layers = form.config.shares_layers ? 1 : form.config.num_hidden_layers;
  if (name.starts_with(kLayer)) return std::max<int64_t>(0, layers - number_of_layer(name));  // 0: a decoder's own
  if (name.starts_with("encoder.final_LayerNorm.")) return 1;
  if (name.starts_with("encoder.conv.")) return layers;
  return name.starts_with("encoder.") || name.starts_with("embeddings.") ? layers + 1 : 0;
}

std::vector<std::string> find_obstacles(const ModelForm& form) {
  std::vector<std::string> obstacles;
  check_sizes(form.config, obstacles);
  check_decoder(form, obstacles);
  check_ablations(form, obstacles);
  check_head(form, obstacles);
  if (form.frozen_layers && (*form.frozen_layers < 0 || *form.frozen_layers > form.config.num_hidden_layers)) {
    obstacles.push_back(
        expected("frozen layers", "0 to " + std::to_string(form.config.num_hidden_layers), *form.frozen_layers));
  }
  if (facts_of(form.head).takes_labelled_words() && form.config.layout == Layout::kV1)
    obstacles.push_back("model_type: expected deberta-v2 for a head of entities, got deberta");
  if (form.frozen_layers && form.lora) obstacles.push_back("frozen layers: expected none with LoRA, which freezes all");
  if (form.config.talking_head) obstacles.push_back("talking_head: not computed by this version");
  return obstacles;
}

}  // namespace deberta::train
