// The files of a staged folder, hashed as they are written: its manifest records what was meant to be written.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/folder.h"
#include "checkpoint/manifest.h"

namespace deberta {

class ManifestWriter {
 public:
  // `on_bytes` is called for each piece written; it may throw to stop.
  explicit ManifestWriter(
      StagedFolder& folder, std::function<void(uint64_t bytes)> on_bytes = [](uint64_t) {})
      : folder_(folder), on_bytes_(std::move(on_bytes)) {}

  const std::string& path() const { return folder_.path(); }
  // Throw kFileWrite. `name` may lead into folders: "trainer/state.json".
  void add(const std::string& name, const std::function<void(FileWriter&)>& fill);
  void add_text(const std::string& name, std::string_view text);
  void finish();  // the manifest, last

  const std::vector<ManifestFile>& written() const { return written_; }

 private:
  StagedFolder& folder_;
  std::function<void(uint64_t)> on_bytes_;
  std::vector<ManifestFile> written_;
};

}  // namespace deberta
