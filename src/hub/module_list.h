// modules.json of sentence-transformers: the modules of a model, and the folders that they are in. Other folders have
// no such file.
#pragma once
#include <string>
#include <vector>

namespace deberta {

struct ModuleEntry {
  std::string type;    // the name of the class
  std::string kind;    // last part of the type: "Pooling"
  std::string folder;  // in the folder of the model; empty: that folder itself
};

// None without the file. Throws kConfig and kJson for a wrong one.
std::vector<ModuleEntry> load_module_list(const std::string& path);

std::string module_folder(const std::string& path, const ModuleEntry& module);

// Where config.json, the weights and the tokenizer are: `path`, or the folder in it that modules.json names (such as
// 0_Transformer). Throws like load_module_list().
std::string transformer_folder(const std::string& path);

}  // namespace deberta
