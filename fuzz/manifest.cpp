// deberta.manifest.json: names stay inside the folder, and what is written back says the same.
#include "checkpoint/manifest.h"

#include <filesystem>

#include "fuzz.h"

namespace deberta::fuzz {
namespace {

// Judged as the file system would read it, not by the parser's own rule.
bool stays_inside(const std::string& name) {
  const std::filesystem::path path = std::filesystem::path(name).lexically_normal();
  return path.is_relative() && !path.empty() && *path.begin() != ".." && path != "." && path.has_filename();
}

}  // namespace

void run(Bytes input) {
  const std::vector<ManifestFile> files = parse_manifest(to_text(input), "in");
  const std::vector<ManifestFile> again = parse_manifest(manifest_text(files), "again");
  FUZZ_REQUIRE(files.size() == again.size());
  for (size_t i = 0; i < files.size(); ++i) {
    FUZZ_REQUIRE(stays_inside(files[i].name));
    FUZZ_REQUIRE(files[i].name == again[i].name && files[i].bytes == again[i].bytes);
    FUZZ_REQUIRE(files[i].sha256 == again[i].sha256);
  }
}

}  // namespace deberta::fuzz
