// Texts to encodings, whole or in windows.
#include "pipeline/encodings.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/utf8.h"
#include "deberta/error.h"
#include "heads/forms.h"
#include "heads/head_facts.h"
#include "pipeline/requirements.h"
#include "pipeline/sequence_forms.h"

namespace deberta {
namespace {

void check_size(const Encoding& encoding, const EncodingRules& rules) {
  if (encoding.size() == 0) throw Error(ErrorCode::kInput, "text", "expected at least one token, got none");
  if (rules.long_text == LongText::kRefuse && encoding.size() > rules.encode.max_tokens) {
    throw Error(
        ErrorCode::kTextTooLong,
        {{.where = "text",
          .message = fmt::format("expected at most {} tokens, got {}", rules.encode.max_tokens, encoding.size()),
          .argument = "max_tokens",
          .limit = rules.encode.max_tokens,
          .remedies = {{"split it"}, {"cut it with {}", "truncate", "right"}}}});
  }
}

// The tokens of an encoding that are read in windows: those of its text, or of the longer one of a pair.
Window part_in_windows(const Encoding& encoding) {
  const Window only{1, encoding.size() - 1};
  if (encoding.second_begin == SIZE_MAX) return only;
  size_t first_end = encoding.second_begin;  // before the separators
  while (first_end > 1 && encoding.is_special[first_end - 1] != 0) --first_end;
  const Window first{1, first_end}, second{encoding.second_begin, encoding.size() - 1};
  return first.size() > second.size() ? first : second;
}

// The shorter text of a pair stands in each window; so that they are not too many, a window has room for a quarter of
// what the model reads, and for two overlaps.
std::vector<Window> windows_in(const Encoding& encoding, const Window& part, const EncodingRules& rules) {
  const size_t around = encoding.size() - part.size();
  const bool is_pair = encoding.second_begin != SIZE_MAX;
  const size_t least = is_pair ? std::max(rules.encode.max_tokens / 4, 2 * rules.stride) : 0;
  if (is_pair && around + least > rules.encode.max_tokens) {
    const auto special = static_cast<size_t>(std::ranges::count(encoding.is_special, 1));
    const size_t most = rules.encode.max_tokens - std::min(rules.encode.max_tokens, special + least);
    throw Error(ErrorCode::kTextTooLong,
                {{.where = "text",
                  .message = fmt::format("expected at most {} tokens in the shorter text of a pair that is read in "
                                         "windows, got {}",
                                         most, around - special),
                  .argument = "stride",
                  .remedies = {{"split it"}, {"lower {}", "stride"}}}});
  }
  return make_windows(part.size(), rules.encode.max_tokens - around, rules.stride);
}

}  // namespace

void TokenCount::add(size_t tokens) {
  tokens_ += tokens;
  if (tokens_ <= most_) return;
  throw Error(ErrorCode::kTextTooLong, {{.where = "texts",
                                         .message = fmt::format("expected at most {} tokens in all", most_),
                                         .argument = "most_tokens",
                                         .limit = most_,
                                         .remedies = {{"send fewer at once"}}}});
}

void for_each_input(size_t count, const std::function<void(size_t i)>& run) {
  for (size_t i = 0; i < count; ++i) {
    try {
      run(i);
    } catch (const Error& error) {
      std::vector<Problem> problems = error.problems();
      for (Problem& problem : problems) problem.input = i;
      throw Error(error.code(), std::move(problems));
    }
  }
}

// ---- one sequence per input

Encoding encode_one(const Tokenizer& tokenizer, const TextInput& input, const EncodingRules& rules) {
  if (!input.encodings.empty()) return input.encodings.front();
  if (!is_valid_utf8(input.text) || !is_valid_utf8(input.pair.value_or("")))
    throw Error(ErrorCode::kInput, "text", "expected valid UTF-8");
  if (rules.prompt && !rules.prompt->empty()) {
    EncodingRules plain = rules;
    plain.prompt.reset();
    const std::string text = *rules.prompt + std::string(input.text);
    return encode_one(tokenizer, TextInput{.text = text, .pair = input.pair}, plain);
  }
  EncodeOptions options = rules.encode;
  if (rules.long_text != LongText::kCut) options.truncate = Truncate::kNone;
  Encoding encoding =
      input.pair ? tokenizer.encode_pair(input.text, *input.pair, options) : tokenizer.encode(input.text, options);
  check_size(encoding, rules);
  return encoding;
}

std::vector<Encoding> encode_inputs(const Tokenizer& tokenizer, std::span<const TextInput> inputs,
                                    const EncodingRules& rules) {
  if (rules.long_text == LongText::kWindow)
    throw Error(ErrorCode::kUsage,
                {{.message = "expected right, left or error, got window: this task does not read texts in windows",
                  .argument = "truncate"}});
  std::vector<Encoding> encodings;
  encodings.reserve(inputs.size());
  TokenCount count(rules);
  for_each_input(inputs.size(),
                 [&](size_t i) { count.add(encodings.emplace_back(encode_one(tokenizer, inputs[i], rules)).size()); });
  return encodings;
}

// ---- several sequences per input

size_t Sequences::tokens_of(size_t input) const {
  size_t tokens = 0;
  for (size_t i = starts[input]; i < starts[input + 1]; ++i) tokens += all[i].size();
  return tokens;
}

size_t Sequences::cut_tokens_of(size_t input) const {
  size_t cut = 0;
  for (size_t i = starts[input]; i < starts[input + 1]; ++i) cut += all[i].cut_tokens;
  return cut;
}

std::vector<Encoding> encode_input(const Tokenizer& tokenizer, const TextInput& input, const SequenceRules& rules) {
  switch (rules.form) {
    case SequenceForm::kText:
      return {encode_one(tokenizer, TextInput{.text = input.text, .pair = input.pair}, rules.encoding)};
    case SequenceForm::kHypotheses:
      return encode_hypotheses(tokenizer, input, rules);
    case SequenceForm::kDocuments:
      return encode_documents(tokenizer, input, rules);
    case SequenceForm::kChoices:
      return encode_choices(tokenizer, input, rules);
    case SequenceForm::kContext:
      return encode_context(tokenizer, input, rules);
    case SequenceForm::kTexts:
      return encode_texts(tokenizer, input, rules);
  }
  return {};
}

Sequences gather_sequences(const Tokenizer& tokenizer, std::span<const TextInput> inputs, const SequenceRules& rules) {
  Sequences sequences{{}, {0}};
  TokenCount count(rules.encoding);
  for_each_input(inputs.size(), [&](size_t i) {
    if (inputs[i].encodings.empty()) {
      for (Encoding& encoding : encode_input(tokenizer, inputs[i], rules)) sequences.all.push_back(std::move(encoding));
    } else {
      sequences.all.insert(sequences.all.end(), inputs[i].encodings.begin(), inputs[i].encodings.end());
    }
    sequences.starts.push_back(sequences.all.size());
    count.add(sequences.tokens_of(i));
  });
  return sequences;
}

// ---- windows

WindowedInputs window_inputs(const Tokenizer& tokenizer, std::span<const TextInput> inputs,
                             const EncodingRules& rules) {
  WindowedInputs windowed{{}, {{}, {0}}, {}};
  TokenCount count(rules);
  for_each_input(inputs.size(), [&](size_t i) {
    const Encoding& text = windowed.texts.emplace_back(encode_one(tokenizer, inputs[i], rules));
    std::vector<Window>& windows = windowed.windows.emplace_back();
    std::vector<Encoding>& all = windowed.sequences.all;
    if (rules.long_text == LongText::kWindow && text.size() > rules.encode.max_tokens) {
      const Window part = part_in_windows(text);
      windows = windows_in(text, part, rules);
      for (const Window& window : windows) all.push_back(keep_window(text, part.first, part.size(), window));
    } else {
      all.push_back(text);
    }
    windowed.sequences.starts.push_back(all.size());
    count.add(windowed.sequences.tokens_of(i));
  });
  return windowed;
}

// ---- language models

void check_masked_lm(const std::string& verb, const Pipeline& pipeline) {
  if (!predicts_masked_words(pipeline.config, facts_of(pipeline.model.head())))
    refuse_head(verb, "masked language model", pipeline.model);
  if (pipeline.tokenizer.special().mask < 0) throw Error(ErrorCode::kTask, verb, "the tokenizer has no mask token");
}

void check_causal_lm(const std::string& verb, const Pipeline& pipeline) {
  if (!facts_of(pipeline.model.head()).predicts_words() || !pipeline.config.is_causal)
    refuse_head(verb, "causal language model", pipeline.model);
}

}  // namespace deberta
