// The model that goes with the inputs of `calibration`, and the form of these inputs: the header of a safetensors file
// without its length, a newline, the data. The identity of the weights is a placeholder, so that inputs outlive them.
#pragma once
#include <string>
#include <string_view>

#include "base/checked.h"
#include "support/bad_safetensors.h"
#include "support/tiny_model.h"

namespace deberta::fuzz {

inline constexpr std::string_view kPlaceholder = "0000000000000000000000000000000000000000000000000000000000000000";

// One layer whose widest input has more channels than there may be outliers.
inline ModelConfig calibrated_config() {
  ModelConfig config = test::tiny_config();
  config.num_hidden_layers = 1;
  config.hidden_size = config.embedding_size = config.pooler_hidden_size = config.attention_head_size = 32;
  config.num_attention_heads = 1;
  config.intermediate_size = 40;
  config.vocab_size = 7;
  return config;
}

// The file that an input stands for.
inline std::string calibration_file(std::string_view input, std::string_view identity) {
  const size_t end = input.find('\n');
  std::string header(input.substr(0, end));
  if (const size_t at = header.find(kPlaceholder); at != std::string::npos)
    header.replace(at, kPlaceholder.size(), identity);
  return test::safetensors_bytes(header, end == input.npos ? "" : input.substr(end + 1));
}

// The input that stands for a file.
inline std::string calibration_input(std::string_view file) {
  constexpr size_t kLengthBytes = 8;
  const auto length = Reader(to_bytes(file)).take_little_endian(kLengthBytes).value_or(0);
  return std::string(file.substr(kLengthBytes, length)) + '\n' + std::string(file.substr(kLengthBytes + length));
}

}  // namespace deberta::fuzz
