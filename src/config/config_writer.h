// Writes config.json back as it was read, with every key that matters written out, so that programs with different
// defaults for missing keys compute the same.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "config/model_config.h"

namespace deberta {

class ConfigDocument {
 public:
  // The members of `config.raw`; if that describes two models, including those of the discriminator.
  explicit ConfigDocument(const ModelConfig& config);

  // Writes the keys that are missing or null as `config` understands them, `config.layout` included, and label2id from
  // id2label where they disagree.
  void write_out(const ModelConfig& config);
  void set(std::string_view key, Json value);
  bool has(std::string_view key) const;  // and it is not null

  const Json& json() const { return document_; }
  // `pos_att_type: "c2p" (was missing)`, a line for each key that set() or write_out() gave another value.
  const std::vector<std::string>& changes() const { return changes_; }

 private:
  void write_out_table(const ModelConfig& config);
  void write_out_labels(const ModelConfig& config);

  Json document_;
  std::vector<std::string> changes_;
};

}  // namespace deberta
