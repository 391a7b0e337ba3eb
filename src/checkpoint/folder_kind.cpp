// The table of kinds, and the few that are recognised by the contents of a file.
#include "checkpoint/folder_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include "base/checked.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/json.h"
#include "checkpoint/manifest.h"
#include "config/extraction_config.h"
#include "deberta/error.h"

namespace deberta {
namespace {

constexpr std::string_view kConfig = "config.json";
constexpr std::string_view kAdapter = "adapter_config.json";
constexpr const char* kFetchOther =
    "download the transformers files (config.json, model.safetensors or pytorch_model.bin)";
constexpr size_t kMaxNames = 2000;
constexpr size_t kMaxShown = 5;

enum class When {
  kNoConfig,   // there is no config.json
  kNoWeights,  // there is no weight file that is read here
};

struct KindRow {
  std::string_view mark;  // a name in the folder, with one * for any characters
  When when;
  std::string_view kind;
  std::string_view remedy;
  std::string_view argument = {};  // argument of the remedy; its value is the folder
};
// The first row whose mark is found says what the folder is.
constexpr std::array kKinds = {
    KindRow{"model_index.json", When::kNoConfig, "a diffusers pipeline", "give the folder of a DeBERTa model"},
    KindRow{"config.cfg", When::kNoConfig, "a spaCy pipeline", "give the folder of the transformers model in it"},
    KindRow{"task.json", When::kNoWeights, "a Keras preset (keras_hub)", kFetchOther},
    KindRow{"*.weights.h5", When::kNoWeights, "a Keras model", kFetchOther},
    KindRow{"*.keras", When::kNoWeights, "a Keras model", kFetchOther},
    KindRow{"adapter_model.*", When::kNoWeights, "weights of a peft adapter without their adapter_config.json",
            "fetch that file too, and merge both", "adapter"},
    KindRow{"pytorch_adapter.bin", When::kNoWeights, "an adapter of the adapters library",
            "merge it into its model with that library and save the result"},
    KindRow{"tf_model.h5", When::kNoWeights, "a TensorFlow model", kFetchOther},
    KindRow{"saved_model.pb", When::kNoWeights, "a TensorFlow model", kFetchOther},
    KindRow{"*.ckpt.index", When::kNoWeights, "a TensorFlow model", kFetchOther},
    KindRow{"flax_model.msgpack", When::kNoWeights, "a Flax model", kFetchOther},
    KindRow{"openvino_model.xml", When::kNoWeights, "an OpenVINO model", kFetchOther},
    KindRow{"*.gguf", When::kNoWeights, "a GGUF model", kFetchOther},
    KindRow{"rust_model.ot", When::kNoWeights, "a rust-bert model", kFetchOther},
    KindRow{"*.mlmodel", When::kNoWeights, "a Core ML model", kFetchOther},
    KindRow{"*.mlpackage", When::kNoWeights, "a Core ML model", kFetchOther},
    KindRow{"*.tflite", When::kNoWeights, "a TensorFlow Lite model", kFetchOther},
    KindRow{"*.onnx", When::kNoWeights, "an ONNX model", kFetchOther},
    KindRow{"onnx", When::kNoWeights, "an ONNX model", kFetchOther},
    KindRow{"zero_to_fp32.py", When::kNoWeights, "the state of a DeepSpeed training run",
            "run its zero_to_fp32.py, which writes pytorch_model.bin"},
    KindRow{"optimizer.pt", When::kNoWeights, "the state of a training run without the weights",
            "download model.safetensors or pytorch_model.bin of the same checkpoint"},
    KindRow{"optimizer.bin", When::kNoWeights, "the state of a training run without the weights",
            "download model.safetensors or pytorch_model.bin of the same checkpoint"},
    KindRow{"trainer_state.json", When::kNoWeights, "the state of a training run without the weights",
            "download model.safetensors or pytorch_model.bin of the same checkpoint"},
};

constexpr std::array<std::string_view, 4> kWeights = {"model.safetensors", "model.safetensors.index.json",
                                                      "pytorch_model.bin", "pytorch_model.bin.index.json"};
// With a tokenizer.json the others are not needed.
constexpr std::array<std::string_view, 7> kVocabularies = {
    "spm.model", "spiece.model", "bpe_encoder.bin", "vocab.json", "merges.txt", "vocab.txt", "tokenizer.json"};

[[noreturn]] void refuse_kind(const std::string& folder, std::string_view kind, Remedy remedy) {
  throw Error(ErrorCode::kFolder, {{.where = folder,
                                    .message = fmt::format("expected a DeBERTa model, got {}", kind),
                                    .remedies = {std::move(remedy)}}});
}

bool matches(std::string_view pattern, std::string_view name) {
  const size_t star = pattern.find('*');
  if (star == pattern.npos) return pattern == name;
  const std::string_view before = pattern.substr(0, star), after = pattern.substr(star + 1);
  return name.size() >= before.size() + after.size() && name.starts_with(before) && name.ends_with(after);
}

std::string first_bytes(const std::string& path, size_t count) {
  std::string bytes(count, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(bytes.data(), static_cast<std::streamsize>(count));
  bytes.resize(static_cast<size_t>(file.gcount()));
  return bytes;
}

std::string join_some(const std::vector<std::string>& names) {
  const auto end = names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kMaxShown));
  return fmt::format("{}{}", fmt::join(names.begin(), end, ", "),
                     names.size() > kMaxShown ? fmt::format(" and {} more", names.size() - kMaxShown) : "");
}

// The names in one folder.
class Listing {
 public:
  explicit Listing(const std::string& folder) : folder_(folder) {
    auto names = read_names(folder, kMaxNames);
    is_complete_ = names.has_value();
    if (names) names_ = std::move(*names);
  }
  bool has(std::string_view pattern) const { return !find(pattern).empty(); }
  std::vector<std::string> find(std::string_view pattern) const {
    std::vector<std::string> matching;
    for (const std::string& name : names_) {
      if (matches(pattern, name)) matching.push_back(name);
    }
    return matching;
  }
  bool is_empty() const { return names_.empty() && is_complete_; }
  bool has_weights() const {
    return std::any_of(kWeights.begin(), kWeights.end(), [&](std::string_view name) { return has(name); });
  }
  const std::vector<std::string>& names() const { return names_; }
  const std::string& folder() const { return folder_; }
  std::string path(std::string_view name) const { return fmt::format("{}/{}", folder_, name); }

