// Queries with their documents: a sample each, and which of its documents a step learns from.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "train/data/task_sources.h"

namespace deberta::train {

// A query that teaches no order (without two documents of different relevance; of listwise without a relevant one; of
// pointwise none) is counted and left out. Throws kInput, without a location, for labels that the loss does not learn.
void add_query(const SampleSource& source, const Example& example, TaskSamples& samples);

// Numbers of at most `most` documents, ascending: relevant ones first, then others, each drawn from the key, the epoch
// and the number of the sample. Where all of them were equally relevant and others are not, the last drawn is one of
// these.
std::vector<size_t> draw_documents(std::span<const float> relevance, size_t most, uint64_t key, uint32_t epoch,
                                   uint32_t sample);

// The sample with these documents alone.
TaskSample with_documents(const TaskSample& sample, std::span<const size_t> documents);

// With its longest documents alone, as many as a step has at most.
TaskSample with_longest(const TaskSample& sample, size_t most);

}  // namespace deberta::train
