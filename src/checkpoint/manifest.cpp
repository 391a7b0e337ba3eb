// {"format": 1, "files": {NAME: {"bytes": N, "sha256": HEX}}}, exactly.
#include "checkpoint/manifest.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/file.h"
#include "base/file_names.h"
#include "base/folder.h"
#include "base/format_version.h"
#include "base/json.h"
#include "base/sha256.h"

namespace deberta {
namespace {

constexpr int64_t kFormat = 1;
constexpr size_t kMaxFiles = 2000;
constexpr JsonLimits kLimits{.max_bytes = size_t{1} << 20, .max_depth = 4, .max_nodes = 4 * kMaxFiles};
constexpr size_t kDigestDigits = 64;
constexpr size_t kHashedBytes = size_t{1} << 22;

[[noreturn]] void refuse_manifest(const std::string& where, const std::string& message) {
  throw Error(ErrorCode::kManifest, where, message);
}

bool is_digest(const Json& value) {
  return value.is_string() && value.as_string().size() == kDigestDigits &&
         value.as_string().find_first_not_of("0123456789abcdef") == std::string::npos;
}

ManifestFile read_entry(const std::string& name, const Json& value, const std::string& where) {
  if (!is_relative_file_name(name) || name == kManifestName)
    refuse_manifest(
        where, fmt::format("files: expected the name of a file in the folder, got {}", quote_json(name.substr(0, 80))));
  const Json* bytes = value.find("bytes");
  const Json* digest = value.find("sha256");
  if (bytes == nullptr || digest == nullptr || value.as_object().size() != 2)
    refuse_manifest(where, fmt::format("{}: expected exactly the keys bytes and sha256", quote_json(name)));
  if (!bytes->is_integer() || bytes->as_integer() < 0)
    refuse_manifest(where,
                    fmt::format("{}: bytes: expected an integer >= 0, got {}", quote_json(name), bytes->describe()));
  if (!is_digest(*digest))
    refuse_manifest(where, fmt::format("{}: sha256: expected {} hexadecimal digits in lower case, got {}",
                                       quote_json(name), kDigestDigits, digest->describe()));
  return {name, static_cast<uint64_t>(bytes->as_integer()), digest->as_string()};
}

std::string digest_of(Bytes bytes, const std::function<void(uint64_t)>& on_bytes) {
  Sha256 hash;
  for (size_t at = 0; at < bytes.size(); at += kHashedBytes) {
    const Bytes piece = bytes.subspan(at, std::min(kHashedBytes, bytes.size() - at));
    hash.update(piece);
    on_bytes(piece.size());
  }
  return hash.finish();
}

void verify_file(const std::string& folder, const ManifestFile& expected, const std::function<void(uint64_t)>& on_bytes,
                 std::vector<Problem>& errors) {
  const std::string path = fmt::format("{}/{}", folder, expected.name);
  try {
    const MappedFile file(path);
    if (file.bytes().size() != expected.bytes) {
      errors.push_back({path, fmt::format("expected {} bytes as in {}, got {}", expected.bytes, kManifestName,
                                          file.bytes().size())});
    } else if (digest_of(file.bytes(), on_bytes) != expected.sha256) {
      errors.push_back({path, fmt::format("expected the content that {} names, got another SHA-256", kManifestName)});
    }
  } catch (const Error& error) {
    for (const Problem& problem : error.problems())
      errors.push_back({problem.where, fmt::format("{}; {} lists it", problem.message, kManifestName)});
  }
}

// The files at `subfolder` in the folder ("" or "trainer/") that are not in the manifest.
void find_unlisted(const std::string& folder, const std::string& subfolder, const std::vector<ManifestFile>& files,
                   std::vector<std::string>& unlisted) {
  const auto any = [&](const auto& is_it) { return std::any_of(files.begin(), files.end(), is_it); };
  for (const std::string& listed : names_in(fmt::format("{}/{}", folder, subfolder))) {
    const std::string name = subfolder + listed;
    if (name == kManifestName || any([&](const ManifestFile& file) { return file.name == name; })) continue;
    if (any([&](const ManifestFile& file) { return file.name.starts_with(name + "/"); })) {
      find_unlisted(folder, name + "/", files, unlisted);
    } else {
      unlisted.push_back(name);
    }
  }
}

// One for all of them: a trainer leaves a dozen files beside its model.
Problem problem_of(const std::string& folder, const std::vector<std::string>& unlisted) {
  return {folder, fmt::format("not in {}: {}", kManifestName, fmt::join(unlisted, ", "))};
}

}  // namespace

std::string manifest_text(const std::vector<ManifestFile>& files) {
  JsonObject entries;
  for (const ManifestFile& file : files)
    entries.emplace_back(file.name, JsonObject{{"bytes", file.bytes}, {"sha256", file.sha256}});
  return Json(JsonObject{{"format", kFormat}, {"files", std::move(entries)}}).dump(2) + "\n";
}

std::vector<ManifestFile> parse_manifest(std::string_view text, const std::string& where) {
  const Json document = parse_json(text, where, kLimits);
  const Json* format = document.find("format");
  const Json* entries = document.find("files");
  if (format != nullptr && format->is_integer()) check_format_version(format->as_integer(), kFormat, where);
  if (format == nullptr || entries == nullptr || !entries->is_object() || document.as_object().size() != 2)
    refuse_manifest(where, "expected exactly the keys format and files");
  if (!format->is_integer() || format->as_integer() != kFormat)
    refuse_manifest(where, fmt::format("format: expected {}, got {}", kFormat, format->describe()));
  if (entries->as_object().size() > kMaxFiles)
    refuse_manifest(where, fmt::format("files: expected at most {}, got {}", kMaxFiles, entries->as_object().size()));
  std::vector<ManifestFile> files;
  for (const auto& [name, value] : entries->as_object()) files.push_back(read_entry(name, value, where));
  return files;
}

ManifestReport verify_manifest(const std::string& folder, const std::function<void(uint64_t)>& on_bytes) {
  const std::string path = fmt::format("{}/{}", folder, kManifestName);
  const std::vector<ManifestFile> files = parse_manifest(read_file(path, kLimits.max_bytes), path);
  ManifestReport report;
  for (const ManifestFile& file : files) verify_file(folder, file, on_bytes, report.errors);
  std::vector<std::string> unlisted;
  find_unlisted(folder, "", files, unlisted);
  if (!unlisted.empty()) report.warnings.push_back(problem_of(folder, unlisted));
  return report;
}

}  // namespace deberta
