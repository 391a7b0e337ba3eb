// A question with each window of its context, start and end logits of the context's tokens, the best spans as text.
#include <fmt/core.h>

#include <algorithm>
#include <memory>

#include "base/utf8.h"
#include "deberta/error.h"
#include "deberta/pipeline.h"
#include "decode/span_answers.h"
#include "decode/spans.h"
#include "decode/windows.h"
#include "heads/head_facts.h"
#include "pipeline/plan.h"
#include "pipeline/requirements.h"
#include "pipeline/sequence_forms.h"

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

[[noreturn]] void refuse_stride(size_t stride, size_t room) {
  throw Error(
      ErrorCode::kInput,
      {{.message = fmt::format("expected less than the {} tokens of the context in a window, got {}", room, stride),
        .argument = "stride",
        .remedies = {{"raise {}", "max_tokens"}}}});
}

// Windows of all inputs, and what the model says of them.
struct Windows {
  Sequences sequences;
  std::vector<std::string> contexts;
  std::vector<SpanLogits> logits;
};

std::vector<QuestionAnswer> answers_of(const Tokenizer& tokenizer, const Windows& w, const QuestionOptions& options) {
  // Several spans may become one answer in whole words. As many candidates as in transformers.
  const size_t candidates = options.aligns_to_words ? 2 * options.top_k + 10 : std::max<size_t>(1, options.top_k);
  const SpanRules rules{candidates, options.max_answer_tokens, options.as_transformers};
  std::vector<QuestionAnswer> answers;
  for (size_t i = 0; i < w.sequences.inputs(); ++i) {
    const size_t first = w.sequences.starts[i], count = w.sequences.starts[i + 1] - first;
    const SpanCandidates span_candidates = find_spans(std::span(w.logits).subspan(first, count), rules);
    const std::span<const Encoding> windows = std::span(w.sequences.all).subspan(first, count);
    answers.push_back({span_answers(w.contexts[i], windows, span_candidates, answer_rules(tokenizer, options)),
                       static_cast<float>(span_candidates.null_score), static_cast<float>(span_candidates.null_logit),
                       count, w.sequences.tokens_of(i), w.sequences.cut_tokens_of(i)});
  }
  return answers;
}

}  // namespace

SequenceRules QuestionOptions::sequence_rules() const {
  return {.encoding = rules,
          .form = SequenceForm::kContext,
          .max_question_tokens = max_question_tokens,
          .as_transformers = as_transformers};
}

std::vector<Encoding> encode_context(const Tokenizer& tokenizer, const TextInput& input, const SequenceRules& rules) {
  if (!input.pair) throw Error(ErrorCode::kInput, "context", "expected a question and a context, got one text");
  check_plain_pairs("qa", tokenizer);
  const EncodeOptions& encode = rules.encoding.encode;
  const Encoding question = encode_part(tokenizer, input.text, encode, rules.max_question_tokens);
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
  const size_t room = encode.max_tokens - taken, stride = rules.encoding.stride;
  if (rules.as_transformers && context.size() > room && stride >= room) refuse_stride(stride, room);
  const size_t most = rules.as_transformers ? room - 1 : room / 2;
  std::vector<Encoding> encodings;
  for (const Window& window : make_windows(context.size(), room, std::min(stride, most)))
    encodings.push_back(window_encoding(question, context, window, tokenizer.special()));
  encodings.front().cut_tokens = question.cut_tokens;
  return encodings;
}

Planned<QuestionAnswer> plan_qa(const Pipeline& pipeline, std::span<const TextInput> inputs,
                                const QuestionOptions& options) {
  if (facts_of(pipeline.model.head()).answers != HeadAnswers::kEnds) refuse_head("qa", "span", pipeline.model);
  auto windows = std::make_shared<Windows>();
  windows->sequences = gather_sequences(pipeline.tokenizer, inputs, options.sequence_rules());
  for (const TextInput& input : inputs) windows->contexts.emplace_back(input.pair.value_or(""));
  windows->logits.resize(windows->sequences.all.size());
  SequencePlan plan;
  plan.sequences = SequenceSource(windows->sequences.all);
  plan.take = [windows](size_t sequence, std::span<const float> rows_L2) {
    windows->logits[sequence] = span_logits(windows->sequences.all[sequence], rows_L2);
  };
  return {std::move(plan), [windows, &pipeline, options] { return answers_of(pipeline.tokenizer, *windows, options); }};
}

std::vector<QuestionAnswer> qa(const Pipeline& pipeline, std::span<const TextInput> inputs,
                               const QuestionOptions& options) {
  return run_planned(pipeline, plan_qa(pipeline, inputs, options), options.rules);
}

}  // namespace deberta
