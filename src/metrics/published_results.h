// Results that the authors of DeBERTa published, each with its source. None was computed here.
#pragma once
#include <span>
#include <string_view>

namespace deberta {

struct PublishedResult {
  std::string_view model;   // "DeBERTa large"
  std::string_view size;    // of a DeBERTa: its name in config/published_sizes.h; else empty
  std::string_view task;    // as in the table of tasks
  std::string_view metric;  // as in the table of tasks
  double value = 0;         // in per cent; of GLUE and SQuAD on the dev sets
  std::string_view source;  // paper and table, or where else it stands
  std::string_view note = {};
  bool is_ablation = false;  // of a form of the base model that nobody ships
};

// In the order of the table: models that came before, then sizes of DeBERTa, then its ablations.
std::span<const PublishedResult> published_results();

}  // namespace deberta
