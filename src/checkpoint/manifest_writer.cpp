// Each file is hashed on its way to the disk, so that the manifest never depends on reading it back.
#include "checkpoint/manifest_writer.h"

#include "base/hashing_writer.h"

namespace deberta {

void ManifestWriter::add(const std::string& name, const std::function<void(FileWriter&)>& fill) {
  folder_.write_file(name, [&](FileWriter& file) {
    HashingWriter hashed(file, on_bytes_);
    fill(hashed);
    written_.push_back({name, hashed.size(), hashed.finish()});
  });
}

void ManifestWriter::add_text(const std::string& name, std::string_view text) {
  add(name, [&](FileWriter& file) { file.write(to_bytes(text)); });
}

void ManifestWriter::finish() {
  folder_.write_file(std::string(kManifestName),
                     [&](FileWriter& file) { file.write(to_bytes(manifest_text(written_))); });
}

}  // namespace deberta
