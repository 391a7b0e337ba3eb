// Which tensor goes where: layout first, then what is left out, names, types; then the keys of config.json that follow.
#include "checkpoint/conversion.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "checkpoint/cast.h"
#include "checkpoint/layout_conversion.h"
#include "checkpoint/tensor_rows.h"
#include "checkpoint/tensor_table.h"
#include "config/config_writer.h"
#include "config/extraction_config.h"
#include "deberta/error.h"
#include "heads/head_facts.h"

namespace deberta {
namespace {

constexpr std::string_view kPrefix = "deberta.", kPrefixOfExtraction = "token_rep_layer.bert_layer.model.";
constexpr std::string_view kPositionIds = "embeddings.position_ids";
constexpr size_t kPieceBytes = size_t{1} << 20;

// The name that the published files use; `encoder`: what stands before the names of the encoder's tensors.
std::string written_name(const std::string& canonical, std::string_view encoder, bool has_hf_head_names) {
  if (canonical.starts_with("embeddings.") || canonical.starts_with("encoder."))
    return fmt::format("{}{}", encoder, canonical);
  const TensorRow* row = find_tensor_row(canonical);
  return has_hf_head_names && row != nullptr && !row->alias.empty() ? std::string(row->alias) : canonical;
}

const TiedTensor* find_tied(std::string_view name) {
  for (const TiedTensor& tied : tied_tensors()) {
    if (tied.name == name) return &tied;
  }
  return nullptr;
}

// What all steps of one plan share.
struct Plan {
  const Checkpoint& checkpoint;
  const ModelConfig& config;  // with the layout that the tensors have
  const ConversionOptions& options;
  const HeadFacts& head;
  // With a table of its own the head has the names that transformers gives it.
  bool has_own_output = own_output_table(checkpoint, config) != nullptr;
  bool has_hf_head_names = options.has_hf_head_names || has_own_output;
  Conversion conversion{};

