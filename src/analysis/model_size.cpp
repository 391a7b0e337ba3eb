// Parameters by the table of tensors, operations by the room cost.
#include "analysis/model_size.h"

namespace deberta {
namespace {

ModelConfig without_relative_terms(ModelConfig config) {
  config.relative_attention = false;
  return config;
}

int64_t labels_of(const ModelConfig& config) {
  constexpr int64_t kUsual = 2;
  if (!config.labels.empty()) return static_cast<int64_t>(config.labels.size());
  return config.num_labels > 0 ? config.num_labels : kUsual;
}

}  // namespace

ModelSize model_size(const ModelConfig& config, const HeadFacts& head, int64_t labels, int32_t length) {
  const ModelConfig plain = without_relative_terms(config);
  const PassShape shape{.lengths = {&length, 1}};
  return {.parameters = count_parameters(config, head, labels),
          .plain_parameters = count_parameters(plain, head, labels),
          .operations = forward_operations(config, shape),
          .plain_operations = forward_operations(plain, shape),
          .table = table_operations(config, length)};
}

ModelSize model_size(const ModelConfig& config, int32_t length) {
  return model_size(config, head_of_config(config), labels_of(config), length);
}

}  // namespace deberta
