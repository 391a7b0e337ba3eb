// The one table of tensors (model-heads.md#tensors): canonical name, shape, variant, condition. It drives loading,
// exporting, the training half's parameter names and the list of parity cases.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "deberta/checkpoint.h"
#include "deberta/config.h"
#include "deberta/error.h"
#include "heads/head_facts.h"

namespace deberta {

// A tensor that a model of a given configuration and head has.
struct TensorSpec {
  std::string name;  // canonical: without "deberta."; {n} expanded
  Shape shape;       // symbolic dimensions of the table filled in from the configuration
  bool is_required = true;
};

// Every tensor of the encoder and of `head`. `labels`: number of classes C, taken from the checkpoint's classifier.
std::vector<TensorSpec> list_tensors(const ModelConfig& config, const HeadFacts& head, int64_t labels);

// The head that the tensors of `checkpoint` form.
Head detect_head(const Checkpoint& checkpoint);

// `architectures` for a model of `head` in `layout`: the names of `config` as far as they fit the head, else its own.
std::vector<std::string> architectures_of(const ModelConfig& config, const HeadFacts& head, Layout layout);

// By the tensors of layer 0: files of the original code have no model_type, and their projections may be fused (v1).
Layout detect_layout(const Checkpoint& checkpoint);

// The layout that `config` names, else (no model_type) the one that the tensors have.
Layout find_layout(const ModelConfig& config, const Checkpoint& checkpoint);

// Rows of classifier.weight, 0 without one: the `labels` of list_tensors and of HeadFacts::outputs.
int64_t count_labels(const Checkpoint& checkpoint);

// The output table of a language model that is not its word table; nullptr where that is the output table.
const TensorView* own_output_table(const Checkpoint& checkpoint, const ModelConfig& config);

// Compares `checkpoint` with the table: every missing, unexpected and wrong-shaped tensor. Names that published files
// carry beside the model (position_ids, _weight, other heads) are not unexpected.
struct TensorReport {
  std::vector<Problem> errors;
  std::vector<Problem> warnings;
  std::vector<Problem> unread;  // warnings too: tensors that nothing here reads, where none is missing
};
TensorReport compare_tensors(const Checkpoint& checkpoint, const ModelConfig& config, const HeadFacts& head,
                             const std::string& where);

}  // namespace deberta
