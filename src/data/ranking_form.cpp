// A query and its documents: a list of them, those that are right and those that are not, or one a row.
#include <fmt/format.h>

#include <utility>

#include "base/ascii.h"
#include "data/example_forms.h"
#include "data/json_members.h"

namespace deberta {
namespace {

constexpr size_t kMostDocuments = 1000;

// One for each of so many documents, or for a single one without a list; empty where the row has none.
std::vector<double> numbers_of(const Json& row, std::string_view key, size_t documents, const std::string& where) {
  const Json* value = row.find(key);
  if (value == nullptr || value->is_null() || (value->is_string() && strip(value->as_string()).empty())) return {};
  std::vector<double> numbers;
  if (!value->is_array()) numbers.push_back(number_value(*value, key, where));
  if (value->is_array()) {
    for (const Json& item : value->as_array()) numbers.push_back(number_value(item, key, where));
  }
  if (numbers.size() == documents) return numbers;
  throw Error(ErrorCode::kInput, where,
              fmt::format("{}: expected {} numbers, one for each document, got {}", key, documents, numbers.size()));
}

std::string document_text(const Json& item, std::string_view key, const std::string& where) {
  return item.is_object() ? text_member(item, "text", where) : text_value(item, key, where);
}

// Texts, or objects with a text, as `rerank` reads them.
std::vector<std::string> texts_under(const Json& row, std::string_view key, const std::string& where) {
  if (key.empty()) return {};
  const Json& value = *row.find(key);
  if (!value.is_array()) return {document_text(value, key, where)};
  std::vector<std::string> texts;
  for (const Json& item : value.as_array()) texts.push_back(document_text(item, key, where));
  return texts;
}

// The row of one document tells its query from the next by its text.
void read_documents(const Json& row, std::string_view key, const ExampleFields& fields, Example& example) {
  example.choices = texts_under(row, key, example.where);
  const bool is_list = row.find(key)->is_array();
  if (!is_list) example.group = example.text;
  const std::string_view label = present_name(row, fields.label.names);
  if (!label.empty()) example.relevance = numbers_of(row, label, example.choices.size(), example.where);
  example.teacher_scores = numbers_of(row, is_list ? "scores" : "score", example.choices.size(), example.where);
}

// A teacher's scores, or how far the one right document is above the other, which then has 0.
std::vector<double> scores_of_sides(const Json& row, size_t right, size_t wrong, const std::string& where) {
  std::vector<double> scores = numbers_of(row, "pos_scores", right, where);
  for (const double score : numbers_of(row, "neg_scores", wrong, where)) scores.push_back(score);
  const bool is_triple = right == 1 && wrong == 1;
  static const std::vector<std::string> of_triple = {"margin", "score"}, of_lists = {"margin"};
  const std::string_view margin = present_name(row, is_triple ? of_triple : of_lists);
  if (margin.empty()) return scores;
  if (!is_triple)
    throw Error(ErrorCode::kInput, where,
                fmt::format("margin: expected one positive and one negative document, got {} and {}", right, wrong));
  if (scores.empty()) scores = numbers_of(row, margin, 1, where);
  if (scores.size() == 1) scores.push_back(0);
  return scores;
}

void read_sides(const Json& row, const ExampleFields& fields, Example& example) {
  const std::string_view positive = present_name(row, positive_names());
  if (positive.empty())
    throw Error(ErrorCode::kInput, example.where,
                fmt::format("expected a field named {} or {}, got {}", fields.pair.text(),
                            fmt::join(positive_names(), " or "), key_list(row)));
  example.choices = texts_under(row, positive, example.where);
  const size_t right = example.choices.size();
  for (std::string& text : texts_under(row, present_name(row, {"negative", "negatives", "neg"}), example.where))
    example.choices.push_back(std::move(text));
  example.relevance.assign(right, 1);
  example.relevance.resize(example.choices.size(), 0);
  example.teacher_scores = scores_of_sides(row, right, example.choices.size() - right, example.where);
}

void check_numbers(const Example& query, const std::vector<double>& numbers, const char* what) {
  if (numbers.empty() || numbers.size() == query.choices.size()) return;
  throw Error(ErrorCode::kInput, query.where,
              fmt::format("expected {} of each document of the query or of none, got {} of {}", what, numbers.size(),
                          query.choices.size()));
}

}  // namespace

const std::vector<std::string>& positive_names() {
  static const std::vector<std::string> names = {"positive", "positives", "pos"};
  return names;
}

void append_document(Example next, Example& query) {
  if (query.choices.size() > kMostDocuments) return;  // refused by check_documents()
  query.choices.push_back(std::move(next.choices.front()));
  query.relevance.insert(query.relevance.end(), next.relevance.begin(), next.relevance.end());
  query.teacher_scores.insert(query.teacher_scores.end(), next.teacher_scores.begin(), next.teacher_scores.end());
}

void check_documents(const Example& query) {
  const size_t documents = query.choices.size();
  const auto refuse = [&](std::string message) { throw Error(ErrorCode::kInput, query.where, std::move(message)); };
  if (documents == 0) refuse("documents: expected at least one, got none");
  if (documents > kMostDocuments)
    refuse(fmt::format("documents: expected at most {} of a query, got more", kMostDocuments));
  check_numbers(query, query.relevance, "a label");
  check_numbers(query, query.teacher_scores, "a score");
  for (const double relevance : query.relevance) {
    if (relevance < 0) refuse(fmt::format("label: expected a number of at least 0, got {}", relevance));
  }
}

void read_ranking(const Json& row, const std::string& where, const ExampleRules& rules, std::deque<Example>& examples) {
  const ExampleFields& fields = rules.fields;
  Example example;
  example.where = where;
  example.text = needed_text(row, fields.text, where);
  if (strip(example.text).empty()) throw Error(ErrorCode::kInput, where, "query: expected a text, got an empty one");
  if (const auto name = present_name(row, fields.id); !name.empty()) example.id = id_member(row, name, where);
  const std::string_view documents = present_name(row, fields.pair.names);
  if (documents.empty())
    read_sides(row, fields, example);
  else
    read_documents(row, documents, fields, example);
  check_documents(example);
  examples.push_back(std::move(example));
}

}  // namespace deberta
