// Texts with entities: samples without labels before them, and which labels a step puts there.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "pipeline/labelled_text.h"
#include "train/data/task_sources.h"

namespace deberta::train {

// Texts with their entities, as `deberta eval` reads them. Words are those that the model will be given: a file's own
// are joined with spaces and divided again. Throws kInput for files without entities, kUsage for a length that leaves
// no room behind the labels.
void read_entities(const SampleSource& source, TaskSamples& samples);

PromptMarks marks_of(const LabelPool& pool);

// Numbers of the labels that stand before a text, in their order, from the key, the epoch and the number of the sample:
// those of its entities; then those that its row was searched for, or, of a row that does not say so, 0 to most_drawn
// others, each drawn as often as samples have it. At least one, at most most_labels.
std::vector<int32_t> draw_labels(const TaskSamples& samples, size_t number, uint64_t key, uint32_t epoch);

// A sample for which draw_labels() draws its own labels and as many of the longest as there is room for.
TaskSample with_longest_labels(const TaskSamples& samples, TaskSample sample);

// The sample behind these labels. Entities with others are not learned.
TaskSample with_labels(const TaskSamples& samples, size_t number, std::span<const int32_t> labels);

}  // namespace deberta::train
