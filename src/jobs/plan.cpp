// Names of outputs, and which of them may be written.
#include "jobs/plan.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/file.h"
#include "base/file_id.h"
#include "base/folder.h"
#include "data/decompressor.h"
#include "data/row_form.h"
#include "deberta/error.h"
#include "jobs/leftovers.h"

namespace deberta::jobs {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& where, std::string message) {
  throw Error(ErrorCode::kUsage, where, std::move(message));
}

std::string output_name(const std::string& input, std::string_view ending) {
  std::string name(without_compression_ending(fs::path(input).filename().string()));
  const size_t dot = name.rfind('.');
  if (dot != 0 && dot != name.npos && (form_of_ending(name) || has_parquet_ending(name))) name.resize(dot);
  return fmt::format("{}.{}", name, ending);
}

bool are_different(const std::vector<JobFile>& files) {
  std::set<std::string_view> names;
  return std::ranges::all_of(files, [&](const JobFile& file) { return names.insert(file.name).second; });
}

using Folders = std::vector<std::string>;

Folders folders_of(const std::string& input) {
  Folders folders;
  for (const fs::path& part : fs::absolute(input).lexically_normal().parent_path()) folders.push_back(part.string());
  return folders;
}

// Puts the folders of each input before its name, without those that all of them have.
void keep_folders(std::vector<JobFile>& files) {
  std::vector<Folders> all;
  for (const JobFile& file : files) all.push_back(folders_of(file.input));
  size_t shared = all.front().size();
  for (const Folders& folders : all) {
    const auto end = std::ranges::mismatch(all.front(), folders).in1 - all.front().begin();
    shared = std::min(shared, static_cast<size_t>(end));
  }
  for (size_t i = 0; i < files.size(); ++i) {
    const Folders below(all[i].begin() + static_cast<ptrdiff_t>(shared), all[i].end());
    if (!below.empty()) files[i].name = fmt::format("{}/{}", fmt::join(below, "/"), files[i].name);
  }
}

void check_different(const std::vector<JobFile>& files) {
  std::map<std::string_view, const JobFile*> first;
  for (const JobFile& file : files) {
    const auto [entry, is_new] = first.emplace(file.name, &file);
    if (!is_new)
      refuse(file.input, fmt::format("expected answers in a file of their own, got {}, where those of {} go; answer "
                                     "one of them into another folder",
                                     file.name, entry->second->input));
  }
}

// The temporary file and the records of an output have longer names than itself, and their folder has one too.
void check_name(const JobFile& file) {
  constexpr size_t kMostBytes = 180;
  if (file.name.starts_with(fmt::format("{}/", kRecordsFolder)))
    refuse(file.input, fmt::format("expected a file of another folder, got one whose answers would lie among the "
                                   "records in {}",
                                   kRecordsFolder));
  const std::string name = file.name.substr(file.name.rfind('/') + 1);
  if (name.size() > kMostBytes)
    refuse(file.input, fmt::format("expected a name of at most {} bytes for its answers, got {}", kMostBytes, name));
}

std::optional<struct stat> status_of(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? std::optional(status) : std::nullopt;
}

// Sets the sizes on the way.
std::set<FileId> ids_of_inputs(std::vector<JobFile>& files) {
  std::set<FileId> ids;
  for (JobFile& file : files) {
    const auto status = status_of(file.input);
    if (!status) continue;
    if (!S_ISREG(status->st_mode)) refuse(file.input, "expected a file, got a folder, a pipe or a device");
    file.bytes = static_cast<uint64_t>(status->st_size);
    ids.insert(id_of(*status));
  }
  return ids;
}

void check_keeps_inputs(std::vector<JobFile>& files, const std::string& folder) {
  const std::set<FileId> inputs = ids_of_inputs(files);
  for (const JobFile& file : files) {
    const std::string output = fmt::format("{}/{}", folder, file.name);
    const auto status = status_of(output);
    if (status && inputs.contains(id_of(*status)))
      refuse(output, "expected a file that is not also an input, got one of them; choose another folder");
  }
}

bool is_pattern(const std::string& word) {
  return word.find_first_of("*?[") != std::string::npos;
}

}  // namespace

std::vector<std::string> find_inputs(const std::vector<std::string>& words) {
  std::vector<std::string> inputs;
  for (const std::string& word : words) {
    if (is_directory(word))
      refuse(word, fmt::format("expected a file or a pattern, got a folder; \"{}/*\" names the files in it", word));
    if (is_regular_file(word) || !is_pattern(word)) {
      inputs.push_back(word);
      continue;
    }
    std::vector<std::string> files = files_of_pattern(word);
    if (files.empty()) refuse(word, "expected a pattern that names files, got one that names none");
    std::ranges::move(files, std::back_inserter(inputs));
  }
  return inputs;
}

std::vector<JobFile> plan_files(const std::vector<std::string>& inputs, const std::string& folder,
                                std::string_view ending) {
  std::vector<JobFile> files;
  std::set<std::string> seen;
  for (const std::string& input : inputs) {
    if (seen.insert(fs::path(input).lexically_normal().string()).second)
      files.push_back({input, output_name(input, ending)});
  }
  if (files.empty()) return files;
  if (!are_different(files)) keep_folders(files);
  check_different(files);
  for (const JobFile& file : files) check_name(file);
  check_keeps_inputs(files, folder);
  return files;
}

}  // namespace deberta::jobs
