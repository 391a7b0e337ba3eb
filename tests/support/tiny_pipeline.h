// A pipeline over a tiny model with random weights and a SentencePiece tokenizer, written into a folder.
#pragma once
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "deberta/pipeline.h"
#include "support/paths.h"
#include "support/tiny_model.h"

namespace deberta::test {

inline Pipeline tiny_pipeline(const TemporaryFolder& folder, ModelConfig config, Head head, int64_t classes) {
  config.vocab_size = 1100;
  write_tiny_model(folder.path(), config, head, classes);
  std::filesystem::copy(fixture("tokenizer/bytes.model"), folder.path("spm.model"),
                        std::filesystem::copy_options::overwrite_existing);
  return open_pipeline(folder.path(), {.threads = 2});
}

inline Pipeline tiny_pipeline(const TemporaryFolder& folder, Head head, std::vector<std::string> labels,
                              int64_t classes) {
  ModelConfig config = tiny_config();
  config.labels = std::move(labels);
  return tiny_pipeline(folder, std::move(config), head, classes);
}

}  // namespace deberta::test
