// Reads and writes the `_weight` tensors, and compares the loss with and without the difference.
#include "train/pretrain/pair_difference.h"

#include <ATen/ops/from_blob.h>

#include <array>
#include <cstdio>
#include <string_view>
#include <utility>

#include "checkpoint/tensor.h"
#include "deberta/error.h"
#include "train/model/parameters.h"

namespace deberta::train {
namespace {

struct Table {
  std::string_view weight, difference;  // names in files
};
constexpr std::array kTables = {
    Table{"embeddings.word_embeddings.weight", "embeddings.word_embeddings._weight"},
    Table{"embeddings.position_embeddings.weight", "embeddings.position_embeddings._weight"},
};

// The name of its difference, for a table; else empty.
std::string difference_name(const std::string& name) {
  for (const Table& table : kTables) {
    if (table.weight == name) return std::string(table.difference);
  }
  return "";
}

double mean_loss(const Model& discriminator, const Compute& compute, const TrainBatch& batch,
                 const DropoutStream& dropout) {
  const Loss loss = discriminator_loss(discriminator, compute, batch, dropout).loss;
  return loss.sum.item<double>() / static_cast<double>(loss.count);
}

}  // namespace

std::vector<TensorView> difference_tensors(Model& discriminator) {
  std::vector<TensorView> tensors;
  for (TensorView& view : to_views(discriminator)) {
    std::string name = difference_name(view.name);
    if (name.empty()) continue;
    view.name = std::move(name);
    tensors.push_back(std::move(view));
  }
  return tensors;
}

bool load_difference(Model& discriminator, const Checkpoint& files) {
  if (files.find(kTables[0].difference) == nullptr) return false;
  visit(discriminator, [&](const ParameterSpec& spec, at::Tensor& tensor) {
    const std::string name = difference_name(spec.name);
    if (name.empty()) return;
    const TensorView* view = files.find(name);
    if (view == nullptr || view->shape != spec.shape) {
      throw Error(ErrorCode::kTensors, files.paths().front(),
                  "tensor " + name + ": expected shape " + to_string(spec.shape) + ", got " +
                      (view == nullptr ? "none" : to_string(view->shape)));
    }
    std::vector<float> values = to_fp32(*view);
    tensor.detach().copy_(at::from_blob(values.data(), tensor.sizes(), at::kFloat));
  });
  return true;
}

std::string DifferenceEffect::describe() const {
  char text[256];
  std::snprintf(text, sizeof text, "the discriminator's loss on the first batch is %.6g", with);
  if (is_zero) return std::string(text) + ", with the generator's tables";
  const size_t length = std::char_traits<char>::length(text);
  std::snprintf(text + length, sizeof text - length, " with its tables, %.6g with the generator's", without);
  if (helps()) return text;
  return std::string(text) +
         ": its own tables should give the lower loss; do both models come from the same run? The run continues with "
         "its own tables";
}

DifferenceEffect effect_of_difference(PairTrainer& pair, const Compute& compute, const TrainBatch& batch,
                                      DropoutStream dropout) {
  dropout.is_training = false;
  const TrainBatch replaced = replace_tokens(batch, generator_loss(pair.generator(), compute, batch, dropout).ids_P);
  const Model own = pair.joined_discriminator();
  const Model with_generators = join_tables(pair.discriminator(), pair.generator(), TableSharing::kSame);
  return {.with = mean_loss(own, compute, replaced, dropout),
          .without = mean_loss(with_generators, compute, replaced, dropout),
          .is_zero = own.embeddings.word_VE.equal(with_generators.embeddings.word_VE)};
}

}  // namespace deberta::train
