// What follows from the rows: the tensors of a configuration, the head that a file has, the comparison of the two.
#include "checkpoint/tensor_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "base/checked.h"
#include "base/nearest.h"
#include "checkpoint/tensor.h"
#include "checkpoint/tensor_rows.h"
#include "config/extraction_config.h"
#include "config/model_config.h"

namespace deberta {
namespace {

// Of the two layers that project the ends of a span.
int64_t inner_columns(const ExtractionConfig& extraction) {
  return (extraction.span_mode == SpanMode::kMarker ? 2 : 4) * extraction.hidden_size;
}

int64_t value_of(char letter, const ModelConfig& c, int64_t labels) {
  switch (letter) {
    case 'V':
      return c.vocab_size;
    case 'E':
      return c.embedding_size;
    case 'D':
      return c.hidden_size;
    case 'H':
      return c.num_attention_heads;
    case 'K':
      return c.attention_head_size;
    case 'F':
      return c.intermediate_size;
    case 'R':
      return 2 * c.span();
    case 'P':
      return c.max_position_embeddings;
    case 'Y':
      return c.type_vocab_size;
    case 'C':
      return labels;
    case 'W':
      return c.conv_kernel_size;
    case 'G':
      return c.conv_groups;
    case 'U':
      return c.extraction ? c.extraction->hidden_size : 0;
    case 'I':
      return c.extraction ? inner_columns(*c.extraction) : 0;
    default:
      throw Error(ErrorCode::kInternal, "tensor table", fmt::format("unknown dimension {}", letter));
  }
}

// "D,D/G,W" with the configuration's values. Factors are one letter or one digit.
Shape evaluate_shape(std::string_view text, const ModelConfig& config, int64_t labels) {
  Shape shape(1, 1);
  char operation = '*';
  for (const char c : text) {
    if (c == ',') {
      shape.push_back(1);
      operation = '*';
    } else if (c == '*' || c == '/') {
      operation = c;
    } else {
      const int64_t factor = c >= '0' && c <= '9' ? c - '0' : value_of(c, config, labels);
      shape.back() = operation == '*' ? shape.back() * factor : shape.back() / factor;
    }
  }
  return shape;
}

TensorSpec make_spec(const TensorRow& row, const ModelConfig& config, int64_t layer, int64_t labels) {
  std::string name(row.name);
  if (row.is_of_layers()) name.replace(name.find(kLayerMark), kLayerMark.size(), std::to_string(layer));
  return {std::move(name), evaluate_shape(row.shape, config, labels), row.is_required(config)};
}

// `config.json has conv_kernel_size 3`, from the file as it was read.
std::string describe_key(const Json& document, std::string_view where, std::string_view key) {
  const Json* value = document.find(key);
  if (value == nullptr) return fmt::format("{} has no {}", where, key);
  return fmt::format("{} has {} {}", where, key, value->dump(0, JsonForm::kPython));
}

std::string describe_key(const ModelConfig& config, std::string_view key) {
  return describe_key(raw_document(config), config.extraction ? "encoder_config" : "config.json", key);
}

// The same for a key of this row, which may be one of the file of the head's own.
std::string describe_key(const ModelConfig& config, const TensorRow& row) {
  if (!config.extraction || find_head_tensor(row.name) == nullptr) return describe_key(config, row.key);
  return describe_key(raw_document(*config.extraction), kExtractionFile, row.key);
}

constexpr std::string_view kV1Class = "Deberta";
constexpr std::string_view kV2Class = "DebertaV2";

// What follows "Deberta" or "DebertaV2" in the name of a class; empty when it begins with neither.
std::string_view ending_of(std::string_view architecture) {
  for (const std::string_view begin : {kV2Class, kV1Class}) {
    if (architecture.starts_with(begin)) return architecture.substr(begin.size());
  }
  return {};
}

// One comparison: the expected tensors, the stored ones, the differences.
struct Comparison {
  const Checkpoint& checkpoint;
  const ModelConfig& config;
  const HeadFacts& head;
  std::string where;
  std::unordered_map<std::string, TensorSpec> expected;
  std::vector<std::string> missing;                        // in the order of the table
  std::map<std::string, std::vector<std::string>> unread;  // by reason: one layer too many is sixteen tensors
  TensorReport report;

