// A text through both models of replaced-token detection: mask, draw, label, judge.
// L tokens  M masked tokens  V vocabulary
#include "analysis/replaced_walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>
#include <utility>

#include "decode/text_score.h"
#include "heads/forms.h"
#include "heads/head_facts.h"
#include "kernels/sample_ids.h"
#include "metrics/piece_evaluation.h"

namespace deberta {

void check_pair(const Model& generator, const Model& discriminator, const Tokenizer& tokenizer) {
  const HeadFacts &guesses = facts_of(generator.head()), &judges = facts_of(discriminator.head());
  if (!predicts_masked_words(generator.config(), guesses))
    throw Error(ErrorCode::kTask, "generator",
                fmt::format("expected a masked language model, got {}", use_of(guesses, generator.config()).what));
  if (judges.answers != HeadAnswers::kReplaced)
    throw Error(ErrorCode::kTask, "discriminator",
                fmt::format("expected a head for replaced tokens, got {}", judges.name));
  if (tokenizer.special().mask < 0)
    throw Error(ErrorCode::kInput, "tokenizer", "expected one with a mask token, got none");
}

namespace {

ForwardResult run(const Model& model, const Encoding& encoding, const std::vector<int32_t>& ids,
                  const std::vector<size_t>& rows) {
  Batch batch;
  batch.add(ids, encoding.type_ids);
  ForwardOptions options;
  options.rows.assign(rows.begin(), rows.end());
  ForwardResult result;
  model.forward(batch, options, result);
  return result;
}

// A piece for each mask, by its probability among those of the tokenizer: rows of the table beyond them are no pieces.
std::vector<int32_t> draw(const ForwardResult& logits, const std::vector<size_t>& masks, size_t pieces,
                          const ReplacedWalkOptions& options) {
  const std::vector<uint64_t> samples(masks.size(), options.number);
  const std::vector<int32_t> positions(masks.begin(), masks.end());
  std::vector<int32_t> drawn(masks.size());
  SampleIdsParams p;
  p.logits_RV = logits.logits.data();
  p.stride = logits.logits_columns;
  p.rows = masks.size();
  p.classes = std::min(logits.logits_columns, pieces);
  p.key = options.seed;
  p.samples_R = samples.data();
  p.positions_R = positions.data();
  p.ids_R = drawn.data();
  sample_ids(select_kernels("auto"), p);
  return drawn;
}

// -log sigmoid(x) where the token is replaced, -log sigmoid(-x) where it is not.
double binary_loss(double logit, bool is_replaced) {
  return std::max(logit, 0.0) - (is_replaced ? logit : 0) + std::log1p(std::exp(-std::abs(logit)));
}

void add_draws(const ForwardResult& logits, const std::vector<size_t>& masks, const std::vector<int32_t>& drawn,
               ReplacedWalk& walk) {
  for (size_t i = 0; i < masks.size(); ++i) {
    const auto logits_V = std::span(logits.logits).subspan(i * logits.logits_columns, logits.logits_columns);
    ReplacedStep& step = walk.steps[masks[i]];
    step.is_masked = true;
    step.drawn = drawn[i];
    step.drawn_probability = std::exp(log_probability(logits_V, drawn[i]));
    step.is_replaced = drawn[i] != step.token;
    step.generator_loss = -log_probability(logits_V, step.token);
    walk.generator_loss += step.generator_loss / static_cast<double>(masks.size());
  }
}

void add_judgements(const ForwardResult& logits, ReplacedWalk& walk) {
  for (size_t token = 0; token < walk.steps.size(); ++token) {
    ReplacedStep& step = walk.steps[token];
    const double logit = logits.logits[token];
    step.replaced_probability = 1 / (1 + std::exp(-logit));
    step.discriminator_loss = binary_loss(logit, step.is_replaced);
    walk.discriminator_loss += step.discriminator_loss / static_cast<double>(walk.steps.size());
  }
}

}  // namespace

ReplacedWalk replaced_walk(const Model& generator, const Model& discriminator, const Tokenizer& tokenizer,
                           const Encoding& encoding, const ReplacedWalkOptions& options) {
  check_pair(generator, discriminator, tokenizer);
  ReplacedWalk walk;
  for (const int32_t id : encoding.ids) walk.steps.push_back({.token = id, .drawn = id});
  const std::vector<size_t> masks = draw_masks(encoding, options.share, options.seed, options.number);
  walk.masked = masks.size();
  std::vector<int32_t> ids = encoding.ids;
  for (const size_t mask : masks) ids[mask] = tokenizer.special().mask;
  if (!masks.empty()) {
    const ForwardResult logits = run(generator, encoding, ids, masks);
    const std::vector<int32_t> drawn = draw(logits, masks, tokenizer.size(), options);
    add_draws(logits, masks, drawn, walk);
    for (size_t i = 0; i < masks.size(); ++i) ids[masks[i]] = drawn[i];
  }
  add_judgements(run(discriminator, encoding, ids, {}), walk);
  return walk;
}

}  // namespace deberta
