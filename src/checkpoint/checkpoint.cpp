// Which files make up the weights, and the canonical names of what is in them.
#include "deberta/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <filesystem>
#include <memory>
#include <set>
#include <unordered_map>
#include <utility>
#include <variant>

#include "base/file_names.h"
#include "base/json.h"
#include "base/log.h"
#include "checkpoint/bin_file.h"
#include "checkpoint/folder_kind.h"
#include "checkpoint/made_tensor.h"
#include "checkpoint/safetensors.h"
#include "checkpoint/tensor.h"
#include "checkpoint/tensor_rows.h"
#include "deberta/error.h"

namespace deberta {
namespace {

// The forms in which weights are published, in the order in which they are looked for.
struct Form {
  std::string_view file;
  std::string_view index;  // names the shards
  ErrorCode code;          // for a wrong index
};
constexpr std::array kForms = {
    Form{"model.safetensors", "model.safetensors.index.json", ErrorCode::kSafetensors},
    Form{"pytorch_model.bin", "pytorch_model.bin.index.json", ErrorCode::kBin},
};
// The last one is GLiNER's, around an encoder of transformers.
constexpr std::array<std::string_view, 3> kPrefixes = {"deberta.", "bert.", "token_rep_layer.bert_layer.model."};
constexpr size_t kMaxShards = 1000;
constexpr JsonLimits kIndexLimits{.max_bytes = 100000000, .max_depth = 16, .max_nodes = 300000};

using WeightFile = std::variant<SafetensorsFile, BinFile>;
const std::vector<TensorView>& tensors_of(const WeightFile& file) {
  return std::visit([](const auto& opened) -> const std::vector<TensorView>& { return opened.tensors(); }, file);
}
const std::string& path_of(const WeightFile& file) {
  return std::visit([](const auto& opened) -> const std::string& { return opened.path(); }, file);
}

void warn_of_passed_over(const BinFile& file) {
  constexpr size_t kMaxShown = 8;
  const std::vector<std::string>& all = file.passed_over();
  if (all.empty()) return;
  const auto end = all.begin() + static_cast<std::ptrdiff_t>(std::min(all.size(), kMaxShown));
  const std::string what = all.size() == 1 ? "1 entry that is not a tensor is ignored"
                                           : fmt::format("{} entries that are not tensors are ignored", all.size());
  warn(fmt::format("{}: {}: {}{}", file.path(), what, fmt::join(all.begin(), end, ", "),
                   all.size() > kMaxShown ? ", ..." : ""));
}

WeightFile open_weights(const std::string& path, bool is_bin, const OpenOptions& options) {
  const LoadMode mode = options.reads_whole ? LoadMode::kRead : LoadMode::kMap;
  if (!is_bin) return WeightFile(std::in_place_type<SafetensorsFile>, path, mode);
  BinFile file(path, mode, options.checks_crc);
  warn_of_passed_over(file);
  return WeightFile(std::in_place_type<BinFile>, std::move(file));
}

// Something has that name, even a dangling link: opening it then says what is wrong with it.
bool exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(std::filesystem::symlink_status(path, ignored));
}

std::string path_in(const std::string& folder, std::string_view name) {
  return fmt::format("{}/{}", folder, name);
}

// tensor name -> file name
using WeightMap = std::vector<std::pair<std::string, std::string>>;

WeightMap read_index(const std::string& path, ErrorCode code) {
  const Json document = load_python_json(path, kIndexLimits);
  const Json* map = document.find("weight_map");
  if (map == nullptr || !map->is_object()) throw Error(code, path, "expected an object weight_map");
  WeightMap entries;
  std::vector<Problem> problems;
  for (const auto& [name, file] : map->as_object()) {
    if (file.is_string() && is_plain_file_name(file.as_string())) {
      entries.emplace_back(name, file.as_string());
    } else {
      problems.push_back(
          {path, fmt::format("{}: expected a plain file name, got {}", quote_json(name), file.describe())});
    }
  }
  if (!problems.empty()) throw Error(code, std::move(problems));
  if (entries.empty()) throw Error(code, path, "expected at least one tensor in weight_map");
  return entries;
}

std::vector<WeightFile> open_shards(const std::string& folder, const Form& form, const WeightMap& entries,
                                    const OpenOptions& options) {
  const std::string index = path_in(folder, form.index);
  std::set<std::string> names;
  for (const auto& entry : entries) names.insert(entry.second);
  if (names.size() > kMaxShards)
    throw Error(form.code, index, fmt::format("expected at most {} files, got {}", kMaxShards, names.size()));
  std::vector<Problem> problems;
  for (const std::string& name : names) {
    if (!exists(path_in(folder, name)))
      problems.push_back({path_in(folder, name), fmt::format("not found; {} lists it", index)});
  }
  if (!problems.empty()) throw Error(ErrorCode::kFileNotFound, std::move(problems));
  std::vector<WeightFile> files;
  files.reserve(names.size());
  for (const std::string& name : names)
    files.push_back(open_weights(path_in(folder, name), form.code == ErrorCode::kBin, options));
  return files;
}

// Each tensor is in exactly the file that the index names for it, and no file holds another.
void check_shards(const std::string& folder, const std::string& index, const WeightMap& entries,
                  const std::vector<WeightFile>& files) {
  std::unordered_map<std::string_view, const std::string*> wanted;
  for (const auto& [name, file] : entries) wanted.emplace(name, &file);
  std::vector<Problem> problems;
  std::set<std::string_view> stored;
  for (const WeightFile& file : files) {
    for (const TensorView& tensor : tensors_of(file)) {
      const auto at = wanted.find(tensor.name);
      if (at == wanted.end()) {
        problems.push_back({path_of(file), fmt::format("tensor {}: not in {}", quote_json(tensor.name), index)});
      } else if (path_in(folder, *at->second) != path_of(file)) {
        problems.push_back(
            {path_of(file), fmt::format("tensor {}: expected in {} only", quote_json(tensor.name), *at->second)});
      } else {
        stored.insert(at->first);
      }
    }
  }
  for (const auto& [name, file] : entries) {
    if (!stored.contains(name))
      problems.push_back(
          {path_in(folder, file), fmt::format("tensor {}: missing; {} lists it", quote_json(name), index)});
  }
  if (!problems.empty()) throw Error(ErrorCode::kTensors, std::move(problems));
}

using TensorPointers = std::vector<const TensorView*>;

void append(TensorPointers& all_tensors, const std::vector<TensorView>& tensors) {
  for (const TensorView& tensor : tensors) all_tensors.push_back(&tensor);
}

TensorPointers all_of(const std::vector<WeightFile>& files) {
  TensorPointers all_tensors;
  for (const WeightFile& file : files) append(all_tensors, tensors_of(file));
  return all_tensors;
}

// What wrappers of a model put before all of its names: data parallelism, torch.compile, a class of one's own.
std::string wrapper_of(const TensorPointers& all_tensors) {
  constexpr std::array<std::string_view, 3> kWrappers = {"module.", "_orig_mod.", "model."};
  std::string wrapper;
  for (bool has_more = !all_tensors.empty(); has_more;) {
    has_more = false;
    for (const std::string_view part : kWrappers) {
      const std::string longer = wrapper + std::string(part);
      if (!std::ranges::all_of(all_tensors, [&](const TensorView* tensor) { return tensor->name.starts_with(longer); }))
        continue;
      wrapper = longer;
      has_more = true;
    }
  }
  return wrapper;
}

std::string_view detect_prefix(const TensorPointers& all_tensors, size_t wrapper_bytes) {
  for (const std::string_view prefix : kPrefixes) {
    for (const TensorView* tensor : all_tensors) {
      if (std::string_view(tensor->name).substr(wrapper_bytes).starts_with(prefix)) return prefix;
    }
  }
  return {};
}

// Norms of files that were made from TensorFlow's.
std::string with_new_norms(std::string name) {
  for (const auto& [old, fresh] : {std::pair(".gamma", ".weight"), std::pair(".beta", ".bias")}) {
    const std::string_view ending = old;
    if (name.ends_with(ending)) name.replace(name.size() - ending.size(), ending.size(), fresh);
  }
  return name;
}

void check_bytes(const std::vector<TensorView>& tensors, const std::string& where) {
  std::vector<Problem> problems;
  for (const TensorView& tensor : tensors) {
    if (size_bytes_of(tensor.dtype, tensor.shape) != tensor.bytes.size())
      problems.push_back({where, fmt::format("tensor {}: expected the bytes of {} {}, got {} bytes", tensor.name,
                                             to_string(tensor.dtype), to_string(tensor.shape), tensor.bytes.size())});
  }
  if (!problems.empty()) throw Error(ErrorCode::kTensors, std::move(problems));
}

void refuse_duplicates(const std::vector<TensorView>& sorted, const std::string& where) {
  std::vector<Problem> problems;
  for (size_t i = 1; i < sorted.size(); ++i) {
    if (sorted[i].name == sorted[i - 1].name)
      problems.push_back({where, fmt::format("tensor {}: stored under two names", sorted[i].name)});
  }
  if (!problems.empty()) throw Error(ErrorCode::kTensors, std::move(problems));
}

// The open files and what they hold; or tensors in memory; or what is made from another checkpoint, which stays open.
struct Opened {
  Opened(std::vector<WeightFile> opened, const std::string& where) : files(std::move(opened)) {
    add_all(all_of(files), where);
  }

