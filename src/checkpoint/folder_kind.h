// What a folder is that holds no model for this program, in one sentence with what to do: said before a file is missed.
#pragma once
#include <string>

namespace deberta {

// What is about to be read: configuration and weights, the vocabulary, or an adapter of peft.
enum class FolderUse { kModel, kTokenizer, kAdapter };

// Throws kFolder for a folder of a known other kind. Passes for a model, and where nothing is known of the folder: the
// reader of the first file that is missing then says so. Of files only names and first bytes are looked at, of
// config.json and adapter_config.json what they say of themselves.
void check_folder_kind(const std::string& folder, FolderUse use);

}  // namespace deberta
