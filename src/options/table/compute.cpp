// Options under the heading Compute: precision, threads and batches.
#include "options/table/rows.h"

namespace deberta::option_rows {
namespace {

constexpr OptionRow kComputeRows[] = {
    OptionRow{"device", 0, kChoice, "cpu", "cpu|cuda", kModelVerbs,
              "where the model runs; this build supports only the CPU, and refuses cuda"},
    OptionRow{"kernels", 0, kChoice, "auto", kKernelNames,
              "classify nli zero-shot ner extract qa choose rerank fill score embed detect analyze eval forward bench "
              "info serve pretrain finetune replay",
              "kernels to use; check runs the reference as well and reports the largest difference"},
    OptionRow{"dtype", 0, kChoice, "auto", "auto|fp32|bf16|int8",
              "classify nli zero-shot ner extract qa choose rerank fill score embed detect analyze eval forward bench "
              "serve",
              "precision of matrix products and attention; auto: int8 for weights stored in int8, else fp32"},
    OptionRow{"dtype", 0, kChoice, "auto", "auto|fp32|bf16", "pretrain finetune",
              "precision of matrix products and attention, forward and backward; weights, sums, norms and the "
              "optimiser are fp32; auto: bf16 where it is faster on this processor (`info` shows it), else fp32; a "
              "resumed run keeps its precision"},
    OptionRow{"dtype", 0, kChoice, "fp32", "fp32|bf16", "replay",
              "precision of matrix products and attention, forward and backward; weights, sums, norms and the "
              "optimiser are fp32"},
    OptionRow{"allow-uncalibrated", 0, kFlag, "", "", kModelVerbs,
              "run int8 without calibrated activations; some models then give wrong answers"},
    OptionRow{"threads", 0, kInteger, "0", "0..1024", kModelVerbs,
              "number of threads; 0: all processors available to this process"},
    OptionRow{"threads", 0, kInteger, "0", "0..1024", "pretrain finetune ablate replay",
              "number of threads; 0: all processors available to this process; the result does not depend on it"},
    OptionRow{"prefetch", 0, kInteger, "4", "0..64", "pretrain",
              "number of steps whose batches are prepared in advance; the result does not depend on it"},
    OptionRow{"compat", 0, kChoice, "original", "original|hf", kModelVerbs,
              "which implementation to follow where the original code and transformers differ (long distances, mask "
              "decoder, padding rows)"},
    OptionRow{"batch-tokens", 0, kSize, "16k", "1..16M",
              "classify nli zero-shot ner extract qa choose rerank fill score embed detect analyze eval bench",
              "maximum number of tokens in a batch"},
    OptionRow{"batch-tokens", 0, kSize, "4k", "1..16M", "serve",
              "maximum number of tokens in a batch; memory for one stays allocated"},
    OptionRow{"threads", 0, kList, "0", "0|NUMBERS", "bench",
              "numbers of threads, measured one after the other; 0: all processors available to this process"},
};
static_assert(are_rows(kComputeRows));

}  // namespace

std::span<const OptionRow> compute_rows() {
  return kComputeRows;
}

}  // namespace deberta::option_rows
