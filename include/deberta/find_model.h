// Names of models to folders: a directory, a built-in model, or a repository of the local hub cache. Nothing is
// fetched.
#pragma once
#include <string>
#include <vector>

#include "deberta/error.h"

namespace deberta {

// What the places of models follow from. A variable that is not set is empty.
struct ModelEnvironment {
  std::string data_dir;        // DEBERTA_DATA_DIR
  std::string hf_hub_cache;    // HF_HUB_CACHE
  std::string hf_home;         // HF_HOME
  std::string xdg_cache_home;  // XDG_CACHE_HOME
  std::string home;            // HOME
  std::string program;         // path of the running program: PREFIX/bin/deberta
};
DEBERTA_API ModelEnvironment current_environment();  // of this process

struct ModelPlaces {
  std::vector<std::string> builtin;  // folders that hold a folder for each built-in model, the first one wins
  std::string hub_cache;             // holds models--ORG--NAME; empty: there is none
};
DEBERTA_API ModelPlaces find_places(const ModelEnvironment& environment);

// The folder of the model that `name` names:
//   a path that begins with /, ./ or ../, or any existing directory: itself;
//   "builtin" (the only one there, or the one called default) or "builtin:NAME";
//   "ORG/NAME" or "ORG/NAME@REVISION": a snapshot in the hub cache; without a revision that of refs/main. Its links are
//   followed as far as they stay inside the cache.
// Throws kFileNotFound with all places that were looked at and the nearest names there, kFileType for a link that
// leaves the cache.
DEBERTA_API std::string find_model(const std::string& name, const ModelPlaces& places);

// A model that find_model finds by a name.
struct FoundModel {
  std::string name;  // "builtin:NAME" or "ORG/NAME"
  std::string path;
};
// All of them that are a DeBERTa: built-in ones, then those of the hub cache, each sorted by name.
DEBERTA_API std::vector<FoundModel> list_models(const ModelPlaces& places);

}  // namespace deberta
