// Names of texts by verb, and JSON values to texts.
#include "cli/row_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/checked.h"
#include "deberta/error.h"

namespace deberta::cli {
namespace {

const Json& member_of(const Json& object, const std::string& key, const std::string& where) {
  if (const Json* value = object.find(key)) return *value;
  std::vector<std::string_view> names;
  for (const auto& member : object.as_object()) names.push_back(member.first);
  throw Error(ErrorCode::kInput, where,
              fmt::format("no key \"{}\" among {}; name it with --input-field", key, fmt::join(names, ", ")));
}

std::string text_of(const Json& value, const std::string& key, const std::string& where) {
  if (value.is_string()) return value.as_string();
  throw Error(ErrorCode::kInput, where, fmt::format("{}: expected a text, got {}", key, value.describe()));
}

// A list of texts, or of objects with a text as other servers take them; one text is a list of one.
void append_items(const Json& value, const std::string& key, Row& row) {
  if (!value.is_array()) return row.items.push_back(text_of(value, key, row.where));
  for (const Json& item : value.as_array()) {
    const bool is_object = item.is_object();
    row.items.push_back(text_of(is_object ? member_of(item, "text", row.where) : item, key, row.where));
  }
}

}  // namespace

RowShape row_shape(const Options& options) {
  const std::string& verb = options.verb();
  if (verb == "qa") return {{"question", "context"}, false, true};
  if (verb == "choose") return {{"context", "question", "choices"}, true, true};
  if (verb == "rerank" && options.text("query").empty()) return {{"query", "documents"}, true, true};
  if (verb == "rerank" || verb == "zero-shot") return {{"text"}, false, true};
  const auto is_asked = [&](const char* flag) { return has_option(verb, flag) && options.flag(flag); };
  const bool is_pair = verb == "nli" || is_asked("pair") || is_asked("similarity");
  return {{"text", "text_pair"}, false, is_pair};
}

void fill_row(const RowShape& shape, std::vector<std::string> parts, Row& row) {
  const size_t least = shape.needs_all ? shape.texts() + (shape.has_items ? 1 : 0) : 1;
  const bool fits = shape.has_items ? parts.size() >= least : parts.size() == least;
  if (!fits) {
    throw Error(ErrorCode::kInput, row.where,
                fmt::format("expected {}{} texts ({}) with a tab between, got {}", shape.has_items ? "at least " : "",
                            least, fmt::join(shape.names, ", "), parts.size()));
  }
  row.text = std::move(parts[0]);
  if (shape.texts() > 1 && parts.size() > 1) row.pair = std::move(parts[1]);
  for (size_t i = shape.texts(); i < parts.size(); ++i) row.items.push_back(std::move(parts[i]));
}

RowFields::RowFields(const Options& options) : shape_(row_shape(options)), names_(shape_.names) {
  if (has_option(options.verb(), "keep")) keep_ = options.list("keep");
  const auto given = options.list("input-field");
  is_given_ = !given.empty();
  if (!is_given_) return;
  const size_t most = shape_.has_items ? SIZE_MAX : shape_.names.size();
  const size_t least = shape_.needs_all ? shape_.names.size() : 1;
  if (given.size() < least || given.size() > most) {
    throw Error(ErrorCode::kUsage, "--input-field",
                fmt::format("expected {} names ({}), got {}", shape_.has_items ? "these or more" : "these",
                            fmt::join(shape_.names, ","), given.size()));
  }
  names_ = given;
}

bool RowFields::counts_columns() const {
  return is_given_ && parse_number<size_t>(names_.front()).has_value();
}

bool RowFields::keeps(std::string_view name) const {
  const auto has = [&](const std::vector<std::string>& names) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  return keep_ == std::vector<std::string>{"all"} ? !has(names_) : has(keep_);
}

std::vector<std::string> kept_by_name(const Options& options) {
  std::vector<std::string> names = options.list("keep");
  if (names.size() == 1 && (names[0] == "all" || names[0] == "none")) names.clear();
  return names;
}

void RowFields::read_items(const Json& object, Row& row) const {
  for (size_t i = shape_.texts(); i < names_.size(); ++i)
    append_items(member_of(object, names_[i], row.where), names_[i], row);
}

void RowFields::read(const Json& object, Row& row) const {
  if (object.is_string() && (shape_.names.size() == 1 || !shape_.needs_all)) {
    row.text = object.as_string();
    return;
  }
  if (!object.is_object())
    throw Error(ErrorCode::kInput, row.where, "expected an object or a text, got " + object.describe());
  for (const auto& [key, value] : object.as_object()) {
    if (keeps(key)) row.kept.emplace_back(key, value);
  }
  row.text = text_of(member_of(object, names_[0], row.where), names_[0], row.where);
  if (shape_.texts() > 1 && names_.size() > 1) {
    const Json* second = object.find(names_[1]);
    if (second == nullptr && (is_given_ || shape_.needs_all)) member_of(object, names_[1], row.where);  // throws
    if (second != nullptr && !second->is_null()) row.pair = text_of(*second, names_[1], row.where);
  }
  if (shape_.has_items) read_items(object, row);
}

}  // namespace deberta::cli
