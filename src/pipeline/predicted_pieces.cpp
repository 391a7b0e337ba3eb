// Encode, forward with logits of the rows that predict, compare.
#include "pipeline/predicted_pieces.h"

#include <algorithm>

#include "decode/text_score.h"
#include "pipeline/batches.h"

namespace deberta {
namespace {

void add_guess(std::span<const float> logits_V, int32_t id, PieceOutcome& outcome) {
  const auto best = std::max_element(logits_V.begin(), logits_V.end()) - logits_V.begin();
  outcome.log_probability += log_probability(logits_V, id);
  outcome.right += best == id;
  ++outcome.pieces;
}

constexpr size_t kMostLogits = size_t{1} << 24;  // of a pack

// What a sequence predicts: a text, or a window of one.
struct NextPieces {
  size_t text = 0;
  std::vector<size_t> rows;  // whose next token is a piece that no window before has
};

void add_parts(const WindowedInputs& windowed, size_t text, std::vector<NextPieces>& parts) {
  const std::vector<Window>& windows = windowed.windows[text];
  const size_t first = windowed.sequences.starts[text];
  for (size_t i = first; i < windowed.sequences.starts[text + 1]; ++i) {
    const Encoding& sequence = windowed.sequences.all[i];
    size_t seen = i == first ? 0 : windows[i - first - 1].last - windows[i - first].first;
    NextPieces& part = parts.emplace_back(NextPieces{.text = text, .rows = {}});
    for (size_t token = 1; token < sequence.size(); ++token) {
      if (sequence.is_special[token] != 0) continue;
      if (seen == 0) part.rows.push_back(token - 1);
      if (seen > 0) --seen;
    }
  }
}

// Of the part of the text that has pieces: a text may be cut.
size_t count_words(const Encoding& text) {
  const auto last = std::max_element(text.words.begin(), text.words.end());
  return last == text.words.end() ? 0 : static_cast<size_t>(*last + 1);  // -1: special tokens alone
}

}  // namespace

std::vector<PieceAnswer> predict_masked_pieces(const Pipeline& pipeline, std::span<const TextInput> inputs,
                                               std::span<const size_t> numbers, const MaskedSampleRules& rules) {
  check_masked_lm("eval", pipeline);
  std::vector<Encoding> texts = encode_inputs(pipeline.tokenizer, inputs, rules.rules);
  std::vector<std::vector<size_t>> masks;
  std::vector<std::vector<int32_t>> hidden;  // the ids behind the masks
  for (size_t i = 0; i < texts.size(); ++i) {
    masks.push_back(draw_masks(texts[i], rules.share, rules.seed, numbers[i]));
    hidden.emplace_back();
    for (const size_t place : masks.back()) {
      hidden.back().push_back(texts[i].ids[place]);
      texts[i].ids[place] = pipeline.tokenizer.special().mask;
    }
  }
  std::vector<PieceAnswer> answers;
  answers.reserve(texts.size());
  for (const Encoding& text : texts) answers.push_back({{}, text.size(), text.cut_tokens});
  for_each_masked(pipeline.model, texts, masks, rules.rules.batch_tokens,
                  [&](size_t text, size_t i, std::span<const float> logits_V) {
                    add_guess(logits_V, hidden[text][i], answers[text].outcome);
                  });
  return answers;
}

std::vector<PieceAnswer> predict_next_pieces(const Pipeline& pipeline, std::span<const TextInput> inputs,
                                             const EncodingRules& rules) {
  check_causal_lm("eval", pipeline);
  const WindowedInputs windowed = window_inputs(pipeline.tokenizer, inputs, rules);
  std::vector<PieceAnswer> answers;
  std::vector<NextPieces> parts;
  for (size_t text = 0; text < windowed.texts.size(); ++text) {
    const Encoding& whole = windowed.texts[text];
    answers.push_back({{.words = count_words(whole)}, whole.size(), whole.cut_tokens});
    add_parts(windowed, text, parts);
  }
  std::vector<std::vector<size_t>> rows;
  for (const NextPieces& part : parts) rows.push_back(part.rows);
  // Every row has logits: fewer tokens at once, the larger the vocabulary.
  const size_t most_tokens = kMostLogits / static_cast<size_t>(pipeline.config.vocab_size);
  for_each_masked(pipeline.model, windowed.sequences.all, rows, std::min(rules.batch_tokens, most_tokens),
                  [&](size_t part, size_t i, std::span<const float> logits_V) {
                    const int32_t next = windowed.sequences.all[part].ids[rows[part][i] + 1];
                    add_guess(logits_V, next, answers[parts[part].text].outcome);
                  });
  return answers;
}

}  // namespace deberta
