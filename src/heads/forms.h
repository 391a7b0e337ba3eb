// What a configuration and a head together say about the form of a model.
#pragma once
#include <string>

#include "deberta/config.h"
#include "heads/head_facts.h"

namespace deberta {

// Whether it is a masked language model: a head that predicts words, over tokens that see each other.
bool predicts_masked_words(const ModelConfig& config, const HeadFacts& head);

// Whether its logits come from the mask decoder, where the weights have the position table that this reads.
bool predicts_by_decoder(const ModelConfig& config, const HeadFacts& head);

// Why the engine does not compute models of this form, which only the trainer has; empty: it does.
std::string find_foreign_form(const ModelConfig& config, const HeadFacts& head);

// The head that a GLiNER model of this configuration has.
Head entity_head(const ExtractionConfig& extraction);

}  // namespace deberta
