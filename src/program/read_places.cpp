// The table of options says which of them name files, and which of those are outputs.
#include "program/read_places.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

#include "base/file.h"
#include "base/file_id.h"
#include "base/folder.h"
#include "checkpoint/folder_kind.h"
#include "checkpoint/manifest.h"
#include "deberta/error.h"
#include "eval/results.h"
#include "program/builtin_model.h"
#include "program/model_options.h"
#include "program/output.h"

namespace deberta::program {
namespace {

namespace fs = std::filesystem;

std::optional<struct stat> status_of(const std::string& path, int descriptor) {
  struct stat status {};
  const bool is_found =
      path == "-" ? ::fstat(descriptor, &status) == 0 : !path.empty() && ::stat(path.c_str(), &status) == 0;
  return is_found ? std::optional(status) : std::nullopt;
}

// What of a folder is read.
enum class Folder { kWhole, kModel, kResults };

struct ReadPlace {
  std::string option;  // "--input"; "FILE"; "standard input"
  std::string path;    // "-": standard input
  Folder folder = Folder::kWhole;
};

bool reads_name(Folder folder, const std::string& name) {
  if (folder == Folder::kWhole) return true;
  return folder == Folder::kModel ? is_file_of_model(name) : name == kResultsName;
}

// The files that a model's manifest lists, beside those that models are read from.
std::vector<std::string> listed_files(const std::string& folder) {
  const std::string path = fmt::format("{}/{}", folder, kManifestName);
  std::vector<std::string> files;
  try {
    constexpr uint64_t kMostBytes = 1 << 20;
    if (!is_regular_file(path)) return files;
    for (const ManifestFile& file : parse_manifest(read_file(path, kMostBytes), path))
      files.push_back(fmt::format("{}/{}", folder, file.name));
  } catch (const Error&) {  // the verb reports it
  }
  return files;
}

// What a model is opened by: its folder, what its manifest lists, and of the hub's cache what names the folder.
void add_folder_of_model(const std::string& option, const std::string& folder, std::vector<ReadPlace>& places) {
  places.push_back({option, folder, Folder::kModel});
  for (std::string& file : listed_files(folder)) places.push_back({option, std::move(file), Folder::kModel});
  if (const size_t at = folder.rfind("/snapshots/"); at != std::string::npos)
    places.push_back({option, fmt::format("{}/refs", folder.substr(0, at))});
}

// Calls `visit` with the names and the files of a folder and of those in it, each folder once, and none that `seen`
// has.
void visit_files(const std::string& root, std::vector<FileId> seen,
                 const std::function<void(const std::string& name, const FileId&)>& visit) {
  std::vector<std::string> folders{root};
  while (!folders.empty()) {
    const std::string folder = std::move(folders.back());
    folders.pop_back();
    for (const std::string& name : names_in(folder)) {
      const std::string path = fmt::format("{}/{}", folder, name);
      struct stat status {};
      if (::stat(path.c_str(), &status) != 0) continue;
      if (S_ISREG(status.st_mode)) visit(name, id_of(status));
      if (!S_ISDIR(status.st_mode) || std::ranges::find(seen, id_of(status)) != seen.end()) continue;
      seen.push_back(id_of(status));
      folders.push_back(path);
    }
  }
}

bool is_read_from(const ReadPlace& source, const NamedOutput& output, const std::optional<FileId>& id) {
  const std::string name = output.path.substr(output.path.rfind('/') + 1);
  const bool is_own = !output.folder.empty();
  if (!is_own && output.path != "-" && reads_name(source.folder, name) && is_inside(output.path, source.path))
    return true;
  if (!id) return false;
  std::vector<FileId> passed;
  const auto own = is_own ? status_of(output.folder, -1) : std::nullopt, read = status_of(source.path, -1);
  if (own) passed.push_back(id_of(*own));
  if (own && read && id_of(*own) == id_of(*read)) return false;  // the run refuses a folder that is not its own
  bool is_found = false;
  visit_files(source.path, passed, [&](const std::string& other, const FileId& file) {
    is_found = is_found || (file == *id && reads_name(source.folder, other));
  });
  return is_found;
}

bool is_read(const ReadPlace& source, const NamedOutput& output) {
  const auto written = status_of(output.path, STDOUT_FILENO), read = status_of(source.path, STDIN_FILENO);
  if (!read) return false;
  const std::optional<FileId> id = written ? std::optional(id_of(*written)) : std::nullopt;
  if (S_ISDIR(read->st_mode)) return is_read_from(source, output, id);
  // A run refuses a folder of a model that is not its own.
  const bool is_of_run =
      !output.folder.empty() && source.folder == Folder::kModel && is_inside(source.path, output.folder);
  return !is_of_run && id == id_of(*read);
}

// ---- what the options name

// The folder of a model; empty for one that cannot be found, which its verb reports.
std::string folder_of_model(const std::string& name) {
  try {
    return find_model(name, find_places(current_environment()));
  } catch (const Error&) {
    return "";
  }
}

void add_models(const std::string& option, const std::string& name, std::vector<ReadPlace>& places) {
  if (!name.empty() && name != "builtin") {
    add_folder_of_model(option, folder_of_model(name), places);
    return;
  }
  for (const FoundModel& model : builtin_models()) add_folder_of_model(option, model.path, places);
}

void add_option(const Options& options, const OptionRow& row, std::vector<ReadPlace>& places) {
  const std::string option = fmt::format("--{}", row.name);
  if (row.name == "model" && row.type == OptionType::kText) return add_models(option, options.text(row), places);
  constexpr std::string_view kNamedFolders = "[NAME[,ALIAS...]=]DIR";
  const bool is_folder = row.range == "DIR" || row.range == kNamedFolders;
  if (row.section == kOutputSection || !(is_folder || row.range == "FILE")) return;
  const std::vector<std::string> paths =
      row.type == OptionType::kFiles ? options.files(row) : std::vector{options.text(row)};
  for (const std::string& path : paths) {
    if (path.empty()) continue;
    if (row.range == kNamedFolders)
      add_folder_of_model(option, folder_of_model(parse_named_folder(path).folder), places);
    else if (row.name == "average")
      places.push_back({option, path, Folder::kResults});
    else if (is_folder)
      add_folder_of_model(option, folder_of_model(path), places);
    else
      places.push_back({option, path});
  }
}

std::vector<ReadPlace> places_read(const Options& options) {
  std::vector<ReadPlace> places{{"standard input", "-"}};
  for (const OptionRow* row : options_of(options.verb())) add_option(options, *row, places);
  const std::string_view words = find_verb(options.verb())->arguments;
  const bool are_files = words.find("FILE") != std::string_view::npos || words.ends_with(".json");
  for (const std::string& argument : options.arguments) {
    if (are_files) places.push_back({options.verb(), argument});
  }
  return places;
}

}  // namespace

namespace {

// Where a file would be made: links are followed, also one that leads to nothing yet.
fs::path place_of_new(const std::string& path) {
  constexpr int kMostLinks = 40;
  std::error_code error;
  fs::path target = fs::absolute(path, error);
  for (int links = 0; links < kMostLinks && fs::is_symlink(target, error); ++links)
    target = target.parent_path() / fs::read_symlink(target, error);  // an absolute target stands alone
  return fs::weakly_canonical(target, error);
}

}  // namespace

bool is_same_file(const std::string& a, const std::string& b) {
  if (a == "-" && b == "-") return true;
  const auto first = status_of(a, STDOUT_FILENO), second = status_of(b, STDOUT_FILENO);
  if (first && second) return id_of(*first) == id_of(*second) && S_ISREG(first->st_mode);
  return !first && !second && place_of_new(a) == place_of_new(b);
}

void check_keeps_inputs(const Options& options, std::vector<NamedOutput> outputs) {
  std::erase_if(outputs, [](const NamedOutput& output) {
    const auto status = status_of(output.path, STDOUT_FILENO);
    return status && !S_ISREG(status->st_mode);
  });
  if (outputs.empty()) return;
  const std::vector<ReadPlace> places = places_read(options);
  for (const NamedOutput& output : outputs) {
    const auto entry =
        std::ranges::find_if(places, [&](const ReadPlace& candidate) { return is_read(candidate, output); });
    if (entry == places.end()) continue;
    const std::string what = entry->folder == Folder::kModel ? fmt::format("a file of the model {}", entry->path)
                             : entry->path == "-"            ? "the file on standard input"
                                                             : fmt::format("{} {}", entry->option, entry->path);
    throw Error(
        ErrorCode::kUsage, output.option,
        fmt::format("expected a file that is not also an input, got {}, which would overwrite {}; choose another name",
                    output.path == "-" ? "the file on standard output" : output.path, what));
  }
}

}  // namespace deberta::program
