// Renames the matrices as peft does, and writes adapter_config.json with the hash of the base's weights.
#include "train/finetune/adapter_files.h"

#include <algorithm>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/folder.h"
#include "base/json.h"
#include "checkpoint/adapter_settings.h"
#include "checkpoint/manifest_writer.h"
#include "checkpoint/safetensors.h"
#include "heads/head_facts.h"
#include "train/model/parameters.h"

namespace deberta::train {
namespace {

constexpr const char* kWeights = "adapter_model.safetensors";
constexpr std::string_view kEncoder = "encoder.";

bool is_of_encoder(const std::string& name) {
  return name.starts_with("embeddings.") || name.starts_with(kEncoder);
}

// peft has none for multiple choice.
Json task_type_of(const ModelForm& form) {
  const HeadUse& use = use_of(facts_of(form.head), form.config);
  return use.peft_task.empty() ? Json() : Json(std::string(use.peft_task));
}

// Tensors under peft's names.
std::vector<TensorView> adapter_tensors(Model& model) {
  std::vector<TensorView> tensors = lora_views(model);
  for (TensorView& tensor : tensors) tensor.name = "base_model.model.deberta." + tensor.name;
  for (TensorView& tensor : to_views(model)) {
    if (is_of_encoder(tensor.name)) continue;
    tensor.name = "base_model.model." + tensor.name;
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

// The modules of the head: pooler, classifier.
JsonArray head_modules(Model& model) {
  std::set<std::string> names;
  for (const TensorView& tensor : to_views(model)) {
    if (!is_of_encoder(tensor.name)) names.insert(tensor.name.substr(0, tensor.name.find('.')));
  }
  return JsonArray(names.begin(), names.end());
}

std::string settings_of(Model& model, const std::string& base_model) {
  const LoraForm& lora = *model.form.lora;
  const Json settings(JsonObject{{"peft_type", "LORA"},
                                 {"task_type", task_type_of(model.form)},
                                 {"base_model_name_or_path", base_model},
                                 {"r", lora.rank},
                                 {"lora_alpha", lora.alpha},
                                 {"lora_dropout", 0.0},
                                 {"target_modules", JsonArray(lora.targets.begin(), lora.targets.end())},
                                 {"modules_to_save", head_modules(model)},
                                 {"bias", "none"},
                                 {"fan_in_fan_out", false},
                                 {"init_lora_weights", true},
                                 {"inference_mode", true}});
  return settings.dump(2, JsonForm::kPython) + "\n";
}

// What distinguishes the model that is added to from others.
std::string base_of(const Model& model, const std::string& name) {
  std::vector<TensorView> matrices;
  for (const LoraMatrices& m : model.lora) {
    const std::span values(m.base_OI.const_data_ptr<float>(), static_cast<size_t>(m.base_OI.numel()));
    matrices.push_back({m.module + ".weight", DType::kF32, m.shape_OI, std::as_bytes(values)});
  }
  const Json base(JsonObject{{"name", name}, {"sha256", hash_of_base(std::move(matrices))}});
  return base.dump(2, JsonForm::kPython) + "\n";
}

}  // namespace

std::optional<std::string> find_adapter_obstacle(const ModelForm& form) {
  if (form.config.layout == Layout::kV1) return "peft adds to the fused projections of version 1 as one matrix";
  if (form.config.shares_layers) return "transformers has no layers that share their weights";
  const HeadFacts& head = facts_of(form.head);
  if (head.is_per_sequence() && form.config.classifier_pooling != ClassifierPooling::kFirst)
    return "transformers pools only the first token";
  if (!use_of(head, form.config).is_in_transformers) return "transformers has no such head";
  return std::nullopt;
}

void write_adapter(const std::string& folder, Model& model, const std::string& base_model) {
  if (is_directory(folder)) remove_folder(folder);
  StagedFolder staged(folder);
  ManifestWriter files(staged);
  files.add_text("adapter_config.json", settings_of(model, base_model));
  files.add_text(kAdapterBaseName, base_of(model, base_model));
  files.add(kWeights, [&](FileWriter& file) {
    write_safetensors(file, staged.path() + "/" + kWeights, to_write(adapter_tensors(model)), {{"format", "pt"}});
  });
  files.finish();
  staged.publish();
}

}  // namespace deberta::train
