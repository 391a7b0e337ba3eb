// SuperGLUE's nested rows: words in sentences (WiC, WSC), answers of questions (MultiRC), entities (ReCoRD).
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "base/utf8.h"
#include "data/example_forms.h"
#include "data/json_members.h"
#include "text/unicode/unicode.h"

namespace deberta {
namespace {

// A place that is counted in code points, its last one excluded.
TextSpan open_span(const CodePointTable& places, int64_t begin, int64_t end, std::string_view name,
                   const std::string& where) {
  const auto size = static_cast<int64_t>(places.size());
  if (begin < 0 || end <= begin || end > size)
    throw Error(ErrorCode::kInput, where,
                fmt::format("{}: expected a range in a text of {} characters, got {} to {}", name, size, begin, end));
  return places.span(static_cast<size_t>(begin), static_cast<size_t>(end));
}
// The same, its last one included: {"start": 3, "end": 5}.
TextSpan closed_span(const CodePointTable& places, const Json& json, std::string_view name, const std::string& where) {
  const int64_t begin = integer_member(json, "start", where), last = integer_member(json, "end", where);
  return open_span(places, begin, last < INT64_MAX ? last + 1 : last, name, where);
}

struct Word {
  size_t begin = 0;  // bytes
  size_t end = 0;
};
std::vector<Word> words_of(std::string_view text) {
  std::vector<Word> words;
  bool is_in_word = false;
  for (size_t at = 0; at < text.size();) {
    const CodePoint point = decode_utf8(text, at);
    const bool is_space = is_white_space(point.value);
    if (!is_space && !is_in_word) words.push_back({at, at});
    at += point.size_bytes;
    if (!is_space) words.back().end = at;
    is_in_word = !is_space;
  }
  return words;
}

bool is_same_but_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [&](char x, char y) { return lower(x) == lower(y); });
}

// Finds a phrase at a word of a text. Only the last word may be longer than the phrase's ("him" at "him.").
class PhraseFinder {
 public:
  PhraseFinder(std::string_view text, std::string_view phrase)
      : text_(text), phrase_(phrase), words_(words_of(text)), phrase_words_(words_of(phrase)) {}

  size_t words() const { return words_.size(); }
  size_t phrase_words() const { return phrase_words_.size(); }

  // Bytes of the text from the phrase's begin to its end.
  std::optional<Word> at(size_t word) const {
    if (phrase_words_.empty() || word + phrase_words_.size() > words_.size()) return std::nullopt;
    for (size_t i = 0; i < phrase_words_.size(); ++i) {
      const std::string_view wanted = part(phrase_, phrase_words_[i]);
      const std::string_view there = part(text_, words_[word + i]);
      const bool is_last = i + 1 == phrase_words_.size();
      if (!is_same_but_case(is_last ? there.substr(0, wanted.size()) : there, wanted)) return std::nullopt;
    }
    const size_t last = word + phrase_words_.size() - 1;
    return Word{words_[word].begin, words_[last].begin + part(phrase_, phrase_words_.back()).size()};
  }

  // At the word, else where it stands nearest: some published rows are a word off.
  std::optional<Word> near(size_t word) const {
    for (size_t distance = 0; distance < words_.size(); ++distance) {
      if (const auto neighbour = at(word + distance)) return neighbour;
      if (distance > word) continue;
      if (const auto neighbour = at(word - distance)) return neighbour;
    }
    return std::nullopt;
  }

 private:
  static std::string_view part(std::string_view text, const Word& word) {
    return text.substr(word.begin, word.end - word.begin);
  }

  std::string_view text_, phrase_;
  std::vector<Word> words_, phrase_words_;
};

constexpr size_t kMaxPhraseWords = 100;  // each is tried at each word of the text

TextSpan wsc_span(const Json& target, const Example& example, const std::string& name) {
  const int64_t index = integer_member(target, name + "_index", example.where);
  const std::string& phrase = text_member(target, name + "_text", example.where);
  const PhraseFinder finder(example.text, phrase);
  if (finder.phrase_words() > kMaxPhraseWords)
    throw Error(
        ErrorCode::kInput, example.where,
        fmt::format("{}_text: expected at most {} words, got {}", name, kMaxPhraseWords, finder.phrase_words()));
  if (index < 0 || static_cast<uint64_t>(index) >= finder.words())
    throw Error(ErrorCode::kInput, example.where,
                fmt::format("{}_index: expected the number of one of {} words, got {}", name, finder.words(), index));
  const auto word = finder.near(static_cast<size_t>(index));
  if (!word)
    throw Error(ErrorCode::kInput, example.where,
                fmt::format("{}_text: expected words from the text, got {}", name, quote_begin(phrase)));
  return CodePointTable(example.text).span_of_bytes(word->begin, word->end);
}

