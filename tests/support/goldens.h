// Golden models: a tiny checkpoint, inputs and known outputs; and their comparison with the engine's outputs.
// B sequences  L positions  T packed tokens  H heads  D hidden  W width of a row
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/tensor.h"
#include "deberta/config.h"
#include "kernels/dispatch.h"

namespace deberta::test {

struct Golden {
  std::string name;
  std::string model_folder;  // config.json and model.safetensors
  DistanceRule distance = DistanceRule::kOriginal;
  std::map<std::string, TensorView> inputs;   // input_ids [B, L] or [B, choices, L], attention_mask, token_type_ids,
                                              // position_ids, relative_pos [L, L]; rows or labels: which positions to
                                              // predict; entity_indices [B, mentions, pieces], 0 = none
  std::map<std::string, TensorView> outputs;  // hidden.N (all columns or evenly spaced ones), pooled, logits;
                                              // probabilities.1, c2c.1, c2p.1, p2c.1
  std::map<std::string, double> bounds;       // the largest allowed difference of each output
};

struct GoldenReport {
  std::string unsupported;                               // why the engine cannot run it; empty: it ran
  std::vector<std::string> failures;                     // `case, kernels: tensor: error x, bound y`
  std::map<std::string, double> errors;                  // by output that is not a score
  std::map<std::string_view, uint64_t> attention_calls;  // by name of the level, as long as no scores are wanted
  size_t compared = 0;                                   // outputs
};

// Runs the engine with the named kernels (engine/model.h), and once more for scores where there are any: only the
// reference computes those. A golden without token ids (one layer alone) is reported as unsupported, any error as a
// failure. Rows of tokens that a 2-D mask leaves out are not compared.
GoldenReport compare_with_engine(const Golden& golden, const std::string& kernels,
                                 Precision precision = Precision::kFp32);

// "auto" and every level of fp32 that this machine can run.
std::vector<std::string> usable_kernels();

}  // namespace deberta::test
