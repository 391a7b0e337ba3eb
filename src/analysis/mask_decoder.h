// What the analyses of the mask decoder share: that there is one, and log-probabilities of masked pieces.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "deberta/analysis.h"

namespace deberta {

// Throws kTask with the reason.
void check_mask_decoder(const Model& model);

// A sequence in which one token is predicted.
struct PredictedPiece {
  std::vector<int32_t> ids;
  std::vector<int32_t> type_ids;
  size_t token = 0;
  int32_t piece = 0;  // whose probability is wanted
};

// The natural logarithm of each probability, by the mask decoder or by the plain head.
std::vector<double> log_probabilities(const Model& model, const std::vector<PredictedPiece>& pieces,
                                      bool skips_mask_decoder);

}  // namespace deberta
