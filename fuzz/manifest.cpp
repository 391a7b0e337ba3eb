// deberta.manifest.json: names stay inside the folder, and what is written back says the same.
#include "checkpoint/manifest.h"

#include "fuzz.h"

namespace deberta::fuzz {

void run(Bytes input) {
  const std::vector<ManifestFile> files = parse_manifest(to_text(input), "in");
  const std::vector<ManifestFile> again = parse_manifest(manifest_text(files), "again");
  FUZZ_REQUIRE(files.size() == again.size());
  for (size_t i = 0; i < files.size(); ++i) {
    FUZZ_REQUIRE(files[i].name.find('/') == std::string::npos && files[i].name != "..");
    FUZZ_REQUIRE(files[i].name == again[i].name && files[i].bytes == again[i].bytes);
    FUZZ_REQUIRE(files[i].sha256 == again[i].sha256);
  }
}

}  // namespace deberta::fuzz
