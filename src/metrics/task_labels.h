// The classes of a task by their names: in its files, in predictions, in a model's configuration.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "metrics/task_table.h"

namespace deberta {

class TaskLabels {
 public:
  // The labels of the table's row. A task without labels of its own collects those it meets: its set is open.
  explicit TaskLabels(const TaskRow& task);
  // The labels of a model.
  explicit TaskLabels(std::vector<std::string> names);

  bool is_open() const { return is_open_; }
  size_t size() const { return names_.size(); }
  const std::string& name(size_t label) const { return names_[label].front(); }
  std::vector<std::string> names() const;

  // By any of a label's names, in any case.
  std::optional<size_t> find(std::string_view text) const;
  // The same; in an open set a new name becomes a label. Throws kInput for an unknown name.
  size_t label_of(std::string_view text, const std::string& where);

 private:
  void add(std::vector<std::string> names);

  std::vector<std::vector<std::string>> names_;      // names of each label; the first is the table's
  std::unordered_map<std::string, size_t> numbers_;  // label by name, in lower case
  bool is_open_ = false;
};

// A cell that stands for a missing label: empty, "-" (no agreement among annotators) or "-1".
bool is_no_label(std::string_view text);

constexpr size_t kNoTaskLabel = SIZE_MAX;

// The task's label for each of the model's classes: by `map` (names in the model's order), else by the model's names
// (in an entailment task by what they mean: config/class_roles.h), else, if those say nothing (none, LABEL_0 or 0 and
// so on), in the task's order. In an entailment task the names must tell, and the map may have classes of no label
// ("none": kNoTaskLabel). Throws kTask, with both lists, when classes and labels do not match.
std::vector<size_t> map_classes(const TaskLabels& task, const std::vector<std::string>& model_labels, size_t classes,
                                const std::vector<std::string>& map);

}  // namespace deberta
