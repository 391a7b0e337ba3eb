// A head that exists in the tests alone: classes of spans of words, from the states of the first and the last token of
// each,
//   logits_NC = classifier( [ h_first ; h_last ] )
// It is all that a new head is made of (CONTRIBUTING.md) but its name in `Head` and its cases in the switches: facts,
// what the engine loads and computes, a decoding. What the trainer computes is in tests/train/model/word_span_test.cpp.
// N spans  C classes  D hidden
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "deberta/model.h"
#include "engine/variant.h"
#include "heads/head_facts.h"

namespace deberta::test {

const HeadFacts& word_span_facts();
EngineHead word_span_head();

// A small random model with this head and three classes, whose passes the engine computes.
Model load_word_spans(const ModelConfig& config, const ModelOptions& options = {.threads = 1});
void write_word_spans(const std::string& folder, const ModelConfig& config);

// The spans whose best class is not the first, which means none.
struct WordSpan {
  size_t number = 0;
  size_t label = 0;
  float logit = 0;
};
std::vector<WordSpan> decode_word_spans(std::span<const float> logits_NC, size_t classes);

}  // namespace deberta::test
