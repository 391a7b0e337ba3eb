// Labelled files of entities: JSON rows (data/entity_rows.h), or sentences in columns (data/conll.h).
#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "data/entity_rows.h"
#include "data/row_form.h"
#include "eval/row_part.h"

namespace deberta {

// What the model reads in place of a label of the files: {"PER", "person"}.
using LabelRenames = std::vector<std::pair<std::string, std::string>>;

struct EntityFiles {
  std::vector<std::string> files;
  std::optional<RowForm> format = std::nullopt;  // none: by the file's name, else columns
  std::optional<RowPart> part = std::nullopt;    // none: all rows
  size_t most_rows = 0;                          // reads only the first rows; 0: all
  LabelRenames label_names = {};                 // other labels stay as they are
  bool needs_names = true;                       // refuses names of labels that no row has
};

struct EntityRows {
  std::vector<EntityRow> rows;  // bad ones with their errors
  size_t left_out = 0;          // rows of the other part
  size_t repaired = 0;          // rows with bytes that are not UTF-8

  // Every label of the rows, sorted.
  std::vector<std::string> labels() const;
};

// All rows, read before any is used: which tags begin an entity shows only in all of them. Fewer once `is_stopped`.
// `on_row`: their number so far. Throws kUsage for a format that has no entities and for names of labels, and what
// the readers throw.
EntityRows read_entity_files(
    const EntityFiles& files, const std::function<bool()>& is_stopped,
    const std::function<void(size_t rows)>& on_row = [](size_t) {});

}  // namespace deberta
