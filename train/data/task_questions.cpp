// Questions on contexts: each window of a context is a sample.
#include <algorithm>
#include <optional>

#include "data/squad.h"
#include "deberta/error.h"
#include "deberta/pipeline.h"
#include "decode/span_answers.h"
#include "eval/questions.h"
#include "train/data/task_sources.h"

namespace deberta::train {
namespace {

// Bytes of the context, without the white space around an answer.
Offset bytes_of(const SquadAnswer& answer) {
  constexpr std::string_view kSpace = " \t\r\n";
  const size_t first = answer.text.find_first_not_of(kSpace), last = answer.text.find_last_not_of(kSpace);
  if (first == std::string::npos) return {0, 0};
  return {static_cast<uint32_t>(answer.begin_byte + first), static_cast<uint32_t>(answer.begin_byte + last + 1)};
}

struct TokenSpan {
  size_t first = 0, last = 0;
};

// Where the window holds all of the answer.
std::optional<TokenSpan> find_answer(const Encoding& window, const Offset& answer) {
  const size_t begin = second_text_begin(window), end = window.size() - 1;  // the last one is [SEP]
  const auto holds = [&](size_t t, uint32_t byte) {
    return window.bytes[t].begin <= byte && byte < window.bytes[t].end;
  };
  TokenSpan span{begin, end};
  while (span.first < end && !holds(span.first, answer.begin)) ++span.first;
  while (span.last > span.first && !holds(span.last - 1, answer.end - 1)) --span.last;
  if (span.first >= span.last) return std::nullopt;
  return TokenSpan{span.first, span.last - 1};
}

void add_question(const SampleSource& source, const std::string& context, const SquadQuestion& question,
                  const std::string& where, TaskSamples& samples) {
  QuestionOptions options = squad_options();
  options.rules.encode.max_tokens = source.reading.max_tokens;
  options.rules.stride = source.reading.stride;
  std::optional<Offset> answer;
  if (!question.answers.empty()) answer = bytes_of(question.answers.front());
  for (const Encoding& window : encode_input(source.tokenizer, TextInput{.text = question.question, .pair = context},
                                             options.sequence_rules())) {
    TaskSample sample{.where = where, .sequences = {to_sequence(window)}};
    const std::optional<TokenSpan> span = answer ? find_answer(window, *answer) : std::nullopt;
    if (span) {
      sample.first = static_cast<int32_t>(span->first);
      sample.last = static_cast<int32_t>(span->last);
    }
    samples.unanswered += !span.has_value();
    samples.samples.push_back(std::move(sample));
  }
}

}  // namespace

void read_questions(const SampleSource& source, TaskSamples& samples) {
  PartPicker picker(source.reading.input.part);
  for (size_t number = 0; number < source.reading.input.files.size(); ++number) {
    const std::string& path = source.reading.input.files[number];
    ByteSource bytes(path, source.hooks.is_stopped);
    const SquadFile file = read_squad(bytes);
    if (source.hooks.bad_rows == BadRows::kFail && !file.skipped.empty())
      source.leave_out(Error(ErrorCode::kInput, file.skipped), samples);  // all of them
    for (const Problem& problem : file.skipped)
      source.leave_out(Error(ErrorCode::kInput, std::vector{problem}), samples);
    for (size_t i = 0;
         i < file.questions.size() && !picker.is_done() && !source.is_full(samples) && !source.hooks.is_stopped();
         ++i) {
      const SquadQuestion& question = file.questions[i];
      if (!picker.takes({.neighbours = context_group(number, question)})) continue;
      ++samples.examples;
      if (question.is_labelled)
        add_question(source, file.contexts[question.context], question, path + ": " + question.id, samples);
      else
        ++samples.unlabelled;
      source.hooks.on_progress(samples.examples,
                               static_cast<double>(i + 1) / static_cast<double>(file.questions.size()));
    }
  }
  samples.held_out = samples.held_out_labelled = picker.left_out();
}

}  // namespace deberta::train
