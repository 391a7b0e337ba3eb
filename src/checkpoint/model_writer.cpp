// Which files a model has, and what is in each.
#include "checkpoint/model_writer.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/descriptor.h"
#include "checkpoint/calibration.h"
#include "checkpoint/safetensors.h"
#include "config/extraction_config.h"
#include "deberta/error.h"

namespace deberta {
namespace {

constexpr size_t kMaxShards = 1000;
constexpr uint64_t kMaxCopiedJson = uint64_t{1} << 26;
constexpr std::array<std::string_view, 8> kCopied = {"spm.model", "spiece.model", "merges.txt", "bpe_encoder.bin",
                                                     "vocab.txt", "README.md",    "LICENSE",    "LICENSE.txt"};
constexpr std::array<std::string_view, 5> kTokenizerJson = {"tokenizer.json", "tokenizer_config.json", "vocab.json",
                                                            "special_tokens_map.json", "added_tokens.json"};
// Written here, or by WriteOptions::add_more. Weight files that are not read are left out like any other.
constexpr std::array<std::string_view, 6> kOwn = {
    "config.json", kExtractionFile, "model.safetensors.index.json", "pytorch_model.bin.index.json",
    kManifestName, kCalibrationName};

using Shard = std::vector<const PlannedTensor*>;

// In order, as many tensors in each as fit; a tensor larger than a shard has one of its own.
std::vector<Shard> make_shards(const Conversion& conversion, uint64_t shard_bytes) {
  std::vector<Shard> shards(1);
  uint64_t size_bytes = 0;
  for (const PlannedTensor& tensor : conversion.tensors) {
    if (!shards.back().empty() && size_bytes + tensor.size_bytes() > shard_bytes) {
      shards.emplace_back();
      size_bytes = 0;
    }
    shards.back().push_back(&tensor);
    size_bytes += tensor.size_bytes();
  }
  return shards;
}

void write_weights(ManifestWriter& files, const std::string& name, const Shard& shard) {
  std::vector<TensorToWrite> tensors;
  for (const PlannedTensor* tensor : shard)
    tensors.push_back({tensor->name, tensor->dtype, tensor->shape, [tensor](FileWriter& out) { tensor->write(out); }});
  // transformers refuses a file without this entry.
  files.add(name, [&](FileWriter& file) {
    write_safetensors(file, fmt::format("{}/{}", files.path(), name), tensors, {{"format", "pt"}});
  });
}

void write_shards(ManifestWriter& files, const std::string& subfolder, const Conversion& conversion,
                  const std::vector<Shard>& shards) {
  if (shards.size() == 1) return write_weights(files, subfolder + "model.safetensors", shards.front());
  if (shards.size() > kMaxShards)
    throw Error(ErrorCode::kUnsupported, files.path(),
                fmt::format("expected at most {} shards, got {}; make them larger", kMaxShards, shards.size()));
  JsonObject weight_map;
  for (size_t i = 0; i < shards.size(); ++i) {
    const std::string name = fmt::format("model-{:05}-of-{:05}.safetensors", i + 1, shards.size());
    write_weights(files, subfolder + name, shards[i]);
    for (const PlannedTensor* tensor : shards[i]) weight_map.emplace_back(tensor->name, name);
  }
  const Json index(JsonObject{{"metadata", JsonObject{{"total_size", conversion.size_bytes()}}},
                              {"weight_map", std::move(weight_map)}});
  files.add_text(subfolder + "model.safetensors.index.json", index.dump(2) + "\n");
}

enum class Treatment { kReplace, kCopy, kLeaveOut };

Treatment treatment_of(const std::string& source, const std::string& name, const std::vector<std::string>& weights,
                       bool is_new_model) {
  const auto is_it = [&](std::string_view other) { return other == name; };
  if (std::any_of(kOwn.begin(), kOwn.end(), is_it) || std::any_of(weights.begin(), weights.end(), is_it))
    return Treatment::kReplace;
  struct stat status {};
  if (::stat(fmt::format("{}/{}", source, name).c_str(), &status) != 0 || !S_ISREG(status.st_mode))
    return Treatment::kLeaveOut;
  if (std::any_of(kCopied.begin(), kCopied.end(), is_it)) return Treatment::kCopy;
  const bool is_small_json = name.ends_with(".json") && static_cast<uint64_t>(status.st_size) <= kMaxCopiedJson;
  const bool is_wanted = !is_new_model || std::any_of(kTokenizerJson.begin(), kTokenizerJson.end(), is_it);
  return is_small_json && is_wanted ? Treatment::kCopy : Treatment::kLeaveOut;
}

std::vector<std::string> copy_others(ManifestWriter& files, const ModelFilesOptions& options, const std::string& source,
                                     const std::vector<std::string>& weights) {
  std::vector<std::string> copied, left_out;
  const auto names = read_names(source);
  if (!names) throw Error(ErrorCode::kFileRead, source, system_message());
  for (const std::string& name : *names) {
    const Treatment treatment = treatment_of(source, name, weights, options.is_new_model);
    if (treatment == Treatment::kReplace) continue;
    const bool is_unwanted =
        std::find(options.leaves_out.begin(), options.leaves_out.end(), name) != options.leaves_out.end();
    (treatment == Treatment::kCopy && !is_unwanted ? copied : left_out).push_back(name);
  }
  for (const std::string& name : copied) {
    const MappedFile file(fmt::format("{}/{}", source, name));
    files.add(options.subfolder + name, [&](FileWriter& out) { out.write(file.bytes()); });
  }
  return left_out;
}

}  // namespace

std::vector<Change> write_model_files(ManifestWriter& files, const Conversion& conversion, const std::string& source,
                                      const ModelFilesOptions& options) {
  const std::string& subfolder = options.subfolder;
  files.add_text(subfolder + conversion.config_file, conversion.config.dump(2, JsonForm::kPython) + "\n");
  std::vector<Change> left_out;
  for (const std::string& name : copy_others(files, options, source, conversion.source_files))
    left_out.push_back({name, "left out", "neither weights nor a tokenizer file"});
  write_shards(files, subfolder, conversion, make_shards(conversion, options.shard_bytes));
  return left_out;
}

WrittenModel write_model(StagedFolder& folder, const Conversion& conversion, const std::string& source,
                         const WriteOptions& options) {
  ManifestWriter files(folder, options.on_bytes);
  WrittenModel model;
  model.left_out = write_model_files(files, conversion, source,
                                     {.shard_bytes = options.shard_bytes, .leaves_out = options.leaves_out});
  options.add_more(
      [&](const std::string& name, const std::function<void(FileWriter&)>& fill) { files.add(name, fill); });
  files.finish();
  for (const ManifestFile& file : files.written()) {
    model.files.push_back(file.name);
    model.size_bytes += file.bytes;
  }
  return model;
}

}  // namespace deberta
