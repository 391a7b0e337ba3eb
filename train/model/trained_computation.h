// A model in training instead of the engine's, for the forms that only training has (src/engine/variant.h): what reads
// a Pipeline then reads these as well.
#pragma once
#include "deberta/model.h"
#include "train/model/model.h"

namespace deberta::train {

// Whether the engine lacks the form.
bool is_for_training_alone(const ModelForm& form);

// `model` and what `compute` refers to outlive it. forward() throws kUnsupported for hidden states, attention scores,
// given masks and positions, and mentions.
deberta::Model compute_by_training(Model& model, const Compute& compute);

}  // namespace deberta::train
