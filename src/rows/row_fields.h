// Which columns or keys of a row are its texts, and which others are kept.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "rows/row.h"

namespace deberta {

using Names = std::vector<std::string>;

// What is read from a row: one or two texts, or texts followed by any number of items.
struct RowShape {
  Names names;                              // the texts' names, then that of the items, as in JSON Lines
  bool has_items = false;                   // the last name holds a list
  bool needs_all = false;                   // the second text too
  std::vector<Names> published_names = {};  // names that published files have in their place
  std::string labels = {};                  // name of the labels of a row's own; empty: rows have none
  size_t texts() const { return names.size() - (has_items ? 1 : 0); }
};

// Columns or keys that go from a row to its answer.
struct KeptFields {
  bool has_all = false;    // all that are not texts
  bool has_texts = false;  // with has_all: the texts too
  Names names = {};        // else these
};

struct FieldRules {
  RowShape shape;
  Names fields = {};  // where the texts are: columns, keys, or numbers of columns from 1; empty: the shape's names
  KeptFields kept = {};
  bool joins_words = false;  // a list of words is a text: joined by spaces, and the row's items
};

// Texts by their place: the arguments of a program, the parts of a line between tabs. Throws kInput.
void fill_row(const RowShape& shape, std::vector<std::string> parts, Row& row);

// Throws kUsage when the rules name columns or keys, which rows of `what` do not have.
void refuse_names(const FieldRules& rules, const std::string& what);

class RowFields {
 public:
  // Throws kUsage for fewer or more fields than the shape has.
  explicit RowFields(const FieldRules& rules);

  bool counts_columns() const;  // the fields are numbers: the file has no header line

  // For a table, before its rows: throws kInput when it lacks a column that is read or kept by name.
  void check_columns(const Names& columns, const std::string& where) const;

  // The texts of an object, and what is kept of the rest. Throws kInput.
  void read(const Json& object, Row& row);

  bool has_had_text() const { return has_had_text_; }
  // For rows with keys: what is wanted but no object has had so far; none before the first object.
  std::optional<Error> missing_text(const std::string& where) const;
  std::optional<Error> missing_kept(const std::string& where) const;

  // It is kept by name, or all are kept, and it is no text or those are kept too.
  bool keeps(std::string_view name) const;

 private:
  const Names& names_of(const Json& object, const std::string& where) const;
  bool keeps(std::string_view name, const Names& texts) const;
  void read_item(const Json& item, const std::string& key, Row& row);
  void read_items(const Json& object, const Names& names, Row& row);
  void read_text(const Json& value, const std::string& name, Row& row) const;
  void read_labels(const Json& object, Row& row) const;
  void count(const Json& object, const Names& names);
  void count_kept(const Json& object);

  RowShape shape_;
  KeptFields kept_;
  bool joins_words_ = false;
  bool is_given_ = false;
  Names names_;  // as in shape_; several for the items if several columns hold one each

  bool has_had_text_ = false;
  std::string first_keys_;  // keys of the first object, for messages
  bool has_had_object_ = false;
  std::vector<bool> has_had_kept_;  // for each of kept_.names
};

}  // namespace deberta