  Opened(const std::vector<TensorView>& in_memory, const std::string& where)
      : memory_tensors(in_memory), memory_where(where) {
    check_bytes(memory_tensors, where);
    TensorPointers all_tensors;
    append(all_tensors, memory_tensors);
    add_all(all_tensors, where);
  }

  Opened(std::shared_ptr<const Opened> below, std::vector<MadeTensor> new_tensors)
      : base(std::move(below)), replacements(std::move(new_tensors)), prefix(base->prefix) {
    std::unordered_map<std::string_view, const MadeTensor*> by_name;
    for (const MadeTensor& tensor : replacements) by_name.emplace(tensor.name, &tensor);
    for (const TensorView& tensor : base->tensors) {
      if (!by_name.contains(tensor.name)) add(tensor, base->stored_names.at(tensor.name));
    }
    for (const MadeTensor& tensor : replacements) {
      const auto old = base->stored_names.find(tensor.name);
      add({tensor.name, tensor.dtype, tensor.shape, tensor.bytes},
          old == base->stored_names.end() ? std::string_view(tensor.name) : old->second);
    }
    sort();
  }

  void add_all(const TensorPointers& all_tensors, const std::string& where) {
    const std::string wrapper = wrapper_of(all_tensors);
    if (!wrapper.empty())
      warn(fmt::format("{}: every name begins with {}, which a wrapper of the model added; the prefix is removed",
                       where, quote_json(wrapper)));
    prefix = detect_prefix(all_tensors, wrapper.size());
    for (const TensorView* tensor : all_tensors) {
      std::string_view stored = tensor->name;
      if (std::string plain = with_new_norms(tensor->name.substr(wrapper.size())); plain != stored)
        stored = plain_names.emplace_back(std::move(plain));
      std::string_view name = stored;
      if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
      add({std::string(to_canonical_name(name)), tensor->dtype, tensor->shape, tensor->bytes}, stored);
    }
    sort();
    refuse_duplicates(tensors, where);
  }
  void add(TensorView tensor, std::string_view stored_name) {
    stored_names.emplace(tensor.name, stored_name);
    size_bytes += tensor.bytes.size();
    tensors.push_back(std::move(tensor));
  }
  void sort() {
    std::sort(tensors.begin(), tensors.end(), [](const TensorView& a, const TensorView& b) { return a.name < b.name; });
  }

