// From the hidden states of one text to one vector. Pure functions.
#pragma once
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "deberta/answer.h"

namespace deberta {

std::string_view to_string(Pooling pooling);

// rows_LD: L rows of `columns` values, special tokens included. Requires at least one row.
std::vector<float> pool(std::span<const float> rows_LD, size_t columns, Pooling pooling);

// Divides by the Euclidean length; a zero vector stays as it is.
void normalize(std::span<float> vector);

// Cosine of two vectors of the same dimension; 0 if either is zero.
float cosine(std::span<const float> a, std::span<const float> b);

}  // namespace deberta
