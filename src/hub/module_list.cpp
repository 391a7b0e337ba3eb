// Checks every entry of the list, and finds the module that holds the transformer.
#include "hub/module_list.h"

#include <fmt/format.h>

#include <string_view>

#include "base/file.h"
#include "base/file_names.h"
#include "base/json.h"
#include "deberta/error.h"

namespace deberta {
namespace {

constexpr size_t kMaxModules = 32;

[[noreturn]] void refuse(const std::string& where, std::string_view key, std::string_view expected, const Json* got) {
  throw Error(ErrorCode::kConfig, where,
              fmt::format("{}: expected {}, got {}", key, expected, got == nullptr ? "nothing" : got->describe()));
}

}  // namespace

std::vector<ModuleEntry> load_module_list(const std::string& path) {
  const std::string where = path + "/modules.json";
  std::vector<ModuleEntry> modules;
  if (!is_regular_file(where)) return modules;
  const Json document = load_python_json(where, {}, JsonWarnings::kSilent);
  if (!document.is_array() || document.as_array().size() > kMaxModules)
    refuse(where, "document", fmt::format("a list of at most {} modules", kMaxModules), &document);
  for (const Json& entry : document.as_array()) {
    const Json* type = entry.find("type");
    const Json* folder = entry.find("path");
    if (type == nullptr || !type->is_string()) refuse(where, "type", "the name of a module", type);
    if (folder == nullptr || !folder->is_string()) refuse(where, "path", "a folder's name, or nothing", folder);
    const std::string& name = folder->as_string();
    if (!name.empty() && !is_plain_file_name(name)) refuse(where, "path", "a plain folder name", folder);
    const std::string& kind = type->as_string();
    modules.push_back({kind, kind.substr(kind.rfind('.') + 1), name});
  }
  return modules;
}

std::string module_folder(const std::string& path, const ModuleEntry& module) {
  return module.folder.empty() ? path : fmt::format("{}/{}", path, module.folder);
}

std::string transformer_folder(const std::string& path) {
  for (const ModuleEntry& module : load_module_list(path)) {
    if (module.kind == "Transformer") return module_folder(path, module);
  }
  return path;
}

}  // namespace deberta
