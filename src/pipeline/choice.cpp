// A context, a question and choices: one sequence per choice, the likeliest one wins.
#include "deberta/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "deberta/error.h"
#include "decode/classification.h"
#include "pipeline/plan.h"
#include "pipeline/requirements.h"
#include "pipeline/sequence_forms.h"

namespace deberta {
namespace {

constexpr size_t kRaceChoiceTokens = 160;  // question and choice together, as the original cuts them

// What is the logit of a choice: that of the only class, or by how much that of yes is above that of no.
struct ChoiceHead {
  size_t classes = 1, yes = 0;
};

ChoiceHead choice_head(const Model& model) {
  check_sequence_head("choose", model, "multiple choice");
  if (model.labels() == 1) return {};
  if (model.labels() != 2)
    throw Error(ErrorCode::kTask, "choose",
                "expected a head with one class per choice, or two (no, yes), got " + std::to_string(model.labels()));
  if (const std::optional<size_t> yes = yes_class(model)) return {2, *yes};
  const std::vector<std::string>& labels = model.config().labels;
  throw Error(ErrorCode::kTask, "choose",
              fmt::format("expected one class, or two that mean no and yes (no and yes, false and true, 0 and 1, X and "
                          "not_X, or without names), got {} and {}; if they mean that, name them so in config.json "
                          "(id2label)",
                          quote_json(label_name(labels, 0)), quote_json(label_name(labels, 1))));
}

// Runs of white space become one space; white space and blanks ("_") at the ends are removed.
std::string tidy(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n\f\v", kEnds = " \t\r\n_";
  const size_t first = text.find_first_not_of(kEnds);
  if (first == std::string_view::npos) return {};
  text = text.substr(first, text.find_last_not_of(kEnds) + 1 - first);
  std::string out;
  for (const char c : text) {
    if (kSpace.find(c) == std::string_view::npos)
      out += c;
    else if (!out.empty() && out.back() != ' ')
      out += ' ';
  }
  if (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

Encoding encode_choice(const Tokenizer& tokenizer, const TextInput& input, const std::string& choice,
                       const SequenceRules& form) {
  const std::string question(input.pair.value_or(""));
  EncodingRules rules = form.encoding;
  if (form.choice == ChoiceForm::kCopa) {
    if (question == "cause") return encode_one(tokenizer, {choice, input.text}, rules);
    if (question == "effect") return encode_one(tokenizer, {input.text, choice}, rules);
    throw Error(ErrorCode::kInput, "question", "expected cause or effect, got \"" + question + "\"");
  }
  std::string second = question.empty() ? choice : question + " " + choice;
  if (form.choice == ChoiceForm::kPlain) return encode_one(tokenizer, {input.text, second}, rules);
  rules.encode.max_second_tokens = kRaceChoiceTokens;
  second = tidy(second);
  Encoding encoding = encode_one(tokenizer, {tidy(input.text), second}, rules);
  const bool is_refused = rules.long_text == LongText::kRefuse && encoding.cut_tokens > 0;
  if (!is_refused) return encoding;
  throw Error(ErrorCode::kTextTooLong, {{.where = "question and choice",
                                         .message = fmt::format("expected at most {} tokens, got {}", kRaceChoiceTokens,
                                                                kRaceChoiceTokens + encoding.cut_tokens),
                                         .remedies = {{"shorten them"}, {"cut them with {}", "truncate", "right"}}}});
}

// A logit for each sequence.
std::vector<float> choice_logits(const std::vector<float>& logits_BC, const ChoiceHead& head) {
  if (head.classes == 1) return logits_BC;
  std::vector<float> logits;
  for (size_t at = 0; at < logits_BC.size(); at += 2)
    logits.push_back(logits_BC[at + head.yes] - logits_BC[at + 1 - head.yes]);
  return logits;
}

std::vector<ChoiceAnswer> answers_of(const SequenceLogits& results, const ChoiceHead& head) {
  const Sequences& sequences = results.sequences;
  const std::vector<float> logits = choice_logits(results.logits_BC, head);
  std::vector<ChoiceAnswer> answers;
  for (size_t i = 0; i < sequences.inputs(); ++i) {
    const size_t first = sequences.starts[i];
    const std::span<const float> own = std::span(logits).subspan(first, sequences.starts[i + 1] - first);
    ChoiceAnswer answer{0, scores_of_logits(own, ScoreFunction::kSoftmax), {own.begin(), own.end()}, 0, 0};
    answer.index = static_cast<size_t>(std::max_element(own.begin(), own.end()) - own.begin());
    answer.tokens = sequences.tokens_of(i);
    answer.cut_tokens = sequences.cut_tokens_of(i);
    answers.push_back(std::move(answer));
  }
  return answers;
}

}  // namespace

SequenceRules ChoiceOptions::sequence_rules() const {
  return {.encoding = rules, .form = SequenceForm::kChoices, .choice = form};
}

std::vector<Encoding> encode_choices(const Tokenizer& tokenizer, const TextInput& input, const SequenceRules& rules) {
  if (input.items.size() < 2) {
    throw Error(ErrorCode::kInput, "choices", "expected at least two, got " + std::to_string(input.items.size()));
  }
  std::vector<Encoding> encodings;
  for (const std::string& choice : input.items) encodings.push_back(encode_choice(tokenizer, input, choice, rules));
  return encodings;
}

Planned<ChoiceAnswer> plan_choose(const Pipeline& pipeline, std::span<const TextInput> inputs,
                                  const ChoiceOptions& options) {
  const ChoiceHead head = choice_head(pipeline.model);
  LogitsPlan logits =
      plan_logits(pipeline.model, gather_sequences(pipeline.tokenizer, inputs, options.sequence_rules()));
  return {std::move(logits.plan), [results = std::move(logits.results), head] { return answers_of(*results, head); }};
}

std::vector<ChoiceAnswer> choose(const Pipeline& pipeline, std::span<const TextInput> inputs,
                                 const ChoiceOptions& options) {
  return run_planned(pipeline, plan_choose(pipeline, inputs, options), options.rules);
}

}  // namespace deberta