  std::vector<WeightFile> files;
  std::vector<TensorView> memory_tensors;
  std::string memory_where;  // in place of a file's path
  std::shared_ptr<const Opened> base;
  std::vector<MadeTensor> replacements;
  std::string_view prefix;
  std::deque<std::string> plain_names;  // corrected names of tensors that are stored under others
  std::vector<TensorView> tensors;
  std::unordered_map<std::string, std::string_view> stored_names;
  uint64_t size_bytes = 0;
};

}  // namespace

struct __attribute__((visibility("hidden"))) Checkpoint::State {
  std::shared_ptr<const Opened> opened;
};

Checkpoint::Checkpoint(const State* state) : state_(state) {}
Checkpoint::~Checkpoint() {
  delete state_;
}
Checkpoint::Checkpoint(const Checkpoint& other) : state_(new State(*other.state_)) {}
Checkpoint::Checkpoint(Checkpoint&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
Checkpoint& Checkpoint::operator=(Checkpoint other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}

Checkpoint Checkpoint::open(const std::string& folder, const OpenOptions& options) {
  if (!is_directory(folder)) throw Error(ErrorCode::kFileNotFound, folder, "expected a folder with a model");
  check_folder_kind(folder, FolderUse::kWeights);
  for (const Form& form : kForms) {
    if (exists(path_in(folder, form.file))) return open_file(path_in(folder, form.file), options);
    const std::string index = path_in(folder, form.index);
    if (!exists(index)) continue;
    const WeightMap entries = read_index(index, form.code);
    std::vector<WeightFile> files = open_shards(folder, form, entries, options);
    check_shards(folder, index, entries, files);
    return Checkpoint(new State{std::make_shared<const Opened>(std::move(files), folder)});
  }
  std::string names;
  for (const Form& form : kForms) names += fmt::format("{}{} or {}", names.empty() ? "" : ", ", form.file, form.index);
  throw Error(ErrorCode::kFileNotFound, folder, fmt::format("no weights: expected {}", names));
}

Checkpoint Checkpoint::open_file(const std::string& path, const OpenOptions& options) {
  std::vector<WeightFile> files;
  files.push_back(open_weights(path, path.ends_with(".bin"), options));
  return Checkpoint(new State{std::make_shared<const Opened>(std::move(files), path)});
}

Checkpoint Checkpoint::from_memory(const std::vector<TensorView>& tensors, const std::string& where) {
  return Checkpoint(new State{std::make_shared<const Opened>(tensors, where)});
}

const TensorView* Checkpoint::find(std::string_view canonical_name) const {
  const std::vector<TensorView>& all = state_->opened->tensors;
  const auto at =
      std::lower_bound(all.begin(), all.end(), canonical_name,
                       [](const TensorView& tensor, std::string_view wanted) { return tensor.name < wanted; });
  return at != all.end() && at->name == canonical_name ? &*at : nullptr;
}

const std::vector<TensorView>& Checkpoint::tensors() const& {
  return state_->opened->tensors;
}
std::string_view Checkpoint::stored_name(const std::string& canonical_name) const {
  return state_->opened->stored_names.at(canonical_name);
}
std::string_view Checkpoint::prefix() const {
  return state_->opened->prefix;
}
uint64_t Checkpoint::size_bytes() const {
  return state_->opened->size_bytes;
}

std::vector<std::string> Checkpoint::paths() const {
  std::vector<std::string> paths;
  const Opened* opened = state_->opened.get();
  while (opened->base != nullptr) opened = opened->base.get();
  for (const WeightFile& file : opened->files) paths.push_back(path_of(file));
  if (opened->files.empty()) paths.push_back(opened->memory_where);
  return paths;
}

Checkpoint replace_tensors(const Checkpoint& base, std::vector<MadeTensor> tensors) {
  return Checkpoint(new Checkpoint::State{std::make_shared<const Opened>(base.state_->opened, std::move(tensors))});
}

}  // namespace deberta
