// From the options of the task extract to its settings.
#pragma once
#include <array>
#include <string>
#include <utility>

#include "deberta/error.h"
#include "options/verb_options.h"
#include "program/model_options.h"
#include "train/finetune/extraction_start.h"
#include "train/finetune/settings.h"

namespace deberta::train {

inline std::optional<SpanMode> span_mode_of(const std::string& name) {
  for (const SpanMode mode : {SpanMode::kMarkerV0, SpanMode::kMarker, SpanMode::kTokenLevel}) {
    if (to_string(mode) == name) return mode;
  }
  return std::nullopt;
}

// Throws kUsage.
inline void refuse_extraction_options(const FinetuneVerb& options, const TaskRow& task) {
  const std::array<std::pair<const char*, bool>, 8> given = {{{"--label-names", !options.label_names.empty()},
                                                              {"--span-mode", options.span_mode.is_given()},
                                                              {"--max-width", options.max_width.is_given()},
                                                              {"--rnn-layers", options.rnn_layers.is_given()},
                                                              {"--max-labels", options.max_labels.is_given()},
                                                              {"--negative-labels", options.negative_labels.is_given()},
                                                              {"--focal-alpha", options.focal_alpha.is_given()},
                                                              {"--focal-gamma", options.focal_gamma.is_given()}}};
  for (const auto& [option, is_given] : given) {
    if (is_given) throw Error(ErrorCode::kUsage, option, "expected the task extract, got " + std::string(task.name));
  }
}

// Throws kUsage for options of another task, and what extraction_start() throws.
inline void set_extraction_options(const FinetuneVerb& options, FinetuneSettings& settings) {
  TaskStart& start = settings.start;
  if (settings.files.task->kind != TaskKind::kExtraction)
    return refuse_extraction_options(options, *settings.files.task);
  start.extraction = extraction_start(start.model_folder, start.model_name,
                                      {.span_mode = span_mode_of(options.span_mode.value),
                                       .max_width = options.max_width.value,
                                       .rnn_layers = options.rnn_layers.value});
  if (!start.extraction->new_marks.empty() && (start.lora || options.frozen_layers.value))
    throw Error(ErrorCode::kUsage, start.lora ? "--lora-rank" : "--frozen-layers",
                "expected embeddings that are trained, as the marks of labels are new to the tokenizer; begin with a "
                "GLiNER model");
  settings.files.training.extraction = {.config = start.extraction->config,
                                        .label_names = program::label_renames(options.label_names),
                                        .most_labels = options.max_labels.value,
                                        .most_drawn = options.negative_labels.value};
  settings.objective.focal = {.alpha = options.focal_alpha.value, .gamma = options.focal_gamma.value};
}

}  // namespace deberta::train