  void refuse(std::string message) { report.errors.push_back({where, std::move(message)}); }
  void warn_of(std::string message) { report.warnings.push_back({where, std::move(message)}); }
};

std::string hint_for(const Comparison& comparison, const TensorRow* row) {
  if (row == nullptr || row->key.empty()) return {};
  return "; " + describe_key(comparison.config, *row);
}

void find_missing(Comparison& comparison, const std::vector<TensorSpec>& specs) {
  std::string names;
  std::vector<const TensorRow*> rows;  // the first of each key
  for (const TensorSpec& spec : specs) {
    if (!spec.is_required || comparison.checkpoint.find(spec.name) != nullptr) continue;
    comparison.missing.push_back(spec.name);
    names += (names.empty() ? "" : ", ") + spec.name;
    const TensorRow* row = find_tensor_row(spec.name);
    if (!row->key.empty() && std::ranges::find(rows, row->key, &TensorRow::key) == rows.end()) rows.push_back(row);
  }
  if (comparison.missing.empty()) return;
  std::string hints;
  for (const TensorRow* row : rows) hints += hint_for(comparison, row);
  const size_t count = comparison.missing.size();
  comparison.refuse(fmt::format("{} {} missing: {}{}", count, count == 1 ? "tensor" : "tensors", names, hints));
}

void check_spec(Comparison& comparison, const TensorView& tensor, const TensorSpec& spec) {
  if (tensor.shape != spec.shape) {
    comparison.refuse(fmt::format("tensor {}: expected shape {}, got {}{}", tensor.name, to_string(spec.shape),
                                  to_string(tensor.shape), hint_for(comparison, find_tensor_row(spec.name))));
  } else if (!is_float(tensor.dtype)) {
    comparison.refuse(
        fmt::format("tensor {}: expected F64, F32, F16 or BF16, got {}", tensor.name, to_string(tensor.dtype)));
  }
}

// A name that the table knows and this configuration lacks, or one close to a missing name, or an unknown one.
std::string explain_unexpected(const Comparison& comparison, const TensorView& tensor, bool may_suggest) {
  const TensorRow* row = find_tensor_row(tensor.name);
  if (row != nullptr && row->is_of_layers() && row->layers == nullptr && row->exists(comparison.config)) {
    return "; " + describe_key(comparison.config, "num_hidden_layers");
  }
  const TensorRow* of_head = find_head_tensor(tensor.name);
  if (of_head != nullptr && of_head->exists(comparison.config))
    return fmt::format("; the head is {}", comparison.head.name);
  if (row != nullptr) return hint_for(comparison, row);
  if (!may_suggest) return {};
  const std::vector<std::string_view> candidates(comparison.missing.begin(), comparison.missing.end());
  const std::string_view near = nearest_match(tensor.name, candidates);
  return near.empty() ? std::string() : fmt::format("; did you mean {}?", near);
}

bool is_tied_copy(Comparison& comparison, const TensorView& tensor) {
  for (const TiedTensor& tied : tied_tensors()) {
    if (tensor.name != tied.name) continue;
    if (!comparison.head.predicts_words()) return true;  // what it was trained from
    const TensorView* original = comparison.checkpoint.find(tied.same_as);
    const bool is_same =
        original != nullptr && original->dtype == tensor.dtype && original->shape == tensor.shape &&
        std::equal(tensor.bytes.begin(), tensor.bytes.end(), original->bytes.begin(), original->bytes.end());
    if (!is_same)
      comparison.refuse(
          fmt::format("tensor {}: expected the values of {}, got different ones; if it is a separate table, set "
                      "tie_word_embeddings to false in config.json",
                      tensor.name, tied.same_as));
    return true;
  }
  return false;
}

bool is_silent(std::string_view name) {
  const TensorRow* row = find_tensor_row(name);
  return is_ignored_tensor(name) || (row != nullptr && row->may_accompany);
}

// The library reads what it wants and ignores the rest. A tensor that may be a wanted one under another name, or a
// second head, is another matter: then it is unclear which model was meant.
bool is_harmless(const Comparison& comparison, std::string_view name) {
  return comparison.missing.empty() && find_head_tensor(name) == nullptr;
}

void check_present(Comparison& comparison) {
  constexpr size_t kMaxSuggestions = 20;  // each costs an edit distance to every missing name
  size_t unexpected = 0;
  for (const TensorView& tensor : comparison.checkpoint.tensors()) {
    const auto at = comparison.expected.find(tensor.name);
    if (at != comparison.expected.end()) {
      check_spec(comparison, tensor, at->second);
    } else if (!is_tied_copy(comparison, tensor) && !is_silent(tensor.name)) {
      const std::string reason = explain_unexpected(comparison, tensor, ++unexpected <= kMaxSuggestions);
      std::string message = fmt::format("unexpected tensor {} {}{}", tensor.name, to_string(tensor.shape), reason);
      if (is_harmless(comparison, tensor.name)) {
        comparison.unread[reason].push_back(tensor.name);
      } else {
        comparison.refuse(std::move(message));
      }
    }
  }
}

void report_unread(Comparison& comparison) {
  constexpr size_t kMaxShown = 3;
  for (const auto& [reason, names] : comparison.unread) {
    const auto end = names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kMaxShown));
    std::string message = fmt::format("{} that this configuration does not use {} not read: {}{}{}",
                                      names.size() == 1 ? "1 tensor" : fmt::format("{} tensors", names.size()),
                                      names.size() == 1 ? "is" : "are", fmt::join(names.begin(), end, ", "),
                                      names.size() > kMaxShown ? ", ..." : "", reason);
    comparison.report.unread.push_back({comparison.where, std::move(message)});
  }
}

