// The steps of finding a model, in their order, and the message when all of them fail.
#include "deberta/find_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>

#include "base/file.h"
#include "base/folder.h"
#include "base/json.h"
#include "base/nearest.h"
#include "config/extraction_config.h"
#include "hub/hub_cache.h"
#include "hub/model_folder.h"
#include "hub/module_list.h"

namespace deberta {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBuiltin = "builtin";

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool is_path(std::string_view name) {
  return name.starts_with('/') || name.starts_with("./") || name.starts_with("../") || name == "." || name == "..";
}

// The names of the built-in models of one folder, sorted.
std::vector<std::string> names_of_builtin(const std::string& folder) {
  std::vector<std::string> names;
  for (const std::string& name : names_in(folder)) {
    const std::string model = fmt::format("{}/{}", folder, name);
    if (is_regular_file(model + "/config.json") || is_extraction_folder(model)) names.push_back(name);
  }
  return names;
}

// What to suggest instead of `name`: the nearest of the names there, else the first of them.
std::string describe_others(std::string_view name, const std::vector<std::string>& there) {
  std::vector<std::string_view> whole(there.begin(), there.end());
  std::vector<std::string_view> last;  // "deberta-v3-small" may have been meant for "microsoft/deberta-v3-small"
  last.reserve(whole.size());
  for (const std::string_view path : whole) last.push_back(path.substr(path.find_last_of("/:") + 1));
  std::string_view near = nearest_match(name, whole);
  if (near.empty()) {
    const std::string_view near_last = nearest_match(name.substr(name.find_last_of("/:") + 1), last);
    const auto at = std::find(last.begin(), last.end(), near_last);
    if (!near_last.empty()) near = whole[static_cast<size_t>(at - last.begin())];
  }
  if (!near.empty()) return fmt::format("did you mean {}?", near);
  if (there.empty()) return "no models there";
  const auto end = there.begin() + static_cast<ptrdiff_t>(std::min(there.size(), kMaxShown));
  return fmt::format("models there: {}{}", fmt::join(there.begin(), end, ", "),
                     there.size() > kMaxShown ? fmt::format(" and {} more", there.size() - kMaxShown) : "");
}

std::vector<std::string> names_of(const std::vector<FoundModel>& models) {
  std::vector<std::string> names;
  names.reserve(models.size());
  for (const FoundModel& model : models) names.push_back(model.name);
  return names;
}

std::vector<FoundModel> list_builtin(const ModelPlaces& places) {
  std::vector<FoundModel> models;
  for (const std::string& folder : places.builtin) {
    for (const std::string& name : names_of_builtin(folder)) {
      std::string whole = fmt::format("{}:{}", kBuiltin, name);
      const bool is_hidden =
          std::any_of(models.begin(), models.end(), [&](const auto& model) { return model.name == whole; });
      if (!is_hidden) models.push_back({std::move(whole), fmt::format("{}/{}", folder, name)});
    }
  }
  std::sort(models.begin(), models.end(), [](const FoundModel& a, const FoundModel& b) { return a.name < b.name; });
  return models;
}

std::string join_places(const std::vector<std::string>& folders) {
  return folders.empty() ? "nowhere" : fmt::format("{}", fmt::join(folders, ", "));
}

// `builtin` alone means the only model.
std::string find_builtin(const std::string& name, const ModelPlaces& places) {
  const std::vector<FoundModel> models = list_builtin(places);
  if (name == kBuiltin && models.size() == 1) return models.front().path;
  for (const FoundModel& model : models) {
    if (model.name == name) return model.path;
  }
  throw Error(ErrorCode::kFileNotFound, name,
              fmt::format("no such built-in model; looked in {}; {}", join_places(places.builtin),
                          describe_others(name == kBuiltin ? "" : name, names_of(models))));
}

[[noreturn]] void refuse_name(const std::string& name, const std::optional<HubName>& hub, const ModelPlaces& places) {
  std::string looked = fmt::format("the directory {}", name);
  if (hub && !places.hub_cache.empty()) looked += ", " + repository_folder(places.hub_cache, hub->repository);
  if (!hub) looked += fmt::format(" (not an ORG/NAME[@REVISION] in the hub cache {})", places.hub_cache);
  std::vector<std::string> there = names_of(list_builtin(places));
  for (const std::string& repository : list_repositories(places.hub_cache)) there.push_back(repository);
  throw Error(
      ErrorCode::kFileNotFound,
      {{.where = name,
        .message = fmt::format("no such model; looked for {}; {}", looked,
                               describe_others(hub ? hub->repository : name, there)),
        .argument = "model",
        .remedies = {
            {"nothing is downloaded: give a directory with {}, or download it with the hub's own client", "model"}}}});
}

// A hub cache holds models of all kinds.
bool is_deberta(const std::string& folder) {
  try {
    const Json document = load_python_json(transformer_folder(folder) + "/config.json", {}, JsonWarnings::kSilent);
    const Json* type = document.find("model_type");
    return type != nullptr && type->is_string() && type->as_string().starts_with("deberta");
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

ModelEnvironment current_environment() {
  std::error_code none;  // on an error there is no program, and no place beside it
  return {.data_dir = variable("DEBERTA_DATA_DIR"),
          .hf_hub_cache = variable("HF_HUB_CACHE"),
          .hf_home = variable("HF_HOME"),
          .xdg_cache_home = variable("XDG_CACHE_HOME"),
          .home = variable("HOME"),
          .program = fs::read_symlink("/proc/self/exe", none).string()};
}

ModelPlaces find_places(const ModelEnvironment& e) {
  ModelPlaces places;
  if (!e.data_dir.empty()) {
    places.builtin = {e.data_dir + "/models"};
  } else if (!e.program.empty()) {
    const fs::path folder = fs::path(e.program).parent_path();
    places.builtin = {(folder.parent_path() / "share/deberta/models").string()};
    // Where the program was built: SOURCE/build/PRESET/deberta.
    if (folder.parent_path().filename() == "build")
      places.builtin.push_back((folder.parent_path().parent_path() / "models").string());
  }
  places.hub_cache = !e.hf_hub_cache.empty()     ? e.hf_hub_cache
                     : !e.hf_home.empty()        ? e.hf_home + "/hub"
                     : !e.xdg_cache_home.empty() ? e.xdg_cache_home + "/huggingface/hub"
                     : !e.home.empty()           ? e.home + "/.cache/huggingface/hub"
                                                 : "";
  return places;
}

std::string find_model(const std::string& name, const ModelPlaces& places) {
  if (is_path(name) || is_directory(name)) {
    check_model_directory(name);
    return name;
  }
  if (name == kBuiltin || name.starts_with(fmt::format("{}:", kBuiltin))) return find_builtin(name, places);
  const std::optional<HubName> hub = parse_hub_name(name);
  if (hub && !places.hub_cache.empty() && is_directory(repository_folder(places.hub_cache, hub->repository)))
    return find_snapshot(places.hub_cache, *hub);
  if (is_regular_file(name)) check_model_directory(name);  // a file is not a name: say so
  refuse_name(name, hub, places);
}

std::vector<FoundModel> list_models(const ModelPlaces& places) {
  std::vector<FoundModel> models = list_builtin(places);
  for (const std::string& repository : list_repositories(places.hub_cache)) {
    try {
      std::string path = find_snapshot(places.hub_cache, {.repository = repository});
      if (is_deberta(path)) models.push_back({repository, std::move(path)});
    } catch (const Error&) {
      // Half fetched, or not readable for this user: it was not requested by name, so it is not listed.
    }
  }
  return models;
}

}  // namespace deberta