 private:
  std::string folder_;
  std::vector<std::string> names_;
  bool is_complete_ = false;
};

// ---- recognized by the contents of a file

bool is_lfs_pointer(const std::string& path) {
  constexpr std::string_view kBegin = "version https://git-lfs.github.com/spec/";
  return is_regular_file(path) && first_bytes(path, kBegin.size()) == kBegin;
}

void check_pointers(const Listing& listing, const std::vector<std::string>& names) {
  std::vector<std::string> pointers;
  for (const std::string& name : names) {
    if (is_lfs_pointer(listing.path(name))) pointers.push_back(name);
  }
  if (pointers.empty()) return;
  throw Error(ErrorCode::kFolder, listing.folder(),
              fmt::format("expected the files themselves, got git-lfs pointers instead of {}; download {} with git "
                          "lfs pull",
                          join_some(pointers), pointers.size() == 1 ? "it" : "them"));
}

// Those that will be opened: the first form that is there, with its shards.
std::vector<std::string> names_of_weights(const Listing& listing) {
  for (size_t i = 0; i < kWeights.size(); ++i) {
    if (!listing.has(kWeights[i])) continue;
    std::vector<std::string> names = {std::string(kWeights[i])};
    if (i == 1) names = listing.find("model-*.safetensors");
    if (i == 3) names = listing.find("pytorch_model-*.bin");
    return names;
  }
  return {};
}

// What the file says, as far as it can be read: the next reader reports what is wrong with it.
std::optional<Json> read_object(const std::string& path) {
  if (!is_regular_file(path)) return std::nullopt;
  try {
    Json document = load_python_json(path, {}, JsonWarnings::kSilent);
    if (document.is_object()) return document;
  } catch (const Error&) {
  }
  return std::nullopt;
}

std::string text_of(const Json& document, std::string_view key) {
  const Json* value = document.find(key);
  return value != nullptr && value->is_string() ? value->as_string() : std::string();
}

void check_adapter(const Listing& listing) {
  const std::optional<Json> document = read_object(listing.path(kAdapter));
  if (!document) return;
  const std::string type = text_of(*document, "peft_type");
  if (type.empty())
    refuse_kind(listing.folder(), "an adapter of the adapters library",
                {"merge it into its model with that library and save the result"});
  std::string base = text_of(*document, "base_model_name_or_path");
  if (base.empty()) base = "an unnamed model";
  const std::string kind = fmt::format("a peft adapter ({}) for {}", type, base);
  if (type != "LORA") refuse_kind(listing.folder(), kind, {"only LORA can be merged here"});
  refuse_kind(listing.folder(), kind, {"merge it", "adapter", listing.folder()});
}

void check_config(const Listing& listing) {
  const std::optional<Json> document = read_object(listing.path(kConfig));
  if (!document) return;
  if (text_of(*document, "module").starts_with("keras"))
    refuse_kind(listing.folder(), "a Keras preset (keras_hub)", {kFetchOther});
  const std::string type = text_of(*document, "model_type");
  if (!type.empty() && !type.starts_with("deberta"))
    refuse_kind(listing.folder(), fmt::format("a model of type {} (model_type in config.json)", type),
                {"this program runs deberta and deberta-v2 (which includes version 3)"});
  const Json* quantization = document->find("quantization_config");
  if (quantization == nullptr || !quantization->is_object()) return;
  std::string method = text_of(*quantization, "quant_method");
  if (method.empty()) method = "bitsandbytes";
  refuse_kind(listing.folder(), fmt::format("weights quantised by {} (quantization_config in config.json)", method),
              {"download the weights in fp32, fp16 or bf16"});
}

// ---- folders in the folder

// Checkpoints of a run aside.
std::vector<std::string> models_in(const Listing& listing) {
  std::vector<std::string> models;
  for (const std::string& name : listing.names()) {
    if (name.starts_with("checkpoint-")) continue;
    const std::string folder = listing.path(name);
    if (is_regular_file(folder + "/config.json") && Listing(folder).has_weights()) models.push_back(name);
  }
  return models;
}

std::optional<std::string> newest_checkpoint(const Listing& listing) {
  std::optional<std::string> newest;
  uint64_t most = 0;
  for (const std::string& name : listing.find("checkpoint-*")) {
    const auto step = parse_number<uint64_t>(std::string_view(name).substr(name.find('-') + 1));
    if (!step || *step < most || !is_directory(listing.path(name))) continue;
    most = *step;
    newest = name;
  }
  return newest;
}

void check_models_in(const Listing& listing) {
  const std::vector<std::string> models = models_in(listing);
  if (!models.empty())
    refuse_kind(listing.folder(), fmt::format("a folder of models: {}", join_some(models)),
                {fmt::format("give one of them, such as {}", listing.path(models.front()))});
}

void check_subfolders(const Listing& listing) {
  check_models_in(listing);
  if (const auto newest = newest_checkpoint(listing))
    refuse_kind(listing.folder(), "a folder of training checkpoints",
                {fmt::format("give one of them; the newest is {}", listing.path(*newest))});
  if (is_directory(listing.path("snapshots")) && is_directory(listing.path("refs")))
    refuse_kind(listing.folder(), "a folder of the hub cache",
                {"give {}, or the folder of a commit in snapshots/", "model", "ORG/NAME"});
}

// Weights under a name that this program does not look for.
void check_other_weights(const Listing& listing) {
  for (const std::string_view pattern : {"*.safetensors", "*.bin", "*.pt", "*.pth", "*.ckpt"}) {
    for (const std::string& name : listing.find(pattern)) {
      if (name == "training_args.bin" || name == "bpe_encoder.bin" || name == "scheduler.pt") continue;
      const bool is_plain = pattern == "*.safetensors";
      refuse_kind(listing.folder(), fmt::format("a folder with weights named {}", name),
                  {fmt::format("if these are the model's weights, rename them to {}",
                               is_plain ? "model.safetensors" : "pytorch_model.bin")});
    }
  }
}

void check_model(const Listing& listing, FolderUse use) {
  if (listing.has(kAdapter)) check_adapter(listing);
  check_pointers(listing, {std::string(kConfig), std::string(kExtractionFile)});
  const bool is_extractor = listing.has(kExtractionFile);
  if (is_extractor && use != FolderUse::kWeights)
    refuse_kind(listing.folder(), "a GLiNER model, with its own heads on top of DeBERTa",
                {"find its entities with {}", "extract()"});
  if (listing.has(kConfig) && !is_extractor) check_config(listing);
  const bool has_config = listing.has(kConfig) || is_extractor, has_weights = listing.has_weights();
  // The folder of a run that trains two models has trainer_state.json, too.
  if (!has_config && !has_weights) check_models_in(listing);
  for (const KindRow& row : kKinds) {
    const bool may_be = row.when == When::kNoConfig ? !has_config : !has_weights;
    if (may_be && listing.has(row.mark))
      refuse_kind(listing.folder(), row.kind, {std::string(row.remedy), std::string(row.argument), listing.folder()});
  }
  if (listing.is_empty()) refuse_kind(listing.folder(), "an empty folder", {"give the folder of a model"});
  if (!has_config || !has_weights) check_subfolders(listing);
  if (has_config && !has_weights) check_other_weights(listing);
  if (!has_config && !has_weights && listing.has("tokenizer_config.json"))
    refuse_kind(listing.folder(), "a tokenizer without a model", {"download config.json and the weights as well"});
  check_pointers(listing, names_of_weights(listing));
}

// The beginning is enough: such files may be long.
bool is_keras_tokenizer(const std::string& path) {
  if (!is_regular_file(path)) return false;
  const std::string begin = first_bytes(path, 256);
  return begin.find("\"module\"") != begin.npos && begin.find("\"keras") != begin.npos;
}

void check_tokenizer(const Listing& listing) {
  if (is_keras_tokenizer(listing.path("tokenizer.json")))
    refuse_kind(listing.folder(), "a Keras preset (keras_hub), by its tokenizer.json",
                {"download the transformers tokenizer (spm.model, or tokenizer.json)"});
  const std::string whole = listing.path(kVocabularies.back());
  if (is_regular_file(whole) && !is_lfs_pointer(whole)) return;
  check_pointers(listing, {kVocabularies.begin(), kVocabularies.end()});
}

void check_adapter_folder(const Listing& listing) {
  const std::vector<std::string> weights = listing.find("adapter_model.*");
  if (!listing.has(kAdapter) || weights.empty())
    throw Error(ErrorCode::kFolder, listing.folder(),
                fmt::format("expected a peft adapter, got a folder without {}",
                            listing.has(kAdapter) ? "adapter_model.safetensors" : "adapter_config.json"));
  check_pointers(listing, weights);
}

}  // namespace

