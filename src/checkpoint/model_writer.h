// Writes a complete model directory into a folder that does not have its final name yet: its configuration, the
// weights in one file or in shards, the other files of the source byte for byte, and the manifest last.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/folder.h"
#include "checkpoint/conversion.h"
#include "checkpoint/manifest_writer.h"

namespace deberta {

// Adds a file to the model.
using AddFile = std::function<void(const std::string& name, const std::function<void(FileWriter&)>& fill)>;

constexpr uint64_t kShardBytes = 5000000000;

struct ModelFilesOptions {
  std::string subfolder = {};  // where in the folder: "" or "generator/"
  uint64_t shard_bytes = kShardBytes;
  std::vector<std::string> leaves_out = {};  // names of files that would be copied, but speak of another model
  bool is_new_model = false;                 // copies only the tokenizer's JSON files from the source
};

// The model's files among others of a folder whose manifest is still open. Returns the files of the source that are not
// copied. Throws like write_model.
std::vector<Change> write_model_files(ManifestWriter& files, const Conversion& conversion, const std::string& source,
                                      const ModelFilesOptions& options);

struct WriteOptions {
  uint64_t shard_bytes = kShardBytes;
  std::vector<std::string> leaves_out = {};                        // ModelFilesOptions
  std::function<void(uint64_t bytes)> on_bytes = [](uint64_t) {};  // called for each piece written; may throw to stop
  // Called when the model in the folder is complete except for the manifest, and can be opened.
  std::function<void(const AddFile& add)> add_more = [](const AddFile&) {};
};

struct WrittenModel {
  std::vector<std::string> files;
  uint64_t size_bytes = 0;
  std::vector<Change> left_out;  // files of the source that are not copied
};

// Copied from `source`: the tokenizer's files, other JSON files, and texts (README.md). Throws kFileWrite and what
// writing and reading throws, kUnsupported (more shards than can be read).
WrittenModel write_model(StagedFolder& folder, const Conversion& conversion, const std::string& source,
                         const WriteOptions& options);

}  // namespace deberta
