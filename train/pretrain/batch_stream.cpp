// Checks that batches divide evenly, and streams them through a prefetch thread.
#include "train/pretrain/batch_stream.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "base/refuse_argument.h"

namespace deberta::train {
namespace {

// The divisors of `count` next to `wanted`, below and above.
std::string nearest_divisors(size_t count, size_t wanted) {
  size_t below = 1, above = count;
  for (size_t n = 1; n <= count; ++n) {
    if (count % n != 0) continue;
    if (n < wanted) below = n;
    if (n > wanted) above = std::min(above, n);
  }
  return std::to_string(below) + " or " + std::to_string(above);
}

void check_division(const BatchSettings& settings) {
  const size_t sequences = settings.sequences_per_step, parts = settings.accumulation;
  if (sequences == 0) refuse_argument("batch_size", "expected at least 1 sequence in a step, got 0");
  if (parts == 0 || parts > sequences || sequences % parts != 0) {
    refuse_argument("gradient_accumulation_steps", "expected a divisor of the batch of " + std::to_string(sequences) +
                                                       " sequences, such as " + nearest_divisors(sequences, parts) +
                                                       ", got " + std::to_string(parts));
  }
  if (settings.max_tokens < 3) refuse_argument("max_tokens", "expected at least 3 tokens in a sequence");
  const size_t tokens = sequences * settings.max_tokens;
  if (settings.long_tokens > 0 && tokens % settings.long_tokens != 0) {
    refuse_argument("long_tokens", "expected a divisor of the " + std::to_string(tokens) +
                                       " tokens of a step, such as " + nearest_divisors(tokens, settings.long_tokens) +
                                       ", got " + std::to_string(settings.long_tokens));
  }
}

std::vector<LengthStage> stages_of(const BatchSettings& settings, int64_t steps) {
  if (settings.long_tokens == 0 || settings.long_tokens == settings.max_tokens)
    return {{.first_step = 0, .max_tokens = settings.max_tokens}};
  return two_lengths(static_cast<uint64_t>(steps), settings.max_tokens, settings.long_tokens, settings.long_share);
}

// The steps of a run of settings.length.
int64_t count_steps(const BatchSettings& settings, const Corpora& corpora) {
  check_division(settings);
  const auto per_step = static_cast<double>(settings.sequences_per_step * settings.max_tokens);
  const RunLength& length = settings.length;
  if (int{length.steps.has_value()} + int{length.tokens.has_value()} + int{length.epochs.has_value()} != 1)
    refuse_argument("max_steps",
                    "expected exactly one of a number of steps, a number of tokens and a number of epochs");
  double steps = 0;
  if (length.steps) steps = static_cast<double>(*length.steps);
  if (length.tokens) steps = std::ceil(static_cast<double>(*length.tokens) / per_step);
  if (length.epochs) steps = std::ceil(*length.epochs * static_cast<double>(corpora.tokens) / per_step);
  constexpr double kMostSteps = 1 << 24;  // dropout counts them in 24 bits
  if (!(steps >= 1) || steps >= kMostSteps)
    refuse_argument("max_steps", "expected a run of 1 to 16777215 steps, got " + std::to_string(steps));
  return static_cast<int64_t>(steps);
}

// `corpora` and `pieces` outlive it.
Batches make_batches(const PretrainSettings& settings, const Corpora& corpora, const Pieces& pieces, int64_t steps) {
  const BatchSettings& batches = settings.batches;
  const Objective objective = settings.start.objective;
  std::vector<Source> sources;
  for (size_t i = 0; i < corpora.files.size(); ++i) {
    sources.push_back({Runs(corpora.files[i], batches.boundary, pieces.special.cls, pieces.special.sep),
                       settings.corpus.corpora[i].weight});
  }
  const size_t tokens = batches.sequences_per_step * batches.max_tokens;
  return Batches(std::move(sources), pieces,
                 {.seed = settings.run.seed,
                  .tokens_per_step = tokens,
                  .micro_batch_tokens = tokens / batches.accumulation,
                  .stages = stages_of(batches, steps),
                  .prediction = objective == Objective::kCausal ? Prediction::kNext : Prediction::kMasked,
                  .masks = masks_of(batches, objective),
                  .short_share = batches.short_share,
                  .source_exponent = batches.source_exponent});
}

}  // namespace

MaskOptions masks_of(const BatchSettings& settings, Objective objective) {
  return objective == Objective::kReplaced ? masks_for_replaced_tokens(settings.masks) : settings.masks;
}

std::unique_ptr<BatchStream> BatchStream::open(const PretrainSettings& settings, const Tokenizer& tokenizer,
                                               const Parallel& parallel, const RunHooks& hooks) {
  std::optional<Corpora> corpora =
      open_corpora(settings.corpus, settings.start.tokenizer_folder, tokenizer, parallel, hooks);
  if (!corpora) return nullptr;
  return std::make_unique<BatchStream>(settings, std::move(*corpora), pieces_of(tokenizer));
}

BatchStream::BatchStream(const PretrainSettings& settings, Corpora corpora, Pieces pieces)
    : corpora_(std::move(corpora)),
      pieces_(std::move(pieces)),
      total_steps_(count_steps(settings.batches, corpora_)),
      batches_(make_batches(settings, corpora_, pieces_, total_steps_)),
      prefetch_(settings.batches.prefetch) {}

void BatchStream::begin(int64_t step) {
  ahead_.emplace([this](uint64_t number) { return batches_.make(number); }, static_cast<uint64_t>(step),
                 static_cast<uint64_t>(total_steps_), prefetch_);
}

std::vector<TrainBatch> BatchStream::next() {
  return *ahead_->next();
}

}  // namespace deberta::train
