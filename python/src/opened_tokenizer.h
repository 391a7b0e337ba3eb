// A tokenizer for Python callers: of a folder, or of an opened model.
#pragma once
#include <nanobind/nanobind.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "deberta/tokenizer.h"
#include "python/src/inputs.h"
#include "text/tokenizer_settings.h"

namespace deberta::python {

class OpenedTokenizer {
 public:
  // `kind`: slow or fast. Throws as Tokenizer::load().
  OpenedTokenizer(const std::string& path, const std::string& kind);
  OpenedTokenizer(std::shared_ptr<const Tokenizer> tokenizer, TextLimits limits)
      : tokenizer_(std::move(tokenizer)), limits_(std::move(limits)) {}

  // For each row (what the verb `tokenize` prints, a dict of type_ids, words and special: 0 or 1).
  // Texts are cut only where max_tokens is given, or the folder states a length.
  nanobind::list encode(const Inputs& inputs, JsonObject parameters) const;
  const Tokenizer& tokenizer() const { return *tokenizer_; }

 private:
  std::shared_ptr<const Tokenizer> tokenizer_;
  TextLimits limits_;
};

}  // namespace deberta::python
