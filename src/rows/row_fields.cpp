// Names of texts, and JSON values to texts.
#include "rows/row_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/checked.h"
#include "base/nearest.h"
#include "data/json_members.h"
#include "deberta/error.h"
#include "pipeline/entity_labels.h"

namespace deberta {
namespace {

constexpr const char* kItemText = "text";  // key of the text in an item that is an object

bool has(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// An error of the input, and the argument that helps.
Error input_error(const std::string& where, std::string message, Remedy remedy) {
  return {ErrorCode::kInput, {{.where = where, .message = std::move(message), .remedies = {std::move(remedy)}}}};
}

Remedy name_it() {
  return {"name it with {}", "fields"};
}

// A name such as review.body, by which other programs mean a key of an object within the row.
bool is_path(std::string_view name) {
  return name.find('.') != std::string_view::npos;
}

Remedy remedy_for_key(std::string_view name) {
  if (!is_path(name)) return name_it();
  return {fmt::format("keys of objects within a row are not read; lift what you need to the row, as {{\"text\": "
                      "{}}}, and name it with {{}}",
                      name),
          "fields"};
}

// A header of one column may hold separators of other tables.
Remedy remedy_for(const Names& columns) {
  for (const char separator : {';', '\t', ',', '|'}) {
    if (columns.size() == 1 && columns[0].find(separator) != std::string::npos) {
      const std::string separator_name = separator == '\t' ? "tabs" : std::string(1, separator);
      return {"the columns seem to be separated by " + separator_name + ": name it with {}", "separator"};
    }
  }
  return name_it();
}

const Json& member_of(const Json& object, const std::string& key, const std::string& where) {
  if (const Json* value = object.find(key)) return *value;
  throw input_error(where, fmt::format("no key \"{}\" among {}", key, key_list(object)), name_it());
}

}  // namespace

void fill_row(const RowShape& shape, std::vector<std::string> parts, Row& row) {
  const size_t least = shape.needs_all ? shape.texts() + (shape.has_items ? 1 : 0) : 1;
  const bool fits = shape.has_items ? parts.size() >= least : parts.size() == least;
  if (!fits) {
    throw Error(ErrorCode::kInput, row.where,
                fmt::format("expected {}{} texts ({}) separated by tabs, got {}", shape.has_items ? "at least " : "",
                            least, fmt::join(shape.names, ", "), parts.size()));
  }
  row.text = std::move(parts[0]);
  if (shape.texts() > 1 && parts.size() > 1) row.pair = std::move(parts[1]);
  for (size_t i = shape.texts(); i < parts.size(); ++i) row.items.push_back(std::move(parts[i]));
}

RowFields::RowFields(const FieldRules& rules)
    : shape_(rules.shape),
      kept_(rules.kept),
      joins_words_(rules.joins_words),
      is_given_(!rules.fields.empty()),
      names_(is_given_ ? rules.fields : shape_.names),
      has_had_kept_(kept_.names.size()) {
  const size_t most = shape_.has_items ? SIZE_MAX : shape_.names.size();
  const size_t least = shape_.needs_all ? shape_.names.size() : 1;
  if (is_given_ && (names_.size() < least || names_.size() > most)) {
    throw Error(ErrorCode::kUsage,
                {{.message = fmt::format("expected {} names ({}), got {}", shape_.has_items ? "these or more" : "these",
                                         fmt::join(shape_.names, ","), names_.size()),
                  .argument = "fields"}});
  }
}

bool RowFields::counts_columns() const {
  return is_given_ && parse_number<size_t>(names_.front()).has_value();
}

bool RowFields::keeps(std::string_view name) const {
  return keeps(name, names_);
}

bool RowFields::keeps(std::string_view name, const Names& texts) const {
  return kept_.has_all ? kept_.has_texts || !has(texts, name) : has(kept_.names, name);
}

void refuse_names(const FieldRules& rules, const std::string& what) {
  const auto refuse = [&](const char* argument, const char* expected, std::vector<Remedy> remedies) {
    throw Error(ErrorCode::kUsage, {{.message = fmt::format("expected {}, got {}", expected, what),
                                     .argument = argument,
                                     .remedies = std::move(remedies)}});
  };
  if (!rules.fields.empty()) refuse("fields", "rows with columns or keys", {{"name their format with {}", "form"}});
  if (!rules.kept.names.empty()) refuse("kept", "rows with columns or keys of these names", {});
}

// The names under which the texts of an object or a table with these keys stand.
const Names& RowFields::names_of(const Json& object, const std::string& where) const {
  if (is_given_ || shape_.published_names.empty()) return names_;
  const Names* match = nullptr;
  const auto has_all = [&](const Names& names) {
    return std::all_of(names.begin(), names.end(),
                       [&](const std::string& name) { return object.find(name) != nullptr; });
  };
  std::vector<const Names*> known{&names_};
  for (const Names& other : shape_.published_names) known.push_back(&other);
  for (const Names* names : known) {
    if (!has_all(*names)) continue;
    if (match != nullptr) {
      throw input_error(
          where,
          fmt::format("expected one pair of texts, got {} and {}", fmt::join(*match, ","), fmt::join(*names, ",")),
          {"name them with {}", "fields"});
    }
    match = names;
  }
  return match != nullptr ? *match : names_;
}

void RowFields::check_columns(const Names& columns, const std::string& where) const {
  JsonObject header;
  for (const std::string& column : columns) header.emplace_back(column, nullptr);
  const Json object(std::move(header));
  const auto refuse = [&](const std::string& name, Remedy remedy) {
    const std::string_view near = nearest_match(name, std::vector<std::string_view>(columns.begin(), columns.end()));
    if (!near.empty() && name.size() > 1) remedy.text = fmt::format("did you mean {}? {}", near, remedy.text);
    throw input_error(
        where, fmt::format("no column \"{}\"{}{}", name, columns.empty() ? "" : " among ", fmt::join(columns, ", ")),
        std::move(remedy));
  };
  const Names& names = names_of(object, where);
  const size_t needed = is_given_ || shape_.needs_all ? names.size() : 1;
  for (size_t i = 0; i < needed; ++i) {
    if (!has(columns, names[i])) refuse(names[i], remedy_for(columns));
  }
  for (const std::string& name : kept_.names) {
    if (!has(columns, name)) refuse(name, {"{} names columns of the input", "kept"});
  }
}

void RowFields::count_kept(const Json& object) {
  for (size_t i = 0; i < kept_.names.size(); ++i) {
    if (object.find(kept_.names[i]) != nullptr) has_had_kept_[i] = true;
  }
}

void RowFields::count(const Json& object, const Names& names) {
  if (!has_had_object_) first_keys_ = object.as_object().empty() ? "none" : key_list(object);
  has_had_object_ = true;
  has_had_text_ = has_had_text_ || object.find(names[0]) != nullptr;
  count_kept(object);
}

std::optional<Error> RowFields::missing_text(const std::string& where) const {
  if (!has_had_object_ || has_had_text_) return std::nullopt;
  return input_error(where, fmt::format("no row has the key \"{}\", the first one has {}", names_[0], first_keys_),
                     remedy_for_key(names_[0]));
}

std::optional<Error> RowFields::missing_kept(const std::string& where) const {
  for (size_t i = 0; has_had_object_ && i < kept_.names.size(); ++i) {
    if (!has_had_kept_[i]) {
      return input_error(where,
                         fmt::format("no row has the key \"{}\", the first one has {}", kept_.names[i], first_keys_),
                         {is_path(kept_.names[i]) ? "{} names keys of the row itself, not of objects within it"
                                                  : "{} names keys of the input",
                          "kept"});
    }
  }
  return std::nullopt;
}

// A text, or an object with a text, as other servers take them, whose other keys are kept.
void RowFields::read_item(const Json& item, const std::string& key, Row& row) {
  JsonObject kept;
  if (item.is_object()) {
    count_kept(item);
    for (const auto& [name, value] : item.as_object()) {
      if (name != kItemText && (kept_.has_all || has(kept_.names, name))) kept.emplace_back(name, value);
    }
  }
  if (item.is_object())
    row.items.push_back(text_value(member_of(item, kItemText, row.where), key + ": " + kItemText, row.where));
  else
    row.items.push_back(text_value(item, key, row.where));
  row.items_kept.push_back(std::move(kept));
}

// Lists; one text is a list of one.
void RowFields::read_items(const Json& object, const Names& names, Row& row) {
  for (size_t i = shape_.texts(); i < names.size(); ++i) {
    const Json& value = member_of(object, names[i], row.where);
    if (!value.is_array()) {
      read_item(value, names[i], row);
      continue;
    }
    for (const Json& item : value.as_array()) read_item(item, names[i], row);
  }
}

void RowFields::read_text(const Json& value, const std::string& name, Row& row) const {
  if (!joins_words_ || !value.is_array()) {
    row.text = text_value(value, name, row.where);
    return;
  }
  for (const Json& word : value.as_array()) {
    row.text += row.items.empty() ? "" : " ";
    row.text += row.items.emplace_back(text_value(word, name, row.where));
  }
}

// An empty cell says nothing.
void RowFields::read_labels(const Json& object, Row& row) const {
  const Json* labels = shape_.labels.empty() ? nullptr : object.find(shape_.labels);
  if (labels == nullptr || labels->is_null() || (labels->is_string() && labels->as_string().empty())) return;
  row.labels = read_entity_labels(*labels, row.where);
}

void RowFields::read(const Json& object, Row& row) {
  if (object.is_string() && (shape_.names.size() == 1 || !shape_.needs_all)) {
    has_had_object_ = has_had_text_ = true;
    row.text = object.as_string();
    return;
  }
  if (!object.is_object())
    throw Error(ErrorCode::kInput, row.where, "expected an object or a text, got " + object.describe());
  const Names& names = names_of(object, row.where);
  count(object, names);
  for (const auto& [key, value] : object.as_object()) {
    if (keeps(key, names)) row.kept.emplace_back(key, value);
  }
  read_text(member_of(object, names[0], row.where), names[0], row);
  read_labels(object, row);
  if (shape_.texts() > 1 && names.size() > 1) {
    const Json* second = object.find(names[1]);
    if (second == nullptr && (is_given_ || shape_.needs_all)) member_of(object, names[1], row.where);  // throws
    if (second != nullptr && !second->is_null()) row.pair = text_value(*second, names[1], row.where);
  }
  if (shape_.has_items) read_items(object, names, row);
}

}  // namespace deberta
