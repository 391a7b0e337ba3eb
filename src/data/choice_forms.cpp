// One right answer among several: COPA, SWAG, AlphaNLI, RACE.
#include <fmt/format.h>

#include <cctype>
#include <utility>

#include "base/ascii.h"
#include "data/example_forms.h"
#include "data/json_members.h"

namespace deberta {
namespace {

// The label of a row whose label is the number of the right choice.
std::optional<std::string> right_choice(const Json& row, const Example& example) {
  const auto label = label_member(row, "label", example.where);
  if (!label || label->empty()) return std::nullopt;
  return choice_label(*label, example.choices.size(), "label", example.where);
}

// Beside lettered answers a number could be counted from 0 or from 1.
std::optional<std::string> right_letter(const Json& row, const Example& example) {
  const auto label = label_member(row, "answer", example.where);
  if (!label || strip(*label).empty()) return std::nullopt;
  const std::string_view text = strip(*label);
  const char letter = text.size() == 1 ? static_cast<char>(std::toupper(static_cast<unsigned char>(text[0]))) : '?';
  const char last = static_cast<char>('A' + example.choices.size() - 1);
  if (letter >= 'A' && letter <= last) return std::to_string(letter - 'A');
  throw Error(ErrorCode::kTask, example.where,
              fmt::format("answer: expected a letter from A to {}, got {}", last, quote_begin(text)));
}

// The endings of a row, from the first one on; empty cells at its end do not count. `key`: the name of the field of a
// number.
template <class Key>
std::vector<std::string> endings_of(const Json& row, const Key& key, const std::string& where) {
  constexpr size_t kMost = 26;
  std::vector<std::string> endings;
  while (endings.size() < kMost && row.find(key(endings.size())) != nullptr)
    endings.push_back(text_member(row, key(endings.size()), where));
  for (size_t i = endings.size(); i < kMost; ++i) {
    if (row.find(key(i)) != nullptr)
      throw Error(ErrorCode::kInput, where, fmt::format("expected {} before {}", key(endings.size()), key(i)));
  }
  while (!endings.empty() && endings.back().empty()) endings.pop_back();
  if (endings.size() < 2)
    throw Error(ErrorCode::kInput, where,
                fmt::format("expected two choices or more, {} and {}, got {}", key(0), key(1), endings.size()));
  return endings;
}

std::vector<std::string> texts_of(const Json& value, std::string_view name, const std::string& where) {
  if (!value.is_array())
    throw Error(ErrorCode::kInput, where, fmt::format("{}: expected an array, got {}", name, value.describe()));
  std::vector<std::string> texts;
  for (const Json& item : value.as_array()) {
    if (!item.is_string())
      throw Error(ErrorCode::kInput, where, fmt::format("{}: expected strings, got {}", name, item.describe()));
    texts.push_back(item.as_string());
  }
  return texts;
}

// A passage of RACE: as many lists of options as questions, and as many answers if it gives them.
struct RacePassage {
  RacePassage(const Json& row, const std::string& where)
      : article(text_member(row, "article", where)),
        questions(array_member(row, "questions", where)),
        options(array_member(row, "options", where)) {
    if (row.find("answers") != nullptr) answers = &array_member(row, "answers", where);
    if (options.size() == questions.size() && (answers == nullptr || answers->size() == questions.size())) return;
    throw Error(ErrorCode::kInput, where,
                fmt::format("expected as many options and answers as questions, got {} questions, {} options{}",
                            questions.size(), options.size(),
                            answers == nullptr ? "" : fmt::format(", {} answers", answers->size())));
  }

  const std::string& article;
  const JsonArray& questions;
  const JsonArray& options;
  const JsonArray* answers = nullptr;
};

void read_race_question(const RacePassage& passage, size_t number, Example& example) {
  const std::string& where = example.where;
  const Json& question = passage.questions[number];
  if (!question.is_string()) throw Error(ErrorCode::kInput, where, "expected a string, got " + question.describe());
  example.pair = question.as_string();
  example.choices = texts_of(passage.options[number], "options", where);
  if (example.choices.size() < 2)
    throw Error(ErrorCode::kInput, where, fmt::format("options: expected two or more, got {}", example.choices.size()));
  if (passage.answers == nullptr) return;
  const Json& answer = (*passage.answers)[number];
  if (!answer.is_string())
    throw Error(ErrorCode::kInput, where, "answers: expected a letter, got " + answer.describe());
  example.label = choice_label(answer.as_string(), example.choices.size(), "answers", where);
}

}  // namespace

void read_copa(const Json& row, const std::string& where, const ExampleRules&, std::deque<Example>& examples) {
  Example example;
  example.where = where;
  example.id = id_member(row, "idx", where);
  example.text = text_member(row, "premise", where);
  example.choices = {text_member(row, "choice1", where), text_member(row, "choice2", where)};
  example.pair = text_member(row, "question", where);
  if (example.pair != "cause" && example.pair != "effect")
    throw Error(ErrorCode::kInput, where,
                fmt::format("question: expected cause or effect, got {}", quote_begin(*example.pair)));
  example.label = right_choice(row, example);
  examples.push_back(std::move(example));
}

void read_swag(const Json& row, const std::string& where, const ExampleRules&, std::deque<Example>& examples) {
  Example example;
  example.where = where;
  if (row.find("prompt") == nullptr) {
    example.text = text_member(row, "sent1", where);
    example.pair = text_member(row, "sent2", where);
    example.choices = endings_of(
        row, [](size_t i) { return fmt::format("ending{}", i); }, where);
    example.label = right_choice(row, example);
  } else {  // a question with lettered answers, and perhaps a text that it is about
    example.id = id_member(row, "id", where);
    example.text = text_member(row, "prompt", where);
    const Json* context = row.find("context");  // an empty cell is none
    if (context != nullptr && !(context->is_string() && context->as_string().empty()))
      example.pair = std::exchange(example.text, text_member(row, "context", where));
    example.choices = endings_of(
        row, [](size_t i) { return std::string(1, static_cast<char>('A' + i)); }, where);
    example.label = right_letter(row, example);
  }
  examples.push_back(std::move(example));
}

void read_alpha_nli(const Json& row, const std::string& where, const ExampleRules&, std::deque<Example>& examples) {
  Example example;
  example.where = where;
  example.id = id_member(row, "story_id", where);
  example.text = text_member(row, "obs1", where);
  example.pair = text_member(row, "obs2", where);
  example.choices = {text_member(row, "hyp1", where), text_member(row, "hyp2", where)};
  if (const auto label = label_member(row, "label", where); label && !label->empty()) {
    if (label != "1" && label != "2")
      throw Error(ErrorCode::kTask, where, fmt::format("label: expected 1 or 2, got {}", quote_begin(*label)));
    example.label.emplace(1, label == "1" ? '0' : '1');
  }
  examples.push_back(std::move(example));
}

void read_race(const Json& row, const std::string& where, const ExampleRules&, std::deque<Example>& examples) {
  const RacePassage passage(row, where);
  const std::string id = id_member(row, "id", where);
  Example shared;
  shared.where = where;
  shared.text = passage.article;
  check_copies(shared, passage.questions.size());
  for (size_t i = 0; i < passage.questions.size(); ++i) {
    Example example = shared;
    example.where = fmt::format("{}: questions/{}", where, i);
    example.id = id.empty() ? "" : fmt::format("{}/{}", id, i);
    example.group = id.empty() ? where : id;
    try {
      read_race_question(passage, i, example);
    } catch (const Error& error) {
      example.error = error;
    }
    examples.push_back(std::move(example));
  }
}

}  // namespace deberta
