// From the document to questions; places in messages are paths into the document.
#include "data/squad.h"

#include <fmt/format.h>

#include <cstdint>
#include <unordered_set>

#include "base/json.h"
#include "base/utf8.h"
#include "data/code_points.h"
#include "data/json_members.h"
#include "data/json_rows.h"

namespace deberta {
namespace {

constexpr size_t kMaxDepth = 16;

class SquadReader {
 public:
  explicit SquadReader(const std::string& name) : name_(name) {}

  SquadFile read(const Json& document) {
    if (const Json* version = document.find("version"); version != nullptr && version->is_string())
      file_.version = version->as_string();
    size_t count = 0;
    for (const Json& article : array_member(document, "data", name_)) {
      const std::string where = fmt::format("{}: data/{}", name_, count++);
      const Json* title = article.find("title");
      const std::string titled = title != nullptr && title->is_string() ? title->as_string() : "";
      size_t paragraphs = 0;
      for (const Json& paragraph : array_member(article, "paragraphs", where))
        read_paragraph(paragraph, titled, fmt::format("{}/paragraphs/{}", where, paragraphs++));
    }
    return std::move(file_);
  }

 private:
  void read_paragraph(const Json& paragraph, const std::string& title, const std::string& where) {
    file_.contexts.push_back(text_member(paragraph, "context", where));
    file_.titles.push_back(title);
    places_ = CodePointTable(file_.contexts.back());
    size_t count = 0;
    for (const Json& question : array_member(paragraph, "qas", where)) {
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
    question.id = text_member(json, "id", where);
    question.question = text_member(json, "question", where);
    const Json* impossible = json.find("is_impossible");
    if (impossible != nullptr)
      question.is_impossible = json_member(json, "is_impossible", &Json::is_bool, "true or false", where).as_bool();
    if (json.find("answers") != nullptr) {
      size_t count = 0;
      for (const Json& answer : array_member(json, "answers", where))
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
      throw Error(ErrorCode::kInput, where, fmt::format("the id {} appears twice", quote_json(question.id)));
    file_.questions.push_back(std::move(question));
  }

  SquadAnswer read_answer(const Json& json, const std::string& where) const {
    SquadAnswer answer;
    answer.text = text_member(json, "text", where);
    const int64_t start = integer_member(json, "answer_start", where);
    const std::string_view context = file_.contexts.back();
    if (answer.text.empty()) throw Error(ErrorCode::kInput, where, "text: expected an answer, got an empty text");
    if (start < 0 || static_cast<uint64_t>(start) > places_.size())
      throw Error(ErrorCode::kInput, where,
                  fmt::format("answer_start: expected 0 to {}, got {}", places_.size(), start));
    answer.begin_char = static_cast<size_t>(start);
    answer.begin_byte = places_.byte_of(answer.begin_char);
    if (!context.substr(answer.begin_byte).starts_with(answer.text)) {
      const size_t end = std::min(places_.size(), answer.begin_char + count_code_points(answer.text));
      const std::string_view there = context.substr(answer.begin_byte, places_.byte_of(end) - answer.begin_byte);
      throw Error(ErrorCode::kInput, where,
                  fmt::format("text: expected the text at answer_start {}, {}, got {}", start, Json(there).describe(),
                              Json(answer.text).describe()));
    }
    return answer;
  }

  const std::string& name_;
  SquadFile file_;
  CodePointTable places_;  // of the paragraph's context
  std::unordered_set<std::string> ids_;
};

}  // namespace

SquadFile read_squad(ByteSource& source) {
  bool is_repaired = false;
  const Json document = read_json_document(
      source, {.max_bytes = kMaxSquadBytes, .max_depth = kMaxDepth, .max_nodes = kMaxSquadValues}, &is_repaired);
  SquadFile file = SquadReader(source.name()).read(document);
  file.is_repaired = is_repaired;
  return file;
}

}  // namespace deberta
