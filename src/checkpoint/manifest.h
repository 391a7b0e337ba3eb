// deberta.manifest.json: size and SHA-256 of every file of a model directory or of a checkpoint of training, written
// last. It proves that the files are as they were written, not who wrote them.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "deberta/error.h"

namespace deberta {

constexpr std::string_view kManifestName = "deberta.manifest.json";

struct ManifestFile {
  std::string name;  // "config.json", "trainer/state.json"
  uint64_t bytes = 0;
  std::string sha256;
};

std::string manifest_text(const std::vector<ManifestFile>& files);

// Throws kManifest, kJson, kTooLarge.
std::vector<ManifestFile> parse_manifest(std::string_view text, const std::string& where);

// What differs: a file that is missing, of another size or content (errors), or not named (warnings; of a folder
// without any file that is named, the folder). `on_bytes` is called for each piece read. Throws like parse_manifest
// when the manifest itself is wrong.
struct ManifestReport {
  std::vector<Problem> errors;
  std::vector<Problem> warnings;
};
ManifestReport verify_manifest(const std::string& folder, const std::function<void(uint64_t)>& on_bytes);

}  // namespace deberta
