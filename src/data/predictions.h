// Files of predictions: `index<TAB>prediction` as in GLUE, JSON Lines as in SuperGLUE, a JSON object from ids to texts
// or numbers as in SQuAD.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/json.h"
#include "data/byte_source.h"

namespace deberta {

struct FoundPrediction {
  std::string where;
  std::string text;
};

class Predictions {
 public:
  // Lines with idx and label (nested ones of MultiRC too); one object, or an array of such rows; a table.
  enum class Form { kLines, kDocument, kTable };
  static Form form_of(std::string_view path);  // .jsonl, .json, else a table

  // Throws kInput for a row that is wrong or named twice, and what reading throws.
  Predictions(ByteSource source, Form form);

  // Rows count from 0, bad ones too; `id` is the file's own and empty where it has none. A table goes by the number,
  // the others by the id, or where there is none by the number.
  const FoundPrediction* find(size_t row, const std::string& id);

  const std::string& name() const { return name_; }
  size_t size() const { return predictions_.size(); }
  size_t unused() const;  // predictions that no find() has returned

 private:
  void read_table(ByteSource source);
  void read_lines(ByteSource source);
  void read_document(ByteSource source);
  void read_row(const Json& row, const std::string& where);
  void read_label(const Json& row, const std::string& where);
  void add(const std::string& key, std::string text, const std::string& where);

  std::string name_;
  bool goes_by_number_ = false;
  std::unordered_map<std::string, size_t> keys_;
  std::vector<FoundPrediction> predictions_;
  std::vector<bool> is_used_;
};

// A JSON object from ids to numbers, in its order. Throws kInput, and what reading throws.
std::vector<std::pair<std::string, double>> read_numbers_by_id(ByteSource source);

}  // namespace deberta
