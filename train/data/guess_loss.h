// What a head would lose by guessing.
#pragma once
#include <vector>

#include "train/data/task_samples.h"

namespace deberta::train {

// The mean loss of the answer that is the same for every sample and fits them best: for classes the entropy of their
// shares, for scores their variance. For choices and spans every choice and token is as likely as the others; the
// documents of a query, of one draw, have the same score, of pointwise the mean relevance. Without weights of rows
// and classes and smoothing. Requires samples.
double guess_loss(const TaskSamples& samples);

// The number of samples of each class, in order of class number, for kTokens the number of words; a share of a sample
// counts as a part.
std::vector<double> count_classes(const TaskSamples& samples);

}  // namespace deberta::train