void read_answers(const Json& question, Example& shared, std::deque<Example>& examples) {
  const std::string where = shared.where;
  const std::string& text = text_member(question, "question", where);
  const JsonArray& answers = array_member(question, "answers", where);
  check_copies(shared, examples.size() + answers.size());
  size_t count = 0;
  for (const Json& answer : answers) {
    Example& example = examples.emplace_back(shared);
    example.where = fmt::format("{}/answers/{}", where, count++);
    try {
      example.pair = text + " " + text_member(answer, "text", example.where);
      example.id = id_member(answer, "idx", example.where);
      example.label = label_member(answer, "label", example.where);
    } catch (const Error& error) {
      example.error = error;
    }
  }
}

// The entities of a passage, in the order of the file; their ends are included.
std::vector<TextSpan> entities_of(const Json& passage, const CodePointTable& places, const std::string& where) {
  std::vector<TextSpan> spans;
  for (const Json& entity : array_member(passage, "entities", where))
    spans.push_back(closed_span(places, entity, "entities", where));
  return spans;
}

void read_query(const Json& json, const CodePointTable& places, Example& example) {
  const std::string& where = example.where;
  example.id = id_member(json, json.find("idx") != nullptr ? "idx" : "id", where);
  example.pair = text_member(json, "query", where);
  if (example.pair->find("@placeholder") == std::string::npos)
    throw Error(ErrorCode::kInput, where, "query: expected @placeholder, got none");
  if (json.find("answers") == nullptr) return;
  for (const Json& answer : array_member(json, "answers", where)) {
    const std::string& text = text_member(answer, "text", where);
    const TextSpan span = closed_span(places, answer, "answers", where);
    const std::string there = example.text.substr(span.begin_byte, span.end_byte - span.begin_byte);
    if (there != text)
      throw Error(ErrorCode::kInput, where,
                  fmt::format("answers: expected the text at that position, {}, got {}", quote_begin(there),
                              quote_begin(text)));
    example.answers.push_back(text);
  }
}

}  // namespace

void read_wic(const Json& row, const std::string& where, const ExampleRules&, std::deque<Example>& examples) {
  Example example;
  example.where = where;
  example.id = id_member(row, "idx", where);
  example.text = text_member(row, "sentence1", where);
  example.pair = text_member(row, "sentence2", where);
  example.text_spans.push_back(open_span(CodePointTable(example.text), integer_member(row, "start1", where),
                                         integer_member(row, "end1", where), "start1, end1", where));
  example.pair_spans.push_back(open_span(CodePointTable(*example.pair), integer_member(row, "start2", where),
                                         integer_member(row, "end2", where), "start2, end2", where));
  example.label = label_member(row, "label", where);
  examples.push_back(std::move(example));
}

void read_wsc(const Json& row, const std::string& where, const ExampleRules&, std::deque<Example>& examples) {
  Example example;
  example.where = where;
  example.id = id_member(row, "idx", where);
  example.text = text_member(row, "text", where);
  const Json& target = json_member(row, "target", &Json::is_object, "an object", where);
  for (const char* name : {"span1", "span2"}) example.text_spans.push_back(wsc_span(target, example, name));
  example.label = label_member(row, "label", where);
  examples.push_back(std::move(example));
}

void read_multirc(const Json& row, const std::string& where, const ExampleRules&, std::deque<Example>& examples) {
  const Json& passage = json_member(row, "passage", &Json::is_object, "an object", where);
  Example shared;
  shared.text = text_member(passage, "text", where);
  size_t count = 0;
  for (const Json& question : array_member(passage, "questions", where)) {
    shared.where = fmt::format("{}: passage/questions/{}", where, count++);
    shared.group = shared.where;
    try {
      read_answers(question, shared, examples);
    } catch (const Error& error) {
      examples.push_back(shared);
      examples.back().error = error;
    }
  }
}

void read_record(const Json& row, const std::string& where, const ExampleRules&, std::deque<Example>& examples) {
  const Json& passage = json_member(row, "passage", &Json::is_object, "an object", where);
  Example shared;
  shared.text = text_member(passage, "text", where);
  const CodePointTable places(shared.text);
  shared.text_spans = entities_of(passage, places, where);
  const JsonArray& queries = array_member(row, "qas", where);
  shared.where = where;
  check_copies(shared, queries.size());
  size_t count = 0;
  for (const Json& query : queries) {
    Example& example = examples.emplace_back(shared);
    example.where = fmt::format("{}: qas/{}", where, count++);
    try {
      read_query(query, places, example);
    } catch (const Error& error) {
      example.error = error;
    }
  }
}

}  // namespace deberta
