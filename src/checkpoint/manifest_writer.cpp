// Each file is hashed on its way to the disk, so that the manifest never depends on reading it back.
#include "checkpoint/manifest_writer.h"

#include <utility>

#include "base/sha256.h"

namespace deberta {
namespace {

class HashingWriter final : public FileWriter {
 public:
  HashingWriter(FileWriter& file, const std::function<void(uint64_t)>& on_bytes) : file_(file), on_bytes_(on_bytes) {}
  void write(Bytes bytes) override {
    hash_.update(bytes);
    count_ += bytes.size();
    file_.write(bytes);
    on_bytes_(bytes.size());
  }
  ManifestFile finish(std::string name) { return {std::move(name), count_, hash_.finish()}; }

 private:
  FileWriter& file_;
  const std::function<void(uint64_t)>& on_bytes_;
  Sha256 hash_;
  uint64_t count_ = 0;
};

}  // namespace

void ManifestWriter::add(const std::string& name, const std::function<void(FileWriter&)>& fill) {
  folder_.write_file(name, [&](FileWriter& file) {
    HashingWriter hashed(file, on_bytes_);
    fill(hashed);
    written_.push_back(hashed.finish(name));
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
