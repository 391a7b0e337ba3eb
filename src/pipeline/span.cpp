// A question with each window of its context, start and end logits of the context's tokens, the best spans as text.
#include <fmt/core.h>

#include <algorithm>

#include "base/utf8.h"
#include "deberta/error.h"
#include "deberta/pipeline.h"
#include "decode/span_answers.h"
#include "decode/spans.h"
#include "decode/windows.h"
#include "pipeline/batches.h"
#include "pipeline/requirements.h"

namespace deberta {
namespace {

constexpr size_t kTemplateTokens = 3;  // [CLS] question [SEP] context [SEP]

Encoding encode_part(const Tokenizer& tokenizer, std::string_view text, EncodeOptions options, size_t max_tokens) {
  if (!is_valid_utf8(text)) throw Error(ErrorCode::kInput, "text", "expected valid UTF-8");
  options.add_special_tokens = false;
  options.truncate = max_tokens == SIZE_MAX ? Truncate::kNone : Truncate::kRight;
  options.max_tokens = max_tokens;
  return tokenizer.encode(text, options);
}

SpanLogits span_logits(const Encoding& window, std::span<const float> rows_L2) {
  SpanLogits logits{{}, {}, rows_L2[0], rows_L2[1]};
  for (size_t t = second_text_begin(window); t + 1 < window.size(); ++t) {
    logits.start_L.push_back(rows_L2[2 * t]);
    logits.end_L.push_back(rows_L2[2 * t + 1]);
  }
  return logits;
}

std::vector<SpanLogits> run_windows(const Model& model, std::span<const Encoding> windows, size_t batch_tokens) {
  std::vector<SpanLogits> logits;
  ForwardResult result;
  for_each_batch(windows, batch_tokens, [&](size_t first, const Batch& batch) {
    model.forward(batch, {}, result);
    for (size_t b = 0; b < batch.sequences(); ++b) {
      const std::span<const float> rows_T2(result.logits);
      logits.push_back(span_logits(windows[first + b], rows_T2.subspan(2 * static_cast<size_t>(batch.starts[b]))));
    }
  });
  return logits;
}

// As in the fast tokenizers of transformers: SentencePiece's word-start mark is that space.
bool takes_space(const Tokenizer& tokenizer, int32_t id) {
  return tokenizer.piece(id).starts_with("\xE2\x96\x81");
}

SpanAnswerRules answer_rules(const Tokenizer& tokenizer, const QuestionOptions& options) {
  return {.count = options.top_k,
          .aligns_to_words = options.aligns_to_words,
          .merges_equal = options.merges_equal,
          .as_transformers = options.as_transformers,
          .takes_space = [&tokenizer](int32_t id) { return takes_space(tokenizer, id); },
          .allows_none = options.allows_none,
          .null_threshold = options.null_threshold};
}

}  // namespace

std::vector<Encoding> encode_input(const Tokenizer& tokenizer, const TextInput& input, const QuestionOptions& options) {
  if (!input.pair) throw Error(ErrorCode::kInput, "context", "expected a question and a context, got one text");
  check_plain_pairs("qa", tokenizer);
  const EncodeOptions& encode = options.rules.encode;
  const Encoding question = encode_part(tokenizer, input.text, encode, options.max_question_tokens);
  const Encoding context = encode_part(tokenizer, *input.pair, encode, SIZE_MAX);
  const size_t taken = question.size() + kTemplateTokens;
  if (taken >= encode.max_tokens) {
    throw Error(ErrorCode::kTextTooLong,
                {{.where = "question",
                  .message = fmt::format("expected less than {} tokens with the special ones, got {}",
                                         encode.max_tokens, taken),
                  .argument = "max_tokens",
                  .limit = encode.max_tokens,
                  .remedies = {{"raise {}", "max_tokens"}, {"lower {}", "max_question_tokens"}}}});
  }
  const size_t room = encode.max_tokens - taken, most = options.as_transformers ? room - 1 : room / 2;
  std::vector<Encoding> encodings;
  for (const Window& window : make_windows(context.size(), room, std::min(options.rules.stride, most)))
    encodings.push_back(window_encoding(question, context, window, tokenizer.special()));
  encodings.front().cut_tokens = question.cut_tokens;
  return encodings;
}

std::vector<QuestionAnswer> qa(const Pipeline& pipeline, std::span<const TextInput> inputs,
                               const QuestionOptions& options) {
  if (pipeline.model.head() != Head::kSpan) refuse_head("qa", "span", pipeline.model);
  const Sequences sequences = gather_sequences(
      inputs, [&](const TextInput& input) { return encode_input(pipeline.tokenizer, input, options); });
  const std::vector<SpanLogits> logits = run_windows(pipeline.model, sequences.all, options.rules.batch_tokens);
  // Several spans may become one answer in whole words. As many candidates as in transformers.
  const size_t candidates = options.aligns_to_words ? 2 * options.top_k + 10 : std::max<size_t>(1, options.top_k);
  const SpanRules rules{candidates, options.max_answer_tokens, options.as_transformers};
  std::vector<QuestionAnswer> answers;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const size_t first = sequences.starts[i], count = sequences.starts[i + 1] - first;
    const SpanCandidates found = find_spans(std::span(logits).subspan(first, count), rules);
    const std::span<const Encoding> windows = std::span(sequences.all).subspan(first, count);
    answers.push_back(
        {span_answers(inputs[i].pair.value_or(""), windows, found, answer_rules(pipeline.tokenizer, options)),
         static_cast<float>(found.null_score), static_cast<float>(found.null_logit), count, sequences.tokens_of(i),
         sequences.cut_tokens_of(i)});
  }
  return answers;
}

}  // namespace deberta
