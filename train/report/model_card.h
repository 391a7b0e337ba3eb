// README.md of a trained model: what it is, how it is used here and with transformers, what it was trained on, how good
// it is.
#pragma once
#include <string>

#include "train/report/run_record.h"

namespace deberta::train {

constexpr const char* kCardName = "README.md";

// With the front matter that the Hugging Face hub reads. `record.config` must be there.
std::string make_model_card(const RunRecord& record);

// Whether a card is one of ours that nobody has changed: it ends in a mark with the hash of what stands before it.
bool is_own_card(std::string_view card);

}  // namespace deberta::train
