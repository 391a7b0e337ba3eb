// Resolves model names to folders: a directory, a built-in model, or a repository in the local hub cache. Nothing is
// downloaded.
#pragma once
#include <string>
#include <vector>

#include "deberta/error.h"

namespace deberta {

// The variables that determine where models are. An unset variable is empty.
struct ModelEnvironment {
  std::string data_dir;        // DEBERTA_DATA_DIR
  std::string hf_hub_cache;    // HF_HUB_CACHE
  std::string hf_home;         // HF_HOME
  std::string xdg_cache_home;  // XDG_CACHE_HOME
  std::string home;            // HOME
  std::string program;         // path of the running program: PREFIX/bin/deberta
};
DEBERTA_API ModelEnvironment current_environment();  // that of this process

struct ModelPlaces {
  std::vector<std::string> builtin;  // folders with one subfolder per built-in model; the first match wins
  std::string hub_cache;             // contains models--ORG--NAME; empty: there is none
};
DEBERTA_API ModelPlaces find_places(const ModelEnvironment& environment);

// The folder of the model called `name`:
//   a path that begins with /, ./ or ../, or any existing directory: itself;
//   "builtin:NAME", or "builtin" where there is only one;
//   "ORG/NAME" or "ORG/NAME@REVISION": a snapshot in the hub cache; without a revision that of refs/main. Its links are
//   followed as far as they stay inside the cache.
// Throws kFileNotFound with all places searched and the nearest names there, kFileType for a link that leaves the
// cache.
DEBERTA_API std::string find_model(const std::string& name, const ModelPlaces& places);

// A model that find_model finds by name.
struct FoundModel {
  std::string name;  // "builtin:NAME" or "ORG/NAME"
  std::string path;
};
// All DeBERTa models among them: the built-in ones, then those in the hub cache, each sorted by name.
DEBERTA_API std::vector<FoundModel> list_models(const ModelPlaces& places);

}  // namespace deberta
