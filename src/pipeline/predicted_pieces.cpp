// Encode, logits of the rows that predict, compare.
#include "pipeline/predicted_pieces.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "decode/text_score.h"
#include "pipeline/packer.h"

namespace deberta {
namespace {

struct Guess {
  double log_probability = 0;  // log probability of the actual piece
  bool is_right = false;
};

Guess guess_of(std::span<const float> logits_V, int32_t piece) {
  const auto best = std::max_element(logits_V.begin(), logits_V.end()) - logits_V.begin();
  return {log_probability(logits_V, piece), best == piece};
}

// Texts, or windows of them, and what each predicts.
struct Predictions {
  std::vector<Encoding> sequences;
  std::vector<size_t> texts;                 // text of each sequence
  std::vector<std::vector<size_t>> rows;     // by sequence: the tokens that predict
  std::vector<std::vector<int32_t>> pieces;  // the pieces that they should predict
  std::vector<std::vector<Guess>> guesses;   // what they do
  std::vector<PieceAnswer> answers;          // by text

  void take(size_t sequence, std::span<const float> logits_RV) {
    const std::vector<int32_t>& wanted = pieces[sequence];
    const size_t columns = logits_RV.size() / wanted.size();
    guesses[sequence].clear();  // a pack that failed half-way is run again
    for (size_t i = 0; i < wanted.size(); ++i)
      guesses[sequence].push_back(guess_of(logits_RV.subspan(i * columns, columns), wanted[i]));
  }

  std::vector<PieceAnswer> finish() {
    for (size_t sequence = 0; sequence < sequences.size(); ++sequence) {
      PieceOutcome& outcome = answers[texts[sequence]].outcome;
      for (const Guess& guess : guesses[sequence]) {
        outcome.log_probability += guess.log_probability;
        outcome.right += guess.is_right;
        ++outcome.pieces;
      }
    }
    return std::move(answers);
  }
};

Planned<PieceAnswer> plan_predictions(const std::shared_ptr<Predictions>& predictions) {
  predictions->guesses.resize(predictions->sequences.size());
  SequencePlan plan;
  plan.sequences = SequenceSource(predictions->sequences);
  plan.rows = [predictions](size_t sequence) { return std::span<const size_t>(predictions->rows[sequence]); };
  plan.take = [predictions](size_t sequence, std::span<const float> logits_RV) {
    predictions->take(sequence, logits_RV);
  };
  return {std::move(plan), [predictions] { return predictions->finish(); }};
}

// Every row whose next token is a piece that no window before has.
void add_next_pieces(const WindowedInputs& windowed, size_t text, Predictions& predictions) {
  const std::vector<Window>& windows = windowed.windows[text];
  const size_t first = windowed.sequences.starts[text];
  for (size_t i = first; i < windowed.sequences.starts[text + 1]; ++i) {
    const Encoding& sequence = windowed.sequences.all[i];
    size_t seen = i == first ? 0 : windows[i - first - 1].last - windows[i - first].first;
    predictions.texts.push_back(text);
    std::vector<size_t>& rows = predictions.rows.emplace_back();
    std::vector<int32_t>& pieces = predictions.pieces.emplace_back();
    for (size_t token = 1; token < sequence.size(); ++token) {
      if (sequence.is_special[token] != 0) continue;
      if (seen > 0) {
        --seen;
        continue;
      }
      rows.push_back(token - 1);
      pieces.push_back(sequence.ids[token]);
    }
  }
}

// Counts the words that have pieces: a text may be cut.
size_t count_words(const Encoding& text) {
  const auto last = std::max_element(text.words.begin(), text.words.end());
  return last == text.words.end() ? 0 : static_cast<size_t>(*last + 1);  // -1: special tokens alone
}

// Every row has logits: fewer tokens at once, the larger the vocabulary.
EncodingRules with_small_packs(const Pipeline& pipeline, EncodingRules rules) {
  rules.batch_tokens = std::min(rules.batch_tokens, most_logit_rows(pipeline.config.vocab_size));
  return rules;
}

}  // namespace

Planned<PieceAnswer> plan_masked_pieces(const Pipeline& pipeline, std::span<const TextInput> inputs,
                                        std::span<const size_t> numbers, const MaskedSampleRules& rules) {
  check_masked_lm("eval", pipeline);
  const auto predictions = std::make_shared<Predictions>();
  predictions->sequences = encode_inputs(pipeline.tokenizer, inputs, rules.rules);
  for (size_t i = 0; i < predictions->sequences.size(); ++i) {
    Encoding& text = predictions->sequences[i];
    predictions->texts.push_back(i);
    predictions->answers.push_back({{}, text.size(), text.cut_tokens});
    predictions->rows.push_back(draw_masks(text, rules.share, rules.seed, numbers[i]));
    std::vector<int32_t>& pieces = predictions->pieces.emplace_back();
    for (const size_t row : predictions->rows.back())
      pieces.push_back(std::exchange(text.ids[row], pipeline.tokenizer.special().mask));
  }
  return plan_predictions(predictions);
}

std::vector<PieceAnswer> predict_masked_pieces(const Pipeline& pipeline, std::span<const TextInput> inputs,
                                               std::span<const size_t> numbers, const MaskedSampleRules& rules) {
  return run_planned(pipeline, plan_masked_pieces(pipeline, inputs, numbers, rules), rules.rules);
}

Planned<PieceAnswer> plan_next_pieces(const Pipeline& pipeline, std::span<const TextInput> inputs,
                                      const EncodingRules& rules) {
  check_causal_lm("eval", pipeline);
  WindowedInputs windowed = window_inputs(pipeline.tokenizer, inputs, rules);
  const auto predictions = std::make_shared<Predictions>();
  for (size_t text = 0; text < windowed.texts.size(); ++text) {
    const Encoding& whole = windowed.texts[text];
    predictions->answers.push_back({{.words = count_words(whole)}, whole.size(), whole.cut_tokens});
    add_next_pieces(windowed, text, *predictions);
  }
  predictions->sequences = std::move(windowed.sequences.all);
  return plan_predictions(predictions);
}

std::vector<PieceAnswer> predict_next_pieces(const Pipeline& pipeline, std::span<const TextInput> inputs,
                                             const EncodingRules& rules) {
  return run_planned(pipeline, plan_next_pieces(pipeline, inputs, rules), with_small_packs(pipeline, rules));
}

}  // namespace deberta
