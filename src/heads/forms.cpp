// Forms that are trained here and served by nothing else, and when a model predicts through its mask decoder.
#include "heads/forms.h"

#include <fmt/format.h>

namespace deberta {

bool predicts_masked_words(const ModelConfig& config, const HeadFacts& head) {
  return head.predicts_words() && !config.is_causal;
}

bool predicts_by_decoder(const ModelConfig& config, const HeadFacts& head) {
  return head.predicts_words() && config.has_mask_decoder();
}

std::string find_foreign_form(const ModelConfig& config, const HeadFacts& head) {
  constexpr const char* kOnlyTrained = "a form of ablations, which is trained and evaluated but not served";
  if (config.relative_attention && config.has_p2p) return fmt::format("pos_att_type p2p: {}", kOnlyTrained);
  if (config.convolves_input && config.conv_kernel_size > 0) return fmt::format("conv_at_input: {}", kOnlyTrained);
  if (config.norm_first) return fmt::format("norm_first: {}", kOnlyTrained);
  if (head.predicts_words() && config.decoder_layers() > 0) return fmt::format("own_decoder_layers: {}", kOnlyTrained);
  return "";
}

Head entity_head(const ExtractionConfig& extraction) {
  return extraction.has_spans() ? Head::kEntitySpans : Head::kEntityWords;
}

}  // namespace deberta
