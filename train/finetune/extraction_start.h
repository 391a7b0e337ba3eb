// The head of entities that a run trains: that of the GLiNER model it begins with, or a new one on an encoder.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "deberta/config.h"
#include "train/finetune/settings.h"

namespace deberta::train {

// None: as the model to begin with has it, else as the library's default.
struct ExtractionChoices {
  std::optional<SpanMode> span_mode = std::nullopt;
  std::optional<int64_t> max_width = std::nullopt;
  std::optional<int64_t> rnn_layers = std::nullopt;
};

// Throws kUsage for choices that differ from what a GLiNER model has, kFileNotFound and kTokenizerFile for such a model
// without a tokenizer or without its marks in it, kConfig for an encoder that the head does not fit.
ExtractionStart extraction_start(const std::string& folder, const std::string& model_name,
                                 const ExtractionChoices& choices);

// The configuration with the head, of an encoder that has the rows of the marks in `tokenizer`. `dropout`: of the head;
// none: as the file of the head says it.
void set_extraction(const ExtractionStart& start, const Tokenizer& tokenizer, std::optional<double> dropout,
                    ModelConfig& config);

}  // namespace deberta::train
