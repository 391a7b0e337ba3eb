// Which columns or keys of a row are the texts of a verb, and which others are kept.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "cli/rows.h"
#include "config/options.h"

namespace deberta::cli {

// What a verb reads from a row: one or two texts, for some followed by any number of items.
struct RowShape {
  std::vector<std::string> names;  // of the texts, then of the items, as in JSON Lines
  bool has_items = false;          // the last name holds a list
  bool needs_all = false;          // the second text too
  size_t texts() const { return names.size() - (has_items ? 1 : 0); }
};
RowShape row_shape(const Options& options);

// Texts by their place: the arguments of the program, the parts of a line between tabs. Throws kInput.
void fill_row(const RowShape& shape, std::vector<std::string> parts, Row& row);

// What --keep names; none where it says all or none.
std::vector<std::string> kept_by_name(const Options& options);

class RowFields {
 public:
  // Reads --input-field and --keep. Throws kUsage.
  explicit RowFields(const Options& options);

  bool counts_columns() const;  // --input-field has numbers: the file has no header line

  // The texts of an object; what is kept of the rest. Throws kInput.
  void read(const Json& object, Row& row) const;

  bool keeps(std::string_view name) const;  // by --keep: it is named, or all are kept and it is no text

 private:
  void read_items(const Json& object, Row& row) const;

  RowShape shape_;
  std::vector<std::string> keep_;
  bool is_given_ = false;
  std::vector<std::string> names_;  // as in shape_, more than one of items where several columns hold one each
};

}  // namespace deberta::cli
