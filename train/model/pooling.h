// What the pooler of a sequence head reads of the last hidden states (kernels/pooling.h), with its gradient:
//   mean       dh_t = g / n
//   max        dh_t = g in the columns where t is the first token with the largest value
//   attention  dh_t = a_t g + c_t w,  dw = sum of c_t h_t;  c_t = a_t (g . h_t - g . sum of a_s h_s)
// B sequences  T packed tokens  D hidden
#pragma once
#include "train/model/heads.h"

namespace deberta::train {

// [B, D]; not of a form that pools the first token, which is a row (first_rows).
at::Tensor pool(const Pass& pass, const OutputHead& head, const at::Tensor& hidden_TD);

}  // namespace deberta::train
