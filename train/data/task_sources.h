// The three kinds of labelled files. Internal to task_samples.h.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "pipeline/encodings.h"
#include "pipeline/entity.h"
#include "train/data/task_samples.h"

namespace deberta::train {

struct SampleSource {
  const TaskRow& task;
  const TaskReading& reading;
  const Tokenizer& tokenizer;
  const ReadingHooks& hooks;

  EncodingRules rules() const {
    EncodingRules rules;
    rules.encode.max_tokens = reading.max_tokens;
    rules.encode.truncate = Truncate::kRight;
    rules.long_text = reading.reads_windows ? LongText::kWindow : LongText::kCut;
    rules.stride = reading.stride;
    return rules;
  }
  // Counts a row that cannot be read; throws unless such rows are left out.
  void leave_out(const Error& error, TaskSamples& samples) const;
  bool is_full(const TaskSamples& samples) const {
    return reading.max_examples > 0 && samples.examples >= reading.max_examples;
  }
};

// Classes, scores, choices and mentions.
void read_examples(const SampleSource& source, TaskSamples& samples);
// Spans of contexts.
void read_questions(const SampleSource& source, TaskSamples& samples);
// Words in columns.
void read_tags(const SampleSource& source, TaskSamples& samples);

TaskSequence to_sequence(const Encoding& encoding);

// The sequences of a text: its windows, or itself, perhaps cut. Counts texts of either kind.
WindowedInputs sequences_of(const SampleSource& source, const TextInput& text, TaskSamples& samples);

// Class numbers, assigned as names are met, become those of `names` sorted: by value if all are numbers, else by bytes,
// with "O" first. Returns the new number of each old one.
std::vector<int32_t> sort_labels(std::vector<std::string>& names);

}  // namespace deberta::train
