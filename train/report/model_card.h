// README.md of a trained model: its kind, its use here and with transformers, its training data, its metrics.
#pragma once
#include <string>

#include "train/report/run_record.h"

namespace deberta::train {

constexpr const char* kCardName = "README.md";

// The card, with the front matter that the Hugging Face hub reads. Requires `record.config`.
std::string make_model_card(const RunRecord& record);

// Whether a card was made here and is unchanged: it ends in a mark with the hash of the text before the mark.
bool is_own_card(std::string_view card);

}  // namespace deberta::train
