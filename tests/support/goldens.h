// Golden models: a tiny checkpoint, inputs and known outputs; and their comparison with what the engine gives.
// B sequences  L positions  T packed tokens  H heads  D hidden  W width of a row
#pragma once
#include <map>
#include <string>
#include <vector>

#include "checkpoint/tensor.h"
#include "config/model_config.h"

namespace deberta::test {

struct Golden {
  std::string name;
  std::string model_folder;  // config.json and model.safetensors
  DistanceRule distance = DistanceRule::kOriginal;
  std::map<std::string, TensorView> inputs;   // input_ids [B, L] or [B, choices, L], attention_mask, token_type_ids,
                                              // position_ids; rows or labels: which positions to predict
  std::map<std::string, TensorView> outputs;  // hidden.N, pooled, logits; probabilities.1, c2c.1, c2p.1, p2c.1
  std::map<std::string, double> bounds;       // the largest allowed difference of each output
  bool has_decoder = false;                   // the logits come from the enhanced mask decoder
};

struct GoldenReport {
  std::string unsupported;            // why the engine cannot run it; empty: it ran
  std::vector<std::string> failures;  // `case, kernels: tensor: error x, bound y`
  size_t compared = 0;                // outputs
};

// The engine has no mask decoder: its logits are those of the last layer. Hidden states are compared.
void leave_out_decoder_logits(Golden& golden);

// An input that the engine's interface has no place for, or empty.
std::string find_unsupported_input(const Golden& golden);

// Runs the engine with the named kernels (engine/model.h). kUnsupported makes an unsupported report, any other error a
// failure. Rows of masked tokens are not compared.
GoldenReport compare_with_engine(const Golden& golden, const std::string& kernels);

// "auto" and every level that this machine can run.
std::vector<std::string> usable_kernels();

}  // namespace deberta::test
