// The tokenizer of a run: that of a folder, and tokens that the run adds to it.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "deberta/tokenizer.h"
#include "text/added_tokens.h"

namespace deberta::train {

struct RunTokenizer {
  RunTokenizer(std::string in_folder, std::vector<std::string> added_tokens = {},
               TokenizerKind of_kind = TokenizerKind::kSlow)
      : folder(std::move(in_folder)), added(std::move(added_tokens)), kind(of_kind) {}

  std::string folder;
  std::vector<std::string> added;
  TokenizerKind kind;  // by which texts are read

  Tokenizer load() const { return Tokenizer::load(folder, kind, added); }
  // Without what is added.
  Tokenizer load_base() const { return Tokenizer::load(folder, kind); }
  // Files that a folder with this tokenizer has instead of the folder's own.
  std::vector<NamedText> changed_files() const { return files_with_tokens(folder, added); }
};

}  // namespace deberta::train
