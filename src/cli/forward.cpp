// The verb `forward`: runs texts, or ids from a file, through the model and writes everything it computes to a file,
// for debugging and for comparison with other implementations. Padded in, padded out: rows of masked tokens are 0, or
// with --compat hf what transformers computes there.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "base/checked.h"
#include "base/utf8.h"
#include "checkpoint/safetensors.h"
#include "checkpoint/tensor.h"
#include "cli/id_arrays.h"
#include "cli/verbs.h"
#include "deberta/error.h"
#include "deberta/model.h"
#include "deberta/tokenizer.h"
#include "heads/head_facts.h"
#include "pipeline/entity_model.h"
#include "program/model_options.h"
#include "program/note.h"
#include "program/output.h"
#include "program/row_loop.h"

namespace deberta::cli {
namespace {

// The inputs of one run.
struct Inputs {
  size_t sequences = 0;
  size_t length = 0;
  std::vector<int32_t> ids_BL = {}, type_ids_BL = {}, position_ids_BL = {};
  std::vector<uint8_t> mask_BL = {}, mask_BLL = {};  // at most one of them
  std::vector<int32_t> buckets_LL = {};
  bool keeps_padding = false;

  int64_t rows() const { return static_cast<int64_t>(sequences); }
  int64_t columns() const { return static_cast<int64_t>(length); }
  bool is_masked(size_t row) const { return !mask_BL.empty() && mask_BL[row] == 0; }

