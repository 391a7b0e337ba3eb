// What is worth knowing of labelled examples before a model learns from them.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "data/examples.h"
#include "metrics/task_table.h"
#include "train/data/task_samples.h"

namespace deberta::train {

// Hashes all that a model sees of an example: its texts, marked words, choices.
size_t hash_of_texts(const TaskRow& task, const Example& example);

// How many examples are held out, and what is wrong with them.
std::string describe_held_out(const TaskSamples& samples);

// A sentence each: empty texts, bytes that are not UTF-8, one text with two labels, classes with a single sample, the
// share of the largest class.
std::vector<std::string> notes_of(const TaskSamples& samples);

}  // namespace deberta::train
