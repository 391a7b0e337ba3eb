// Draws the generator's words, relabels the batch, and scores the discriminator over all real tokens.
#include "train/objectives/replaced_tokens.h"

#include <ATen/TensorOperators.h>

#include <string>

#include "deberta/error.h"
#include "train/objectives/task_losses.h"

namespace deberta::train {
namespace {

// Runs `change` on each table that both models have.
template <class Change>
void change_tables(Model& discriminator, const Model& generator, const Change& change) {
  change(discriminator.embeddings.word_VE, generator.embeddings.word_VE);
  if (discriminator.form.reads_positions()) {
    change(discriminator.embeddings.position_PE, generator.embeddings.position_PE);
  }
}

// Which word each row draws.
WordDraw make_draw(const TrainBatch& batch, const DropoutStream& dropout) {
  WordDraw draw{.key = random_key(dropout.seed, RandomDomain::kGeneratorSample), .samples_P = {}, .positions_P = {}};
  size_t sequence = 0;
  for (const int32_t row : batch.rows_P) {
    while (sequence + 1 < batch.sequences() && row >= batch.starts[sequence + 1]) ++sequence;
    const uint64_t number = batch.first_sequence + static_cast<uint64_t>(sequence);
    draw.samples_P.push_back(static_cast<uint64_t>(dropout.step) << 32 | number);
    draw.positions_P.push_back(row - batch.starts[sequence]);
  }
  return draw;
}

void check_size(const char* what, int64_t generator, int64_t discriminator) {
  if (generator == discriminator) return;
  throw Error(ErrorCode::kUsage, "discriminator",
              std::string(what) + ": expected " + std::to_string(generator) + " as the generator has, got " +
                  std::to_string(discriminator) + "; or give each its own embeddings");
}

}  // namespace

void check_pair(const ModelForm& generator, const ModelForm& discriminator, TableSharing sharing) {
  const ModelConfig &g = generator.config, &d = discriminator.config;
  if (g.vocab_size != d.vocab_size) {
    throw Error(ErrorCode::kUsage, "discriminator",
                "vocab_size: expected " + std::to_string(g.vocab_size) + ", whose ids the generator draws, got " +
                    std::to_string(d.vocab_size));
  }
  if (sharing == TableSharing::kNone) return;
  check_size("embedding_size", g.embedding_size, d.embedding_size);
  if (!discriminator.reads_positions()) return;
  check_size("max_position_embeddings", generator.reads_positions() ? g.max_position_embeddings : 0,
             d.max_position_embeddings);
}

Model join_tables(const Model& discriminator, const Model& generator, TableSharing sharing) {
  Model joined = discriminator;
  change_tables(joined, generator, [&](at::Tensor& table, const at::Tensor& of_generator) {
    if (sharing == TableSharing::kSame) table = of_generator;
    if (sharing == TableSharing::kDisentangled) table = of_generator.detach() + table;
  });
  return joined;
}

void hold_difference(Model& discriminator, const Model& generator) {
  change_tables(discriminator, generator, [](const at::Tensor& table, const at::Tensor& of_generator) {
    table.detach().sub_(of_generator.detach());
  });
}

void clear_difference(Model& discriminator) {
  change_tables(discriminator, discriminator,
                [](const at::Tensor& table, const at::Tensor&) { table.detach().zero_(); });
}

GeneratorLoss generator_loss(Model& generator, const Compute& compute, const TrainBatch& batch,
                             const DropoutStream& dropout) {
  const WordDraw draw = make_draw(batch, dropout);
  CrossEntropy result = predict_words(generator, compute, batch, dropout, &draw);
  return {{result.sum, static_cast<int64_t>(batch.labels_P.size()), result.correct}, std::move(result.drawn_P)};
}

TrainBatch replace_tokens(const TrainBatch& batch, std::span<const int32_t> ids_P) {
  if (ids_P.size() != batch.rows_P.size()) {
    throw Error(ErrorCode::kInput, "batch",
                "drawn ids: expected " + std::to_string(batch.rows_P.size()) + ", one for each row to predict, got " +
                    std::to_string(ids_P.size()));
  }
  TrainBatch replaced = batch;
  std::vector<int32_t> labels_T(batch.tokens(), 0);
  for (size_t n = 0; n < ids_P.size(); ++n) {
    const auto row = static_cast<size_t>(batch.rows_P[n]);
    if (ids_P[n] >= 0) replaced.ids_T[row] = ids_P[n];
    labels_T[row] = replaced.ids_T[row] != batch.labels_P[n];
  }
  replaced.rows_P.clear();
  replaced.labels_P.clear();
  for (size_t t = 0; t < batch.tokens(); ++t) {
    if (!batch.mask_T.empty() && batch.mask_T[t] == 0) continue;
    replaced.rows_P.push_back(static_cast<int32_t>(t));
    replaced.labels_P.push_back(labels_T[t]);
  }
  return replaced;
}

DiscriminatorLoss discriminator_loss(const Model& discriminator, const Compute& compute, const TrainBatch& batch,
                                     const DropoutStream& dropout) {
  DropoutStream own_dropout = dropout;
  own_dropout.seed = random_key(dropout.seed, RandomDomain::kDiscriminatorDropout);
  const Pass pass = make_pass(discriminator, compute, input_of(batch), own_dropout);
  const at::Tensor logits_T1 = replaced_logits(pass, discriminator.head, encode(pass, discriminator).hidden_TD.back());
  const at::Tensor logits_P1 = take_rows(logits_T1, batch.rows_P);
  const std::vector<float> labels_P(batch.labels_P.begin(), batch.labels_P.end());
  DiscriminatorLoss result{.loss = binary_loss(logits_P1, labels_P)};
  const at::Tensor flagged_P = logits_P1.detach().ge(0).flatten();
  const at::Tensor replaced_P = to_index(batch.labels_P, logits_P1).ne(0);
  result.replaced = replaced_P.sum().item<int64_t>();
  result.flagged = flagged_P.sum().item<int64_t>();
  result.detected = flagged_P.logical_and(replaced_P).sum().item<int64_t>();
  return result;
}

}  // namespace deberta::train
