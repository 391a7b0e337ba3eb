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
    const bool is_list =
        document.is_array() && !document.as_array().empty() && is_flat_row(document.as_array().front());
    if (is_list) return read_rows(document.as_array(), fmt::format("{}: ", name_));
    if (const Json* version = document.find("version"); version != nullptr && version->is_string())
      file_.version = version->as_string();
    const JsonArray& articles = array_member(document, "data", name_);
    if (!articles.empty() && is_flat_row(articles.front())) return read_rows(articles, fmt::format("{}: data/", name_));
    size_t count = 0;
    for (const Json& article : articles) {
      const std::string where = fmt::format("{}: data/{}", name_, count++);
      const Json* title = article.find("title");
      const std::string titled = title != nullptr && title->is_string() ? title->as_string() : "";
      size_t paragraphs = 0;
      for (const Json& paragraph : array_member(article, "paragraphs", where))
        read_paragraph(paragraph, titled, fmt::format("{}/paragraphs/{}", where, paragraphs++));
    }
    return std::move(file_);
  }

  // A row with its own context, as the hub's datasets have them.
  void read_row(const Json& row, const std::string& where) {
    try {
      if (!row.is_object()) throw Error(ErrorCode::kInput, where, "expected an object, got " + row.describe());
      const std::string& context = text_member(row, "context", where);
      if (file_.contexts.empty() || file_.contexts.back() != context) {
        if ((context_bytes_ += context.size()) > kMaxSquadBytes)
          throw Error(ErrorCode::kTooLarge, name_,
                      fmt::format("expected at most {} bytes of contexts", kMaxSquadBytes));
        const Json* title = row.find("title");
        file_.contexts.push_back(context);
        file_.titles.push_back(title != nullptr && title->is_string() ? title->as_string() : "");
        places_ = CodePointTable(file_.contexts.back());
      }
      read_question(row, where);
    } catch (const Error& error) {
      if (error.code() == ErrorCode::kTooLarge) throw;
      file_.skipped.push_back(error.problems().front());
    }
  }
  void skip(const Error& error) { file_.skipped.push_back(error.problems().front()); }
  SquadFile finish() { return std::move(file_); }

  static bool is_flat_row(const Json& value) {
    return value.is_object() && value.find("question") != nullptr && value.find("context") != nullptr;
  }

 private:
  SquadFile read_rows(const JsonArray& rows, const std::string& prefix) {
    size_t count = 0;
    for (const Json& row : rows) read_row(row, fmt::format("{}{}", prefix, count++));
    return finish();
  }

  void read_paragraph(const Json& paragraph, const std::string& title, const std::string& where) {
    file_.contexts.push_back(text_member(paragraph, "context", where));
    file_.titles.push_back(title);
    places_ = CodePointTable(file_.contexts.back());
    size_t count = 0;
    for (const Json& question : array_member(paragraph, "qas", where)) {
      const std::string location = fmt::format("{}/qas/{}", where, count++);
      try {
        read_question(question, location);
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
    if (impossible != nullptr && impossible->is_null()) impossible = nullptr;
    if (impossible != nullptr)
      question.is_impossible = json_member(json, "is_impossible", &Json::is_bool, "true or false", where).as_bool();
    if (json.find("answers") != nullptr) {
      question.answers = read_answers(json, where);
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

  // A list of answers, or an object of two lists of the same length.
  std::vector<SquadAnswer> read_answers(const Json& json, const std::string& where) const {
    std::vector<SquadAnswer> answers;
    const auto location = [&] { return fmt::format("{}/answers/{}", where, answers.size()); };
    const Json& listed = *json.find("answers");
    if (!listed.is_object()) {
      for (const Json& answer : array_member(json, "answers", where)) {
        const std::string at = location();
        const std::string& text = text_member(answer, "text", at);
        answers.push_back(read_answer(text, integer_member(answer, "answer_start", at), at));
      }
      return answers;
    }
    const JsonArray& texts = array_member(listed, "text", where + "/answers");
    const JsonArray& starts = array_member(listed, "answer_start", where + "/answers");
    if (texts.size() != starts.size())
      throw Error(ErrorCode::kInput, where + "/answers",
                  fmt::format("expected as many answer_start as text, got {} and {}", starts.size(), texts.size()));
    for (size_t i = 0; i < texts.size(); ++i) {
      const std::string at = location();
      if (!starts[i].is_integer())
        throw Error(ErrorCode::kInput, at, "answer_start: expected an integer, got " + starts[i].describe());
      answers.push_back(read_answer(text_value(texts[i], "text", at), starts[i].as_integer(), at));
    }
    return answers;
  }

  SquadAnswer read_answer(const std::string& text, int64_t start, const std::string& where) const {
    SquadAnswer answer;
    answer.text = text;
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
                  fmt::format("text: expected the text at answer_start {}, {}, got {}", start, quote_begin(there),
                              quote_begin(answer.text)));
    }
    return answer;
  }

  const std::string& name_;
  SquadFile file_;
  CodePointTable places_;  // code points of the paragraph's context
  std::unordered_set<std::string> ids_;
  size_t context_bytes_ = 0;  // bytes of context in all rows
};

// JSON Lines: whether the first line that is not blank is a row of its own, even a wrong one, and not a document.
bool begins_with_row(ByteSource& source) {
  TextLine line;
  line.text = std::string(source.peek_line(LineReader::kMaxLineBytes));
  if (line.text.empty()) return false;
  const JsonRow row = parse_json_row(std::move(line));
  if (row.error || !row.value.is_object()) return false;
  return !row.value.as_object().empty() && row.value.find("data") == nullptr;
}

SquadFile read_lines(ByteSource& source) {
  const std::string name = source.name();
  JsonLineReader lines{LineReader(std::move(source))};
  SquadReader reader(name);
  for (JsonRow row; lines.next(row);) {
    if (row.error)
      reader.skip(*row.error);
    else
      reader.read_row(row.value, row.where);
  }
  SquadFile file = reader.finish();
  file.is_repaired = lines.lines().repaired() > 0;
  return file;
}

}  // namespace

SquadFile read_squad(ByteSource& source) {
  if (begins_with_row(source)) return read_lines(source);
  bool is_repaired = false;
  const Json document = read_json_document(
      source, {.max_bytes = kMaxSquadBytes, .max_depth = kMaxDepth, .max_nodes = kMaxSquadValues}, &is_repaired);
  SquadFile file = SquadReader(source.name()).read(document);
  file.is_repaired = is_repaired;
  return file;
}

}  // namespace deberta