void check_labels(Comparison& comparison, int64_t labels) {
  const auto named = static_cast<int64_t>(comparison.config.labels.size());
  const int64_t expected = named > 0 ? named : comparison.config.num_labels;
  if (labels == 0 || expected == 0 || expected == labels) return;
  comparison.refuse(fmt::format("tensor classifier.weight: expected {} rows, {}, got {}", expected,
                                named > 0 ? "one for each label of id2label" : "as num_labels says", labels));
}

// A GLiNER model's configuration has those of the model that its encoder was.
void check_architectures(Comparison& comparison) {
  if (comparison.config.extraction) return;
  for (const std::string& name : comparison.config.architectures) {
    const auto is_named = [&](const HeadUse& use) { return name.ends_with(use.ending); };
    if (find_head(name) == nullptr || std::ranges::any_of(comparison.head.uses, is_named)) continue;
    comparison.warn_of(fmt::format("architectures names {}, but the tensors form the head {}; the tensors are used",
                                   name, comparison.head.name));
  }
}

}  // namespace

int64_t count_labels(const Checkpoint& checkpoint) {
  const TensorView* classifier = checkpoint.find("classifier.weight");
  return classifier == nullptr || classifier->shape.empty() ? 0 : classifier->shape[0];
}

std::vector<TensorSpec> list_tensors(const ModelConfig& config, const HeadFacts& head, int64_t labels) {
  std::vector<TensorSpec> specs;
  const auto add = [&](std::span<const TensorRow> rows, bool of_layers, int64_t layer) {
    for (const TensorRow& row : rows) {
      if (row.is_of_layers() == of_layers && row.exists(config)) specs.push_back(make_spec(row, config, layer, labels));
    }
  };
  add(encoder_rows(), false, 0);
  const int64_t layers = config.num_hidden_layers + (head.predicts_words() ? config.decoder_layers() : 0);
  for (int64_t layer = 0; layer < layers; ++layer) add(encoder_rows(), true, layer);
  for (const TensorRow& row : head.tensors) {
    if (!row.exists(config)) continue;
    const int64_t copies = row.is_of_layers() ? row.layers(config) : 1;
    for (int64_t layer = 0; layer < copies; ++layer) specs.push_back(make_spec(row, config, layer, labels));
  }
  return specs;
}

const TensorView* own_output_table(const Checkpoint& checkpoint, const ModelConfig& config) {
  return config.ties_output ? nullptr : checkpoint.find(kOutputTable);
}

Head detect_head(const Checkpoint& checkpoint) {
  const auto has = [&](std::string_view name) { return checkpoint.find(name) != nullptr; };
  const auto is_there = [&](const HeadFacts* head) { return std::ranges::all_of(head->marks, has); };
  return (*std::ranges::find_if(all_heads(), is_there))->head;  // the last one has no marks
}

std::vector<std::string> architectures_of(const ModelConfig& config, const HeadFacts& head, Layout layout) {
  const std::string_view begin = layout == Layout::kV1 ? kV1Class : kV2Class;
  const auto fits = [&](const HeadUse& use) { return use.fits(config); };
  std::vector<std::string> names;
  for (const std::string& name : config.architectures) {
    const std::string_view ending = ending_of(name);
    const bool is_right =
        std::ranges::any_of(head.uses, [&](const HeadUse& use) { return use.ending == ending && fits(use); });
    if (is_right) names.push_back(fmt::format("{}{}", begin, ending));
  }
  if (!names.empty()) return names;
  return {fmt::format("{}{}", begin, std::ranges::find_if(head.uses, fits)->ending)};
}

Layout detect_layout(const Checkpoint& checkpoint) {
  return checkpoint.find("encoder.layer.0.attention.self.in_proj.weight") != nullptr ? Layout::kV1 : Layout::kV2;
}

Layout find_layout(const ModelConfig& config, const Checkpoint& checkpoint) {
  const Json document = raw_document(config);
  const Json* type = document.find("model_type");
  return type != nullptr && !type->is_null() ? config.layout : detect_layout(checkpoint);
}

TensorReport compare_tensors(const Checkpoint& checkpoint, const ModelConfig& config, const HeadFacts& head,
                             const std::string& where) {
  Comparison comparison{.checkpoint = checkpoint,
                        .config = config,
                        .head = head,
                        .where = where,
                        .expected = {},
                        .missing = {},
                        .unread = {},
                        .report = {}};
  const int64_t labels = count_labels(checkpoint);
  const std::vector<TensorSpec> specs = list_tensors(config, head, labels);
  for (const TensorSpec& spec : specs) comparison.expected.emplace(spec.name, spec);
  find_missing(comparison, specs);
  check_present(comparison);
  report_unread(comparison);
  check_labels(comparison, labels);
  check_architectures(comparison);
  return std::move(comparison.report);
}

}  // namespace deberta
