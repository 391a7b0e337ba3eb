// Recognises folders that are not a model for this program, and says what they are before any missing file is reported.
#pragma once
#include <string>
#include <string_view>

namespace deberta {

// What is about to be read: configuration and weights, weights alone, the vocabulary, or an adapter of peft. Of a
// GLiNER model, whose configuration is another file (config/extraction_config.h), the weights.
enum class FolderUse { kModel, kWeights, kTokenizer, kAdapter };

// Throws kFolder for a folder of another known kind. Accepts a model and an unknown folder; the reader of the first
// missing file then reports it. Looks only at file names, first bytes, and the declarations in config.json and
// adapter_config.json.
void check_folder_kind(const std::string& folder, FolderUse use);

// Whether the folder has weights under a name that is read here.
bool has_weight_files(const std::string& folder);

// Whether a model is read from files of this name: its configuration, tokenizer, weights, modules or card.
bool is_file_of_model(std::string_view name);

}  // namespace deberta