  PackedRows pack() const {
    return deberta::pack({.sequences = sequences,
                          .length = length,
                          .ids_BL = ids_BL,
                          .mask_BL = mask_BL,
                          .type_ids_BL = type_ids_BL,
                          .position_ids_BL = position_ids_BL,
                          .mask_BLL = mask_BLL,
                          .buckets_LL = buckets_LL,
                          .keeps_padding = keeps_padding});
  }
};

[[noreturn]] void refuse(const SafetensorsFile& file, std::string message) {
  throw Error(ErrorCode::kInput, file.path(), std::move(message));
}

// Empty when the file has no such tensor.
std::vector<int32_t> int32_tensor(const SafetensorsFile& file, const std::string& name, const Shape& shape) {
  const TensorView* tensor = file.find(name);
  if (tensor == nullptr) return {};
  if (tensor->shape != shape)
    refuse(file, fmt::format("{}: expected shape {}, got {}", name, to_string(shape), to_string(tensor->shape)));
  std::vector<int32_t> values;
  for (const int64_t value : to_int64(*tensor)) {
    if (!std::in_range<int32_t>(value)) refuse(file, fmt::format("{}: {} is out of range", name, value));
    values.push_back(static_cast<int32_t>(value));
  }
  return values;
}

// [B, L], or [B, L, L] where each query has its own.
void load_mask(const SafetensorsFile& file, Inputs& inputs) {
  const TensorView* tensor = file.find("attention_mask");
  if (tensor == nullptr) return;
  const bool is_3d = tensor->shape.size() == 3;
  Shape shape{inputs.rows(), inputs.columns()};
  if (is_3d) shape.push_back(inputs.columns());
  for (const int32_t value : int32_tensor(file, "attention_mask", shape)) {
    if (value != 0 && value != 1) refuse(file, fmt::format("attention_mask: expected 0 or 1, got {}", value));
    (is_3d ? inputs.mask_BLL : inputs.mask_BL).push_back(static_cast<uint8_t>(value));
  }
}

// The texts among the arguments, padded to the longest.
IdArrays tokenize_texts(const ForwardVerb& options) {
  std::vector<std::string> texts = options.arguments;
  if (texts.empty())
    throw Error(ErrorCode::kUsage, "forward",
                "expected texts, or --ids and a safetensors file with input_ids, got none");
  if (!options.mask.empty()) throw Error(ErrorCode::kUsage, "--mask", "expected --ids as well, got texts");
  if (options.pair && texts.size() % 2 != 0)
    throw Error(ErrorCode::kUsage, "--pair", fmt::format("expected pairs of texts, got {} texts", texts.size()));
  size_t repaired = 0;
  for (std::string& text : texts) {
    if (is_valid_utf8(text)) continue;
    text = replace_invalid_utf8(text);
    ++repaired;
  }
  program::note_repaired_rows(repaired);
  const Tokenizer tokenizer = Tokenizer::load(program::tokenizer_path(options.model.name), options.tokenizer);
  std::vector<Encoding> encodings;
  for (size_t i = 0; i < texts.size(); i += options.pair ? 2 : 1)
    encodings.push_back(options.pair ? tokenizer.encode_pair(texts[i], texts[i + 1]) : tokenizer.encode(texts[i]));
  return to_arrays(encodings, tokenizer.special().pad);
}

Inputs inputs_of(const IdArrays& arrays, bool keeps_padding) {
  const auto narrow = [](const std::vector<int64_t>& values) {
    return std::vector<int32_t>(values.begin(), values.end());
  };
  return {.sequences = arrays.texts,
          .length = arrays.length,
          .ids_BL = narrow(arrays.ids_BL),
          .type_ids_BL = narrow(arrays.type_ids_BL),
          .mask_BL = {arrays.mask_BL.begin(), arrays.mask_BL.end()},
          .keeps_padding = keeps_padding};
}

Inputs load_inputs(const ForwardVerb& options) {
  const SafetensorsFile file(options.ids);
  const TensorView* ids = file.find("input_ids");
  if (ids == nullptr) refuse(file, "no tensor input_ids");
  if (ids->shape.size() != 2)
    refuse(file, fmt::format("input_ids: expected shape [B, L], got {}", to_string(ids->shape)));
  Inputs inputs;
  inputs.sequences = static_cast<size_t>(ids->shape[0]);
  inputs.length = static_cast<size_t>(ids->shape[1]);
  inputs.ids_BL = int32_tensor(file, "input_ids", ids->shape);
  inputs.type_ids_BL = int32_tensor(file, "token_type_ids", ids->shape);
  inputs.position_ids_BL = int32_tensor(file, "position_ids", ids->shape);
  inputs.buckets_LL = int32_tensor(file, "relative_buckets", {inputs.columns(), inputs.columns()});
  inputs.keeps_padding = options.model.compat == Compat::kHf;
  const std::string& mask_path = options.mask;
  if (mask_path.empty()) {
    load_mask(file, inputs);
    return inputs;
  }
  const SafetensorsFile mask_file(mask_path);
  if (mask_file.find("attention_mask") == nullptr) refuse(mask_file, "no tensor attention_mask");
  load_mask(mask_file, inputs);
  return inputs;
}

std::vector<int32_t> wanted_layers(const ForwardVerb& options, int64_t layers) {
  std::vector<int32_t> wanted;
  const auto names = options.layers;
  if (names == std::vector<std::string>{"none"}) return wanted;
  if (names == std::vector<std::string>{"all"}) {
    for (int64_t n = 0; n <= layers; ++n) wanted.push_back(static_cast<int32_t>(n));
    return wanted;
  }
  for (const std::string& name : names) {
    const auto layer = parse_number<int32_t>(name);
    if (!layer || *layer < 0 || *layer > layers || (!wanted.empty() && *layer <= wanted.back())) {
      throw Error(ErrorCode::kUsage, "--layers",
                  fmt::format("expected ascending numbers in 0..{}, got \"{}\"", layers, name));
    }
    wanted.push_back(*layer);
  }
  return wanted;
}

// Collects the tensors of the output file and owns their values.
class Outputs {
 public:
  void add(const std::string& name, Shape shape, std::vector<float> values) {
    storage_.push_back(std::move(values));
    tensors_.push_back({name, DType::kF32, std::move(shape), std::as_bytes(std::span(storage_.back()))});
  }
  // Scatters the rows of a pack to their places in [B, L, columns].
  void add_rows(const std::string& name, const Inputs& inputs, const PackedRows& packed, const std::vector<float>& rows,
                size_t columns) {
    std::vector<float> padded(inputs.sequences * inputs.length * columns);
    for (size_t t = 0; t < packed.rows_T.size(); ++t) {
      const auto to = static_cast<size_t>(packed.rows_T[t]);
      if (inputs.is_masked(to) && !inputs.keeps_padding) continue;
      std::copy_n(rows.data() + t * columns, columns, padded.data() + to * columns);
    }
    add(name, {inputs.rows(), inputs.columns(), static_cast<int64_t>(columns)}, std::move(padded));
  }
  const std::vector<TensorView>& tensors() const { return tensors_; }

