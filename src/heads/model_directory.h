// A model directory opened for use: configuration, tokenizer, weights.
#pragma once
#include <string>

#include "config/model_config.h"
#include "engine/model.h"
#include "text/tokenizer.h"

namespace deberta {

struct ModelDirectory {
  ModelConfig config;
  Tokenizer tokenizer;
  Model model;
};

// Throws what the parts throw, and kFileNotFound when `path` is no directory.
ModelDirectory open_model_directory(const std::string& path, const ModelOptions& options = {});

// kFileNotFound with the remedy when `path` is empty or no directory.
void check_model_directory(const std::string& path);

}  // namespace deberta
