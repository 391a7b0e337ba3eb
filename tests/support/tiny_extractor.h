// A pipeline over a tiny GLiNER model with random weights and a SentencePiece tokenizer, written into a folder.
#pragma once
#include <filesystem>
#include <string>
#include <utility>

#include "deberta/pipeline.h"
#include "support/paths.h"
#include "support/tiny_model.h"

namespace deberta::test {

inline JsonObject to_json(const ExtractionConfig& c) {
  return {{"span_mode", std::string(to_string(c.span_mode))},
          {"subtoken_pooling", std::string(to_string(c.subtoken_pooling))},
          {"hidden_size", c.hidden_size},
          {"max_width", c.max_width},
          {"max_len", c.max_len},
          {"num_rnn_layers", c.num_rnn_layers},
          {"embed_ent_token", c.embed_ent_token},
          {"model_name", c.model_name}};
}

// gliner_config.json, the tokenizer and the weights; the marks have the ids behind the tokenizer's.
inline void write_tiny_extractor(const TemporaryFolder& folder, const ExtractionConfig& extraction,
                                 ModelConfig config = tiny_config()) {
  std::filesystem::copy(fixture("tokenizer/bytes.model"), folder.path("spm.model"),
                        std::filesystem::copy_options::overwrite_existing);
  write_text(folder.path("tokenizer_config.json"), R"({"tokenizer_class": "DebertaV2Tokenizer"})");
  config.vocab_size = static_cast<int64_t>(Tokenizer::load(folder.path(), TokenizerKind::kFast).size()) + 3;
  config.extraction = extraction;
  write_tiny_model(folder.path(), config, extraction.has_spans() ? Head::kEntitySpans : Head::kEntityWords);
  std::filesystem::remove(folder.path("config.json"));
  JsonObject file = to_json(extraction);
  file.emplace_back("encoder_config", to_json(config));
  write_text(folder.path("gliner_config.json"), Json(std::move(file)).dump(1));
}

inline Pipeline tiny_extractor(const TemporaryFolder& folder, const ExtractionConfig& extraction) {
  write_tiny_extractor(folder, extraction);
  return open_pipeline(folder.path(), {.threads = 2});
}

}  // namespace deberta::test
