// From the names in the adapter's file to the model's tensors; then the sums, in double precision.
#include "checkpoint/adapter.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "base/file.h"
#include "base/log.h"
#include "checkpoint/adapter_settings.h"
#include "checkpoint/cast.h"
#include "checkpoint/folder_kind.h"
#include "checkpoint/made_tensor.h"
#include "checkpoint/tensor_rows.h"
#include "checkpoint/tensor_table.h"
#include "heads/head_facts.h"

namespace deberta {
namespace {

// The matrices of one module.
struct Lora {
  const TensorView* a = nullptr;     // [r, inputs]
  const TensorView* b = nullptr;     // [outputs, r]
  const TensorView* bias = nullptr;  // bias of B: [outputs]
  bool is_embedding = false;         // a: [r, V], b: [D, r], and the table is their product's transpose
};

struct PartRow {
  std::string_view ending;
  const TensorView* Lora::*part;
  bool is_embedding;
};
constexpr std::array kParts = {
    PartRow{".lora_A.weight", &Lora::a, false},   PartRow{".lora_B.weight", &Lora::b, false},
    PartRow{".lora_B.bias", &Lora::bias, false},  PartRow{".lora_embedding_A", &Lora::a, true},
    PartRow{".lora_embedding_B", &Lora::b, true},
};

void cut(std::string& text, std::string_view part) {
  const size_t at = text.find(part);
  if (at != text.npos) text.erase(at, part.size());
}

// As the model names it: without peft's wrappers around modules and the encoder's prefix.
std::string name_in_model(std::string name) {
  for (const std::string_view begin : {"base_model.model.", "deberta.", "bert."}) {
    if (name.starts_with(begin)) name.erase(0, begin.size());
  }
  for (const std::string_view wrapper : {".base_layer", ".modules_to_save.default", ".modules_to_save", ".default"})
    cut(name, wrapper);
  return name;
}

class BytesInMemory final : public FileWriter {  // what write_cast writes, in memory
 public:
  void write(Bytes bytes) override { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

std::vector<std::byte> to_bytes_of(const std::vector<float>& values, DType dtype, const std::string& name) {
  const Bytes bytes = std::as_bytes(std::span(values));
  if (dtype == DType::kF32) return {bytes.begin(), bytes.end()};
  BytesInMemory out;
  write_cast(bytes, DType::kF32, dtype, name, out);
  return out.take();
}

class Merger {
 public:
  Merger(const Checkpoint& base, const AdapterSettings& settings, const Checkpoint& adapter,
         std::optional<AdapterBase> trained_on)
      : base_(base),
        settings_(settings),
        adapter_(adapter),
        trained_on_(std::move(trained_on)),
        where_(adapter.paths().front()) {}

  std::vector<MadeTensor> run() {
    for (const TensorView& tensor : adapter_.tensors()) sort_in(tensor);
    check_base();
    for (const auto& [module, lora] : modules_) merge(module, lora);
    if (!problems_.empty()) throw Error(ErrorCode::kTensors, std::move(problems_));
    std::vector<MadeTensor> tensors;
    for (auto& [name, tensor] : tensors_) tensors.push_back(std::move(tensor));
    return tensors;
  }
  std::vector<Change> take_changes() { return std::move(changes_); }

 private:
  void refuse(const std::string& name, const std::string& message) {
    problems_.push_back({where_, fmt::format("tensor {}: {}", name, message)});
  }
  std::string stored_name(const std::string& canonical) const {
    return base_.find(canonical) != nullptr ? std::string(base_.stored_name(canonical)) : canonical;
  }

  void sort_in(const TensorView& tensor) {
    std::string name = name_in_model(tensor.name);
    for (const PartRow& row : kParts) {
      if (!name.ends_with(row.ending)) continue;
      Lora& lora = modules_[name.substr(0, name.size() - row.ending.size())];
      lora.*row.part = &tensor;
      lora.is_embedding = lora.is_embedding || row.is_embedding;
      return;
    }
    if (name.find(".lora_") != name.npos) return refuse(tensor.name, "an unsupported part of LoRA");
    if (name.find(".original_module") == name.npos) replace(std::string(to_canonical_name(name)), tensor);
  }

  // Other weights would give a model that was never trained: the shapes fit, but the sums mean nothing.
  void check_base() {
    if (!trained_on_) return;
    std::vector<TensorView> matrices;
    for (const auto& [module, lora] : modules_) {
      if (const TensorView* weight = base_.find(module + ".weight"); weight != nullptr) matrices.push_back(*weight);
    }
    if (hash_of_base(std::move(matrices)) == trained_on_->sha256) return;
    warn(
        fmt::format("{}: expected the weights that the adapter was trained on, those of {} (SHA-256 {}...), got others "
                    "in {}; the merged model is not the one that was trained",
                    where_, trained_on_->name, trained_on_->sha256.substr(0, 8), base_.paths().front()));
  }

  // A tensor that was trained as a whole. The head may be new, or have another number of classes.
  void replace(const std::string& name, const TensorView& tensor) {
    const TensorView* old = base_.find(name);
    if (old == nullptr && find_head_tensor(name) == nullptr)
      return refuse(tensor.name, "the model has no such tensor; does the adapter belong to this model?");
    const bool may_change = name.starts_with("classifier.");
    if (old != nullptr && old->shape != tensor.shape && !may_change)
      return refuse(tensor.name, fmt::format("expected shape {} as in the model, got {}", to_string(old->shape),
                                             to_string(tensor.shape)));
    tensors_[name] = {name, tensor.dtype, tensor.shape, {tensor.bytes.begin(), tensor.bytes.end()}};
    changes_.push_back({stored_name(name), old == nullptr ? "added" : "replaced", "from the adapter"});
  }

  void merge(const std::string& module, const Lora& lora) {
    if (lora.a == nullptr || lora.b == nullptr)
      return refuse(module, fmt::format("expected lora_A and lora_B, got only lora_{}", lora.a == nullptr ? "B" : "A"));
    const std::string name = module + ".weight";
    const std::optional<TensorView> weight = find(name);
    if (!weight) return refuse(module, "the model has no such module; does the adapter belong to this model?");
    if (!fits(*weight, lora))
      return refuse(module, fmt::format("lora_A {} and lora_B {} do not fit the weight {} of the model",
                                        to_string(lora.a->shape), to_string(lora.b->shape), to_string(weight->shape)));
    const auto rank = static_cast<size_t>(lora.a->shape[0]);
    const double scale = settings_.scale(module, rank);
    put(name, *weight, lora.is_embedding ? sum_of_table(*weight, lora, scale) : sum_of(*weight, lora, scale));
    if (lora.bias != nullptr) merge_bias(module, *lora.bias, scale);
    changes_.push_back({stored_name(name), "merged", fmt::format("rank {}, scale {:.6g}", rank, scale)});
  }

  // The weights to change: the adapter's own where it has the whole tensor.
  std::optional<TensorView> find(const std::string& name) const {
    if (const auto at = tensors_.find(name); at != tensors_.end())
      return TensorView{name, at->second.dtype, at->second.shape, at->second.bytes};
    const TensorView* tensor = base_.find(name);
    return tensor == nullptr ? std::nullopt : std::optional<TensorView>(*tensor);
  }

  static bool fits(const TensorView& weight, const Lora& lora) {
    if (weight.shape.size() != 2 || lora.a->shape.size() != 2 || lora.b->shape.size() != 2) return false;
    if (lora.a->shape[0] != lora.b->shape[1] || lora.a->shape[0] < 1) return false;
    const Shape product = {lora.b->shape[0], lora.a->shape[1]};
    return weight.shape == (lora.is_embedding ? Shape{product[1], product[0]} : product);
  }

  static std::vector<float> sum_of(const TensorView& weight, const Lora& lora, double scale) {
    std::vector<float> sum = to_fp32(weight);
    const std::vector<float> a = to_fp32(*lora.a), b = to_fp32(*lora.b);
    const auto ranks = static_cast<size_t>(lora.a->shape[0]), inputs = static_cast<size_t>(lora.a->shape[1]);
    std::vector<double> row(inputs);
    for (size_t o = 0; o < sum.size() / inputs; ++o) {
      std::fill(row.begin(), row.end(), 0.0);
      for (size_t r = 0; r < ranks; ++r) {
        const double factor = b[o * ranks + r];
        for (size_t i = 0; i < inputs; ++i) row[i] += factor * a[r * inputs + i];
      }
      for (size_t i = 0; i < inputs; ++i)
        sum[o * inputs + i] = static_cast<float>(sum[o * inputs + i] + scale * row[i]);
    }
    return sum;
  }

  // The table of an embedding: row v is column v of the product.
  static std::vector<float> sum_of_table(const TensorView& weight, const Lora& lora, double scale) {
    std::vector<float> sum = to_fp32(weight);
    const std::vector<float> a = to_fp32(*lora.a), b = to_fp32(*lora.b);
    const auto ranks = static_cast<size_t>(lora.a->shape[0]), words = static_cast<size_t>(lora.a->shape[1]);
    const size_t columns = sum.size() / words;
    for (size_t v = 0; v < words; ++v) {
      for (size_t d = 0; d < columns; ++d) {
        double product = 0;
        for (size_t r = 0; r < ranks; ++r) product += double{b[d * ranks + r]} * a[r * words + v];
        sum[v * columns + d] = static_cast<float>(sum[v * columns + d] + scale * product);
      }
    }
    return sum;
  }

  void merge_bias(const std::string& module, const TensorView& addend, double scale) {
    const std::string name = module + ".bias";
    const std::optional<TensorView> bias = find(name);
    if (!bias || bias->shape != addend.shape) return refuse(module, "the bias of lora_B matches no bias of the model");
    std::vector<float> sum = to_fp32(*bias);
    const std::vector<float> values = to_fp32(addend);
    for (size_t i = 0; i < sum.size(); ++i) sum[i] = static_cast<float>(sum[i] + scale * values[i]);
    put(name, *bias, sum);
    changes_.push_back({stored_name(name), "merged", fmt::format("the bias of lora_B, scale {:.6g}", scale)});
  }

  void put(const std::string& name, const TensorView& old, const std::vector<float>& values) {
    const DType dtype = old.dtype == DType::kF64 ? DType::kF32 : old.dtype;
    const Shape shape = old.shape;  // `old` may belong to the tensor that is replaced here
    tensors_[name] = {name, dtype, shape, to_bytes_of(values, dtype, name)};
  }

  const Checkpoint& base_;
  const AdapterSettings& settings_;
  const Checkpoint& adapter_;
  std::optional<AdapterBase> trained_on_;
  std::string where_;
  std::map<std::string, Lora> modules_;
  std::map<std::string, MadeTensor> tensors_;
  std::vector<Change> changes_;
  std::vector<Problem> problems_;
};

// The modules that every such head has, whatever the configuration: pooler.dense, classifier.
std::vector<std::string_view> modules_of(const HeadFacts& head) {
  std::vector<std::string_view> modules;
  for (const TensorRow& row : head.tensors) {
    const std::string_view module = row.name.substr(0, row.name.rfind('.'));
    if (row.exists == TensorRow::always && (modules.empty() || modules.back() != module)) modules.push_back(module);
  }
  return modules;
}

// A head that neither the model nor the adapter has was random when the adapter was trained: nothing reproduces its
// answers.
void check_head(const Checkpoint& merged, const AdapterSettings& settings, const std::string& folder) {
  if (settings.task_type.empty()) return;
  const auto is_for_it = [&](const HeadUse& use) { return use.peft_task == settings.task_type; };
  const Head head = detect_head(merged);
  for (const HeadFacts* expected : all_heads()) {
    if (expected->head == head || std::ranges::none_of(expected->uses, is_for_it)) continue;
    throw Error(ErrorCode::kTensors,
                {{.where = folder,
                  .message = fmt::format(
                      "task_type {}: expected a {} head, got {}; {} is in neither the adapter nor the "
                      "model",
                      settings.task_type, expected->name, to_string(head), fmt::join(modules_of(*expected), " and ")),
                  .argument = "model",
                  .remedies = {{"give the model that the adapter was trained on, with its head"}}}});
  }
}

ModelConfig config_of(const ModelConfig& config, const Checkpoint& merged, std::vector<Change>& changes) {
  ModelConfig result = config;
  const auto classes = static_cast<size_t>(count_labels(merged));
  const size_t named = config.labels.empty() ? static_cast<size_t>(config.num_labels) : config.labels.size();
  if (classes == 0 || named == 0 || named == classes) return result;
  result.labels.clear();
  result.num_labels = 0;
  Json raw = raw_document(config);
  std::erase_if(raw.as_object(), [](const JsonMember& member) {
    return member.first == "id2label" || member.first == "label2id" || member.first == "num_labels";
  });
  result.raw = raw.dump();
  changes.push_back({"config.json", "dropped",
                     fmt::format("id2label: {} labels of the model, {} classes of the adapter", named, classes)});
  return result;
}

Checkpoint open_adapter(const std::string& folder, const OpenOptions& options) {
  const std::string path = folder + "/adapter_model.safetensors";
  return Checkpoint::open_file(is_regular_file(path) ? path : folder + "/adapter_model.bin", options);
}

}  // namespace

MergedModel merge_adapter(const Checkpoint& base, const ModelConfig& config, const std::string& folder,
                          const OpenOptions& options) {
  check_folder_kind(folder, FolderUse::kAdapter);
  const AdapterSettings settings = load_adapter_settings(folder);
  const Checkpoint adapter = open_adapter(folder, options);
  Merger merger(base, settings, adapter, load_adapter_base(folder));
  MergedModel model{replace_tensors(base, merger.run()), config, merger.take_changes()};
  check_head(model.checkpoint, settings, folder);
  model.config = config_of(config, model.checkpoint, model.changes);
  return model;
}

}  // namespace deberta