void check_folder_kind(const std::string& folder, FolderUse use) {
  const Listing listing(folder);
  switch (use) {
    case FolderUse::kModel:
    case FolderUse::kWeights:
      return check_model(listing, use);
    case FolderUse::kTokenizer:
      return check_tokenizer(listing);
    case FolderUse::kAdapter:
      return check_adapter_folder(listing);
  }
}

bool has_weight_files(const std::string& folder) {
  return Listing(folder).has_weights();
}

bool is_file_of_model(std::string_view name) {
  const auto begins_with_one_of = [&](std::initializer_list<std::string_view> starts) {
    return std::ranges::any_of(starts, [&](std::string_view start) { return name.starts_with(start); });
  };
  if (name == "README.md" || name == kManifestName || std::ranges::find(kVocabularies, name) != kVocabularies.end())
    return true;
  if (name.ends_with(".json"))
    return name.find("config") != std::string_view::npos || name.ends_with(".index.json") ||
           begins_with_one_of({"tokenizer", "special_tokens", "added_tokens", "vocab", "modules"});
  return (name.ends_with(".safetensors") || name.ends_with(".bin")) &&
         (name.find("-of-") != std::string_view::npos ||
          begins_with_one_of({"model", "pytorch_model", "adapter", "calibration", "optim"}));
}

}  // namespace deberta
