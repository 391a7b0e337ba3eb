// Options by the table: all that are given count, but for a list of those that cannot matter.
#include "program/job_description.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "base/file.h"
#include "base/folder.h"
#include "base/sha256.h"
#include "checkpoint/folder_kind.h"
#include "checkpoint/manifest.h"
#include "deberta/library.h"
#include "hub/module_list.h"
#include "jobs/file_state.h"
#include "program/config_file.h"
#include "program/interrupt.h"
#include "program/model_options.h"

namespace deberta::program {
namespace {

// The same answers with any value: where rows come from and go, how fast they are, what is said about them. The model
// counts by its files.
constexpr std::array<std::string_view, 14> kWithoutEffect = {
    "model",  "files",        "files-from", "to",   "output", "progress", "quiet",
    "config", "print-config", "input",      "load", "no-crc", "threads",  "batch-tokens"};

// A file counts by its content.
Json effect_of(const OptionRow& row, const Options& options) {
  if (row.range != "FILE") return option_value(row, options);
  return jobs::sha256_of_file(options.text(row), check_interrupted);
}

JsonObject given_options(const Options& options) {
  JsonObject given;
  for (const OptionRow* row : options_of(options.verb())) {
    const bool counts = std::ranges::find(kWithoutEffect, row->name) == kWithoutEffect.end();
    if (counts && options.is_given(*row)) given.emplace_back(row->name, effect_of(*row, options));
  }
  return given;
}

// Of a model's folders: its own, that of the transformer, and those of its other modules.
std::set<std::string> folders_of(const std::string& root) {
  std::set<std::string> folders{root, transformer_folder(root)};
  for (const ModuleEntry& module : load_module_list(root)) folders.insert(module_folder(root, module));
  return folders;
}

// Names and contents of all files that a model may be read from, but for what only describes it.
std::string hash_of_model(const std::string& root) {
  Sha256 hash;
  for (const std::string& folder : folders_of(root)) {
    for (const std::string& name : names_in(folder)) {
      const std::string path = fmt::format("{}/{}", folder, name);
      const bool only_describes = name == "README.md" || name == kManifestName;
      if (only_describes || !is_file_of_model(name) || !is_regular_file(path)) continue;
      const std::string within = folder.size() > root.size() ? folder.substr(root.size()) : "";
      hash.update(to_bytes(fmt::format("{}/{} {}\n", within, name, jobs::sha256_of_file(path, check_interrupted))));
    }
  }
  return hash.finish();
}

}  // namespace

Json job_description(const Options& options, const std::string& model) {
  JsonObject description{
      {"program", fmt::format("deberta {}", version())}, {"verb", options.verb()}, {"options", given_options(options)}};
  if (!model.empty()) description.emplace_back("model", hash_of_model(model_root(model)));
  return description;
}

}  // namespace deberta::program
