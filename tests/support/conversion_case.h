// A tiny model of version 1 or 2 on disk, and one call from a model folder to a converted one.
#pragma once
#include <string>

#include "checkpoint/model_writer.h"
#include "support/paths.h"
#include "support/tiny_model.h"

namespace deberta::test {

inline ModelConfig tiny_v1_config() {
  ModelConfig c = tiny_config();
  make_version_1(c);
  return c;
}

// A version 2 configuration that version 1 can express; the key biases must still be zero.
inline ModelConfig tiny_unshared_config() {
  ModelConfig c = tiny_v1_config();
  c.layout = Layout::kV2;
  return c;
}

inline std::vector<Change> convert(const std::string& from, const std::string& to,
                                   const ConversionOptions& options = {}, uint64_t shard_bytes = 1000000000) {
  const Checkpoint checkpoint = Checkpoint::open(from);
  const Conversion conversion = plan_conversion(checkpoint, load_model_config(from + "/config.json"), options, from);
  StagedFolder folder(to);
  WriteOptions write_options;
  write_options.shard_bytes = shard_bytes;
  const WrittenModel written = write_model(folder, conversion, from, write_options);
  verify_tensors(conversion, Checkpoint::open(folder.path()), folder.path());
  folder.publish();
  std::vector<Change> changes = conversion.changes;
  changes.insert(changes.end(), written.left_out.begin(), written.left_out.end());
  return changes;
}

}  // namespace deberta::test
