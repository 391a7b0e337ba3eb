// A small random model on disk (config.json, model.safetensors), the same for the same arguments.
#pragma once
#include <cstdint>
#include <string>

#include "config/model_config.h"
#include "deberta/checkpoint.h"
#include "heads/head_facts.h"

namespace deberta::test {

// Version 3 style: 2 layers, hidden 16, 2 heads, feed-forward 24, 50 words, 8 buckets of 16 positions, shared
// projections, normalised relative table, c2p and p2c, no absolute positions.
ModelConfig tiny_config();

// Gammas around 1, biases and weights large enough that each one shows in the result. `config.raw` is not read.
void write_tiny_model(const std::string& folder, const ModelConfig& config, const HeadFacts& head, int64_t labels = 3,
                      uint64_t seed = 1);
inline void write_tiny_model(const std::string& folder, const ModelConfig& config, Head head = Head::kNone,
                             int64_t labels = 3, uint64_t seed = 1) {
  write_tiny_model(folder, config, facts_of(head), labels, seed);
}

void make_version_1(ModelConfig& config);  // fused projections, rows by distance, no norm of the table

// The keys of config.json that describe `config`.
Json to_json(const ModelConfig& config);

}  // namespace deberta::test
