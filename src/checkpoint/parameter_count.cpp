// Adds up the shapes of the tensors, each in the part that its name belongs to.
#include "checkpoint/parameter_count.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "checkpoint/tensor_table.h"
#include "heads/forms.h"

namespace deberta {
namespace {

using Part = int64_t ParameterCounts::*;

// The first row whose text the name begins with; all others belong to the head.
struct ModelPart {
  std::string_view begin;
  Part part;
};
constexpr std::array kModelParts = {
    ModelPart{"embeddings.word_embeddings.", &ParameterCounts::words},
    ModelPart{"embeddings.position_embeddings.", &ParameterCounts::positions},
    ModelPart{"embeddings.", &ParameterCounts::embeddings},
    ModelPart{"encoder.rel_embeddings.", &ParameterCounts::relative_table},
    ModelPart{"encoder.LayerNorm.", &ParameterCounts::relative_table},
    ModelPart{"encoder.conv.", &ParameterCounts::convolution},
    ModelPart{"encoder.", &ParameterCounts::layers},
};
constexpr std::string_view kOfPositions = ".self.pos_";  // projections of the relative table, in either layout

Part part_of(std::string_view name) {
  if (name.find(kOfPositions) != std::string_view::npos) return &ParameterCounts::relative_projections;
  const auto row =
      std::ranges::find_if(kModelParts, [&](const ModelPart& part) { return name.starts_with(part.begin); });
  return row == kModelParts.end() ? &ParameterCounts::head : row->part;
}

}  // namespace

ParameterCounts count_parameters(const ModelConfig& config, const HeadFacts& head, int64_t labels) {
  const bool has_decoder = predicts_by_decoder(config, head);
  ParameterCounts counts;
  for (const TensorSpec& tensor : list_tensors(config, head, labels)) {
    const Part part = part_of(tensor.name);
    const bool is_read_by_decoder = part == &ParameterCounts::positions && has_decoder;
    if (!tensor.is_required && !is_read_by_decoder) continue;
    int64_t count = 1;
    for (const int64_t size : tensor.shape) count *= size;
    counts.*part += count;
  }
  return counts;
}

const HeadFacts& head_of_config(const ModelConfig& config) {
  for (const std::string& architecture : config.architectures) {
    if (const HeadFacts* head = find_head(architecture)) return *head;
  }
  return facts_of(Head::kMaskedLm);
}

}  // namespace deberta
