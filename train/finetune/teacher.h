// The model that a run learns from beside the labels.
#pragma once
#include <optional>
#include <string>

#include "train/data/task_samples.h"
#include "train/finetune/settings.h"
#include "train/objectives/distillation.h"

namespace deberta::train {

// The teacher of the objective, with its classes in the order of the samples'; nothing where none is named. Throws
// kUsage for adversarial training beside it, kTask for a head or classes of another kind, kTokenId for other
// pieces than those of the model that learns, and what reading throws.
std::optional<Teacher> load_teacher(const TaskObjective& objective, const TaskFiles& files,
                                    const RunTokenizer& tokenizer, const TaskSamples& samples);

// SHA-256 of its configuration and weights.
std::string hash_of(Teacher& teacher);

}  // namespace deberta::train
