// From the document to questions; places in messages are paths into the document.
#include "data/squad.h"

#include <fmt/format.h>

#include <cstdint>
#include <unordered_set>

#include "base/json.h"
#include "base/utf8.h"
#include "data/json_rows.h"

namespace deberta {
namespace {

constexpr size_t kMaxDepth = 16;

// The member of an object. Throws kInput when it is missing or of another type.
const Json& member(const Json& object, std::string_view key, bool (Json::*is_right)() const, std::string_view expected,
                   const std::string& where) {
  const Json* value = object.find(key);
  if (value == nullptr) throw Error(ErrorCode::kInput, where, fmt::format("no {}", key));
  if (!(value->*is_right)())
    throw Error(ErrorCode::kInput, where, fmt::format("{}: expected {}, got {}", key, expected, value->describe()));
  return *value;
}
const std::string& text_of(const Json& object, std::string_view key, const std::string& where) {
  return member(object, key, &Json::is_string, "a text", where).as_string();
}
const JsonArray& array_of(const Json& object, std::string_view key, const std::string& where) {
  return member(object, key, &Json::is_array, "an array", where).as_array();
}

// Where each code point of a context begins, and its end.
std::vector<uint32_t> code_point_starts(std::string_view text) {
  std::vector<uint32_t> starts;
  for (size_t at = 0; at < text.size(); at += decode_utf8(text, at).size_bytes)
    starts.push_back(static_cast<uint32_t>(at));
  starts.push_back(static_cast<uint32_t>(text.size()));
  return starts;
}

class SquadReader {
 public:
  explicit SquadReader(const std::string& name) : name_(name) {}

  SquadFile read(const Json& document) {
    if (const Json* version = document.find("version"); version != nullptr && version->is_string())
      file_.version = version->as_string();
    size_t count = 0;
    for (const Json& article : array_of(document, "data", name_)) {
      const std::string where = fmt::format("{}: data/{}", name_, count++);
      const Json* title = article.find("title");
      const std::string titled = title != nullptr && title->is_string() ? title->as_string() : "";
      size_t paragraphs = 0;
      for (const Json& paragraph : array_of(article, "paragraphs", where))
        read_paragraph(paragraph, titled, fmt::format("{}/paragraphs/{}", where, paragraphs++));
    }
    return std::move(file_);
  }

 private:
  void read_paragraph(const Json& paragraph, const std::string& title, const std::string& where) {
    file_.contexts.push_back(text_of(paragraph, "context", where));
    file_.titles.push_back(title);
    starts_ = code_point_starts(file_.contexts.back());
    size_t count = 0;
    for (const Json& question : array_of(paragraph, "qas", where)) {
      const std::string place = fmt::format("{}/qas/{}", where, count++);
      try {
        read_question(question, place);
      } catch (const Error& error) {
        file_.skipped.push_back(error.problems().front());
      }
    }
  }

  void read_question(const Json& json, const std::string& where) {
    SquadQuestion question;
    question.context = file_.contexts.size() - 1;
    question.id = text_of(json, "id", where);
    question.question = text_of(json, "question", where);
    const Json* impossible = json.find("is_impossible");
    if (impossible != nullptr)
      question.is_impossible = member(json, "is_impossible", &Json::is_bool, "true or false", where).as_bool();
    if (json.find("answers") != nullptr) {
      size_t count = 0;
      for (const Json& answer : array_of(json, "answers", where))
        question.answers.push_back(read_answer(answer, fmt::format("{}/answers/{}", where, count++)));
      if (question.answers.empty() && impossible == nullptr) question.is_impossible = true;
      if (question.answers.empty() != question.is_impossible)
        throw Error(
            ErrorCode::kInput, where,
            question.is_impossible ? "is_impossible: expected no answer, got one" : "answers: expected one, got none");
      question.is_labelled = true;
    }
    question.is_labelled = question.is_labelled || question.is_impossible;
    if (!ids_.insert(question.id).second)
      throw Error(ErrorCode::kInput, where, fmt::format("the id {} has been seen before", quote_json(question.id)));
    file_.questions.push_back(std::move(question));
  }

  SquadAnswer read_answer(const Json& json, const std::string& where) const {
    SquadAnswer answer;
    answer.text = text_of(json, "text", where);
    const int64_t start = member(json, "answer_start", &Json::is_integer, "an integer", where).as_integer();
    const std::string_view context = file_.contexts.back();
    if (answer.text.empty()) throw Error(ErrorCode::kInput, where, "text: expected an answer, got an empty text");
    if (start < 0 || static_cast<uint64_t>(start) >= starts_.size())
      throw Error(ErrorCode::kInput, where,
                  fmt::format("answer_start: expected 0 to {}, got {}", starts_.size() - 1, start));
    answer.begin_char = static_cast<size_t>(start);
    answer.begin_byte = starts_[answer.begin_char];
    if (!context.substr(answer.begin_byte).starts_with(answer.text)) {
      const size_t end = std::min(starts_.size() - 1, answer.begin_char + count_code_points(answer.text));
      const std::string_view there = context.substr(answer.begin_byte, starts_[end] - answer.begin_byte);
      throw Error(ErrorCode::kInput, where,
                  fmt::format("text: expected what stands at answer_start {}, {}, got {}", start,
                              Json(there).describe(), Json(answer.text).describe()));
    }
    return answer;
  }

  const std::string& name_;
  SquadFile file_;
  std::vector<uint32_t> starts_;  // of the paragraph's context
  std::unordered_set<std::string> ids_;
};

}  // namespace

SquadFile read_squad(ByteSource& source) {
  const Json document =
      read_json_document(source, {.max_bytes = kMaxSquadBytes, .max_depth = kMaxDepth, .max_nodes = kMaxSquadValues});
  return SquadReader(source.name()).read(document);
}

}  // namespace deberta