 private:
  std::deque<std::vector<float>> storage_;  // elements stay in place while it grows
  std::vector<TensorView> tensors_;
};

// Scatters [H, L, L] of each sequence's own tokens to [B, H, L, L] of the padded rows.
void add_scores(Outputs& outputs, const ModelConfig& config, const Inputs& inputs, const PackedRows& packed,
                const ForwardResult& result) {
  const auto heads = static_cast<size_t>(config.num_attention_heads);
  struct Term {
    const char* name;
    std::vector<float> AttentionScores::*values;
  };
  for (const Term& term :
       {Term{"c2c", &AttentionScores::c2c_HLL}, Term{"c2p", &AttentionScores::c2p_HLL},
        Term{"p2c", &AttentionScores::p2c_HLL}, Term{"probabilities", &AttentionScores::probabilities_HLL}}) {
    for (int32_t layer = 1; layer <= config.num_hidden_layers; ++layer) {
      std::vector<float> padded(inputs.sequences * heads * inputs.length * inputs.length);
      bool has_term = false;
      for (const AttentionScores& scores : result.scores) {
        const std::vector<float>& values = scores.*term.values;
        if (scores.layer != layer || values.empty()) continue;
        has_term = true;
        const auto b = static_cast<size_t>(scores.sequence);
        const auto start = static_cast<size_t>(packed.batch.starts[b]);
        const size_t length = static_cast<size_t>(packed.batch.starts[b + 1]) - start;
        const size_t first = length == 0 ? 0 : static_cast<size_t>(packed.rows_T[start]) - b * inputs.length;
        for (size_t h = 0; h < heads; ++h) {
          for (size_t i = 0; i < length; ++i) {
            std::copy_n(values.data() + (h * length + i) * length, length,
                        padded.data() + ((b * heads + h) * inputs.length + first + i) * inputs.length + first);
          }
        }
      }
      if (!has_term) continue;
      outputs.add(fmt::format("layer.{}.{}", layer, term.name),
                  {inputs.rows(), config.num_attention_heads, inputs.columns(), inputs.columns()}, std::move(padded));
    }
  }
}

// Scores of entities are of labels, which this verb has none of.
bool has_logits(const HeadFacts& head) {
  return head.has_logits() && !head.takes_labelled_words();
}

Outputs collect_outputs(const Model& model, const Inputs& inputs, const PackedRows& packed,
                        const ForwardResult& result) {
  Outputs outputs;
  for (const Hidden& hidden : result.hidden) {
    outputs.add_rows(fmt::format("hidden.{}", hidden.layer), inputs, packed, hidden.rows_TD,
                     static_cast<size_t>(model.config().hidden_size));
  }
  if (!result.pooled_BD.empty()) {
    outputs.add("pooled", {inputs.rows(), static_cast<int64_t>(result.pooled_BD.size()) / inputs.rows()},
                result.pooled_BD);
  }
  const HeadFacts& head = facts_of(model.head());
  if (head.is_per_sequence()) {
    outputs.add("logits", {inputs.rows(), static_cast<int64_t>(result.logits_columns)}, result.logits);
  } else if (has_logits(head)) {
    outputs.add_rows("logits", inputs, packed, result.logits, result.logits_columns);
  }
  add_scores(outputs, model.config(), inputs, packed, result);
  return outputs;
}

}  // namespace

int run(const ForwardVerb& options) {
  const std::string& output = options.output;
  if (output.empty()) throw Error(ErrorCode::kUsage, "--output", "expected a file for the tensors, got none");
  if (output == "-" && ::isatty(STDOUT_FILENO) != 0)
    throw Error(ErrorCode::kUsage, "--output", "expected a file or a pipe for the tensors, got a terminal");
  if (!options.ids.empty() && !options.arguments.empty())
    throw Error(ErrorCode::kUsage, "--ids", "expected texts or --ids, got both");
  if (!options.ids.empty() && options.pair) throw Error(ErrorCode::kUsage, "--pair", "expected texts, got --ids");
  const IdArrays arrays = options.ids.empty() ? tokenize_texts(options) : IdArrays();
  const Inputs inputs =
      options.ids.empty() ? inputs_of(arrays, options.model.compat == Compat::kHf) : load_inputs(options);
  const std::string path = program::weights_path(options.model.name);
  const ModelConfig config = load_folder_config(path, program::config_rules(options.model));
  const Model model = Model::load(Checkpoint::open(path, program::open_options(options.model)), config,
                                  program::model_options(options.model));

  ForwardOptions forward;
  forward.layers = wanted_layers(options, config.num_hidden_layers);
  forward.wants_scores = options.scores;
  forward.wants_logits = has_logits(facts_of(model.head()));
  const PackedRows packed = inputs.pack();
  ForwardResult result;
  model.forward(packed.batch, forward, result);

  const Outputs outputs = collect_outputs(model, inputs, packed, result);
  program::print_check_report(model);
  std::vector<TensorView> tensors = options.ids.empty() ? arrays.tensors() : std::vector<TensorView>();
  tensors.insert(tensors.end(), outputs.tensors().begin(), outputs.tensors().end());
  program::write_output(output, [&](FileWriter& out) {
    write_safetensors(out, output, to_write(tensors), {{"program", "deberta forward"}});
  });
  for (const TensorView& tensor : tensors) program::note(fmt::format("{} {}", tensor.name, to_string(tensor.shape)));
  return 0;
}

}  // namespace deberta::cli