  Layout layout() const { return options.layout.value_or(config.layout); }
  bool changes_layout() const { return layout() != config.layout; }
  void report(std::string subject, std::string_view change, std::string detail) {
    conversion.changes.push_back({std::move(subject), std::string(change), std::move(detail)});
  }
};

void plan_tensor(Plan& plan, const TensorView& tensor) {
  const std::string stored(plan.checkpoint.stored_name(tensor.name));
  if (tensor.name == kPositionIds) return plan.report(stored, "dropped", "an unused buffer with the numbers from 0");
  const bool is_own = plan.has_own_output && tensor.name == kOutputTable;
  if (const TiedTensor* tied = find_tied(tensor.name); tied != nullptr && !is_own)
    return plan.report(stored, "dropped", fmt::format("the same values as {}", tied->same_as));
  if (is_ignored_tensor(tensor.name)) {
    plan.report(stored, plan.options.drops_delta ? "dropped" : "kept",
                "a delta of replaced-token training, used only when training continues");
    if (plan.options.drops_delta) return;
  }
  plan.conversion.tensors.push_back({{}, tensor.name, tensor.dtype, tensor.dtype, tensor.shape, {tensor.bytes}});
}

void name_and_cast(Plan& plan, PlannedTensor& tensor) {
  tensor.name =
      written_name(tensor.canonical, plan.config.extraction ? kPrefixOfExtraction : kPrefix, plan.has_hf_head_names);
  const bool is_in_file = plan.checkpoint.find(tensor.canonical) != nullptr;
  const std::string stored(is_in_file ? plan.checkpoint.stored_name(tensor.canonical) : tensor.name);
  if (is_in_file && stored != tensor.name) plan.report(stored, "renamed", tensor.name);
  if (!plan.options.dtype || !is_float(tensor.from) || tensor.from == *plan.options.dtype) return;
  tensor.dtype = *plan.options.dtype;
  plan.report(tensor.name, "cast", fmt::format("{} to {}", to_string(tensor.from), to_string(tensor.dtype)));
}

void plan_tensors(Plan& plan) {
  if (plan.changes_layout()) plan_layout(plan.checkpoint, plan.config, plan.layout(), plan.conversion);
  for (const TensorView& tensor : plan.checkpoint.tensors()) {
    if (!plan.changes_layout() || !is_of_layout(tensor.name)) plan_tensor(plan, tensor);
  }
  for (PlannedTensor& tensor : plan.conversion.tensors) name_and_cast(plan, tensor);
  std::sort(plan.conversion.tensors.begin(), plan.conversion.tensors.end(),
            [](const PlannedTensor& a, const PlannedTensor& b) { return a.name < b.name; });
}

Json to_json(const std::vector<std::string>& names) {
  JsonArray items;
  for (const std::string& name : names) items.emplace_back(name);
  return items;
}

// transformers knows the type under one key in old files and another in new ones.
void write_dtype(ConfigDocument& document, DType dtype) {
  const char* name = dtype == DType::kF16 ? "float16" : dtype == DType::kBf16 ? "bfloat16" : "float32";
  const bool has_new = document.has("dtype");
  if (has_new) document.set("dtype", name);
  if (!has_new || document.has("torch_dtype")) document.set("torch_dtype", name);
}

// The head under its original names is what transformers calls not legacy, and its own tying would overwrite it.
void write_language_head(ConfigDocument& document, const Plan& plan) {
  if (!plan.head.predicts_words()) return;
  document.set("legacy", plan.has_hf_head_names);
  document.set("tie_word_embeddings", plan.has_hf_head_names && !plan.has_own_output);
}

// gliner_config.json with the encoder's configuration in it. The library makes the encoder in the type that it names,
// and its own layers in fp32, whatever the type of the weights is: both must be the same.
void plan_extraction_config(Plan& plan) {
  ConfigDocument document(plan.config);
  document.set("model_type", to_string(plan.config.layout));
  document.write_out(plan.config);
  document.set("vocab_size", plan.config.vocab_size);
  for (const char* key : {"dtype", "torch_dtype"}) {
    if (document.has(key)) document.set(key, "float32");
  }
  for (const std::string& change : document.changes())
    plan.report(std::string(kExtractionFile), "written", fmt::format("encoder_config: {}", change));
  JsonObject members = extraction_document(*plan.config.extraction);
  std::erase_if(members, [](const JsonMember& member) { return member.first == "encoder_config"; });
  members.emplace_back("encoder_config", document.json());
  plan.conversion.config = std::move(members);
}

void plan_config(Plan& plan) {
  plan.conversion.config_file = config_file_of(plan.config);
  if (plan.config.extraction) return plan_extraction_config(plan);
  ConfigDocument document(plan.config);
  ModelConfig config = plan.config;
  if (plan.changes_layout()) {
    config.layout = plan.layout();
    document.set("share_att_key", false);
  }
  document.set("model_type", model_type_of(config, plan.head.is_per_sequence()));
  document.write_out(config);
  // Without names transformers makes a head of two classes.
  const int64_t classes = count_labels(plan.checkpoint);
  if (config.labels.empty() && classes > 0 && classes != 2) document.set("num_labels", classes);
  document.set("architectures", to_json(architectures_of(plan.config, plan.head, config.layout)));
  if (plan.options.dtype) write_dtype(document, *plan.options.dtype);
  write_language_head(document, plan);
  for (const std::string& change : document.changes()) plan.report("config.json", "written", change);
  plan.conversion.config = document.json();
}

[[noreturn]] void refuse_tensor(const std::string& where, const std::string& name, const std::string& message) {
  throw Error(ErrorCode::kTensors, where, fmt::format("tensor {}: {}", name, message));
}

void verify_tensor(const PlannedTensor& planned, const TensorView& written, const std::string& where) {
  if (written.dtype != planned.dtype || written.shape != planned.shape)
    refuse_tensor(where, planned.name,
                  fmt::format("expected {} {}, got {} {}", to_string(planned.dtype), to_string(planned.shape),
                              to_string(written.dtype), to_string(written.shape)));
  size_t done = 0;
  for (const Bytes run : planned.runs) {
    const size_t count = run.size() / size_of(planned.from);
    const Bytes got = written.bytes.subspan(done * size_of(planned.dtype), count * size_of(planned.dtype));
    if (planned.from != planned.dtype) {
      if (const auto bad = find_badly_rounded(run, planned.from, got, planned.dtype))
        refuse_tensor(where, planned.name,
                      fmt::format("element {} is not its source rounded to {}", done + *bad, to_string(planned.dtype)));
    } else if (!std::equal(run.begin(), run.end(), got.begin(), got.end())) {
      refuse_tensor(where, planned.name, "the bytes read back differ from those written");
    }
    done += count;
  }
}

}  // namespace

void PlannedTensor::write(FileWriter& out) const {
  for (const Bytes run : runs) {
    if (from != dtype) {
      write_cast(run, from, dtype, name, out);
      continue;
    }
    for (size_t at = 0; at < run.size(); at += kPieceBytes)
      out.write(run.subspan(at, std::min(kPieceBytes, run.size() - at)));
  }
}

uint64_t Conversion::size_bytes() const {
  uint64_t size_bytes = 0;
  for (const PlannedTensor& tensor : tensors) size_bytes += tensor.size_bytes();
  return size_bytes;
}

Conversion plan_conversion(const Checkpoint& checkpoint, const ModelConfig& config, const ConversionOptions& options,
                           const std::string& where) {
  ModelConfig resolved = config;
  resolved.layout = find_layout(config, checkpoint);
  const HeadFacts& head = facts_of(detect_head(checkpoint));
  Plan plan{.checkpoint = checkpoint, .config = resolved, .options = options, .head = head};
  TensorReport report = compare_tensors(checkpoint, resolved, plan.head, where);
  if (!report.errors.empty()) throw Error(ErrorCode::kTensors, std::move(report.errors));
  // They can be carried along unchanged; what they would be in another layout is unknown.
  if (plan.changes_layout() && !report.unread.empty()) throw Error(ErrorCode::kTensors, std::move(report.unread));
  if (plan.changes_layout()) {
    std::vector<Problem> obstacles = find_layout_obstacles(checkpoint, resolved, plan.layout(), where);
    if (!obstacles.empty()) throw Error(ErrorCode::kUnsupported, std::move(obstacles));
  }
  plan_tensors(plan);
  plan_config(plan);
  for (const std::string& path : checkpoint.paths())
    plan.conversion.source_files.push_back(path.substr(path.rfind('/') + 1));
  return std::move(plan.conversion);
}

void verify_tensors(const Conversion& conversion, const Checkpoint& written, const std::string& where) {
  for (const PlannedTensor& planned : conversion.tensors) {
    const TensorView* tensor = written.find(planned.canonical);
    if (tensor == nullptr) refuse_tensor(where, planned.name, "missing from the written files");
    verify_tensor(planned, *tensor, where);
  }
  if (written.tensors().size() != conversion.tensors.size())
    throw Error(
        ErrorCode::kTensors, where,
        fmt::format("expected {} written tensors, got {}", conversion.tensors.size(), written.tensors().size()));
}

}  // namespace deberta
