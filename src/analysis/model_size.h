// How large a model is: parameters and operations by part, each beside those of the same model without relative terms.
#pragma once
#include <cstdint>

#include "checkpoint/parameter_count.h"
#include "cost/operations.h"

namespace deberta {

struct ModelSize {
  ParameterCounts parameters, plain_parameters;  // plain: without relative terms
  Operations operations, plain_operations;       // of the encoder for one sequence, every token of it
  double table = 0;                              // operations of the relative table through its projections

  double relative_terms() const { return operations.attention - plain_operations.attention; }
  double parameter_ratio() const {
    return static_cast<double>(parameters.all()) / static_cast<double>(plain_parameters.all());
  }
  double operation_ratio() const { return operations.all() / plain_operations.all(); }
  // Of the scores alone: half of plain attention is the sum of values.
  double score_ratio() const { return 1 + relative_terms() / (plain_operations.attention / 2); }
};

// Of a text of `length` tokens. `labels`: C, of heads with classes.
ModelSize model_size(const ModelConfig& config, const HeadFacts& head, int64_t labels, int32_t length);

// With the head and the number of labels that config.json names.
ModelSize model_size(const ModelConfig& config, int32_t length);

}  // namespace deberta
