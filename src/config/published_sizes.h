// The sizes that were published (model.md#published-models), and the configuration of a model of each.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/json.h"
#include "deberta/config.h"

namespace deberta {

enum class ModelVersion { kV1, kV2, kV3 };

struct PublishedSize {
  std::string_view name;  // "v3-large"
  ModelVersion version;
  int64_t layers, hidden, words;  // N, D, V
};

constexpr int64_t kPublishedHeadSize = 64;
constexpr int64_t kPublishedInnerFactor = 4;  // intermediate_size by hidden_size

std::span<const PublishedSize> published_sizes();

// nullptr when there is none of that name. Those of version 1 are also found as "v1-base" and so on.
const PublishedSize* find_published_size(std::string_view name);

std::string list_published_sizes();  // "base, large, ..."

// config.json of such a model, which predicts masked words. Without vocab_size: a new model has its tokenizer's.
JsonObject config_of(const PublishedSize& size);

// The same as it was published.
ModelConfig published_config(const PublishedSize& size);

}  // namespace deberta
