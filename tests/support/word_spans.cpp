#include "support/word_spans.h"

#include <algorithm>
#include <array>

#include "engine/model_access.h"
#include "engine/output_heads.h"
#include "engine/weight_loader.h"
#include "support/paths.h"
#include "support/test_device.h"
#include "support/tiny_model.h"

namespace deberta::test {
namespace {

constexpr Head kWordSpans = static_cast<Head>(100);  // no enumerator: nothing but the tests knows it

constexpr std::array kTensors = {
    TensorRow{.name = "classifier.weight", .shape = "C,2*D"},
    TensorRow{.name = "classifier.bias", .shape = "C"},
};
constexpr std::array kUses = {HeadUse{.ending = "ForSpanClassification", .what = "a classifier of spans"}};

constexpr HeadFacts kFacts{
    .head = kWordSpans,
    .name = "word-span",
    .reads = HeadReads::kGroups,
    .groups = HeadGroups::kFirstAndLast,
    .answers = HeadAnswers::kClasses,
    .tensors = kTensors,
    .uses = kUses,
};

HeadWeights load(WeightLoader& loader) {
  HeadWeights w;
  w.classifier = loader.linear("classifier");
  return w;
}

void compute(const Pass& pass, const Workspace& space, ForwardResult& result) {
  apply_output_layer(pass, {.x = find_group_rows(pass, space), .rows = head_rows(pass)}, space, result);
}

}  // namespace

const HeadFacts& word_span_facts() {
  return kFacts;
}

EngineHead word_span_head() {
  return {&kFacts, load, compute};
}

void write_word_spans(const std::string& folder, const ModelConfig& config) {
  write_tiny_model(folder, config, kFacts);
}

Model load_word_spans(const ModelConfig& config, const ModelOptions& options) {
  const TemporaryFolder folder;
  write_word_spans(folder.path(), config);
  const Checkpoint checkpoint = Checkpoint::open(folder.path());
  return load_engine_model(checkpoint, Variant{config, word_span_head(), false}, options, test_memory());
}

std::vector<WordSpan> decode_word_spans(std::span<const float> logits_NC, size_t classes) {
  std::vector<WordSpan> spans;
  for (size_t n = 0; n < logits_NC.size() / classes; ++n) {
    const std::span<const float> logits_C = logits_NC.subspan(n * classes, classes);
    const auto best = std::ranges::max_element(logits_C);
    const auto label = static_cast<size_t>(best - logits_C.begin());
    if (label > 0) spans.push_back({n, label, *best});
  }
  return spans;
}

}  // namespace deberta::test
