// Checks before anything is loaded.
#include "engine/variant.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>

#include "base/log.h"
#include "checkpoint/tensor_table.h"
#include "config/config_keys.h"
#include "config/extraction_config.h"
#include "deberta/error.h"
#include "engine/output_heads.h"
#include "heads/forms.h"

namespace deberta {
namespace {

constexpr const char* kPositionTable = "embeddings.position_embeddings.weight";

std::string place_of(const Checkpoint& checkpoint) {
  const std::vector<std::string> paths = checkpoint.paths();
  return paths.empty() ? "checkpoint" : paths.front();
}

void check_tensors(const Checkpoint& checkpoint, const Variant& variant, const std::string& where) {
  TensorReport report = compare_tensors(checkpoint, variant.config, *variant.head.facts, where);
  for (const auto* problems : {&report.warnings, &report.unread}) {
    for (const Problem& problem : *problems) warn(problem.where + ": " + problem.message);
  }
  if (!report.errors.empty()) throw Error(ErrorCode::kTensors, std::move(report.errors));
}

// A configuration of entities and a head of entities go together, and the file of the configuration tells which head.
void check_extraction(const Variant& variant, const std::string& where) {
  const HeadFacts& head = *variant.head.facts;
  const std::optional<ExtractionConfig>& extraction = variant.config.extraction;
  if (!extraction && head.takes_labelled_words())
    throw Error(
        ErrorCode::kConfig, where,
        fmt::format("the tensors form the head {}: expected its {} beside them, got none", head.name, kExtractionFile));
  if (!extraction) return;
  const Head expected = entity_head(*extraction);
  if (head.head != expected)
    throw Error(ErrorCode::kTensors, where,
                fmt::format("{} has span_mode {}: expected the tensors of the head {}, got those of {}",
                            kExtractionFile, to_string(extraction->span_mode), to_string(expected), head.name));
  if (variant.config.layout == Layout::kV1)
    throw Error(ErrorCode::kUnsupported, where,
                "a head of entities on DeBERTa of version 1: not computed by this version");
}

// Why the decoder does not belong to this model; empty: it does.
std::string find_reason_against(const Checkpoint& checkpoint, const Variant& variant) {
  if (!variant.head.facts->predicts_words())
    return fmt::format("expected a masked language model, got the head {}", variant.head.facts->name);
  const std::string_view reason = variant.config.reason_against_mask_decoder();
  if (!reason.empty()) return std::string(reason);
  if (checkpoint.find(kPositionTable) == nullptr) return fmt::format("the weights have no {}", kPositionTable);
  return "";
}

// Why it cannot run where it belongs; empty: it can.
std::string find_obstacle(const ModelConfig& config) {
  if (config.num_hidden_layers < 2)
    return fmt::format("expected at least 2 layers, got num_hidden_layers {}", config.num_hidden_layers);
  if (config.embedding_size != config.hidden_size)
    return fmt::format("expected embedding_size equal to hidden_size {}, got {}", config.hidden_size,
                       config.embedding_size);
  return "";
}

// A wrong name is harmless until the model pools.
void check_pooler(const Variant& variant, const std::string& where) {
  if (!variant.head.facts->is_per_sequence() || variant.config.pooler_hidden_act != Activation::kOther) return;
  const Json document = raw_document(variant.config);
  for (const ConfigKey& key : config_keys()) {
    if (key.name != "pooler_hidden_act") continue;
    const Json* value = find_config_value(document, key.name);
    if (value == nullptr) value = find_config_value(document, key.alias);
    throw Error(ErrorCode::kConfig, where,
                fmt::format("config.json has {}: expected {}, got {}", key.name, describe_expected(key),
                            value == nullptr ? "nothing" : value->describe()));
  }
}

bool decide_mask_decoder(const Checkpoint& checkpoint, const Variant& variant, MaskDecoder wanted,
                         const std::string& where) {
  if (wanted == MaskDecoder::kOff) return false;
  std::string reason = find_reason_against(checkpoint, variant);
  if (!reason.empty() && wanted == MaskDecoder::kAuto) return false;
  if (reason.empty()) reason = find_obstacle(variant.config);
  if (reason.empty()) return true;
  throw Error(ErrorCode::kUnsupported, where,
              fmt::format("mask decoder: {}; switch it off for the plain head on the last layer", reason));
}

}  // namespace

Variant find_variant(const Checkpoint& checkpoint, const ModelConfig& config, MaskDecoder mask_decoder) {
  const std::string where = place_of(checkpoint);
  Variant variant{config, engine_head(detect_head(checkpoint)), false};
  const std::string foreign = find_foreign_form(config, *variant.head.facts);
  if (!foreign.empty()) throw Error(ErrorCode::kUnsupported, where, foreign);
  // Files of the original code have no model_type: their tensors tell the layout.
  variant.config.layout = find_layout(config, checkpoint);
  check_extraction(variant, where);
  check_tensors(checkpoint, variant, where);
  check_pooler(variant, where);
  if (config.talking_head) throw Error(ErrorCode::kUnsupported, where, "talking_head: not computed by this version");
  if (config.is_causal && config.conv_kernel_size > 0) {
    throw Error(ErrorCode::kUnsupported, where,
                "is_decoder with a convolution: it would see the token that is to be predicted");
  }
  variant.has_mask_decoder = decide_mask_decoder(checkpoint, variant, mask_decoder, where);
  return variant;
}

}  // namespace deberta
