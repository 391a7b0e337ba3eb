// Names are compared without case.
#include "metrics/task_labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/ascii.h"
#include "base/json.h"
#include "config/class_roles.h"
#include "deberta/error.h"

namespace deberta {
namespace {

bool says_nothing(const std::string& name, size_t index) {
  return lower_case(name) == fmt::format("label_{}", index) || name == std::to_string(index);
}

// The task's label for a class by its name; of an entailment task also by what the name means, as `nli` reads it.
std::optional<size_t> label_of_class(const TaskLabels& task, const std::string& name) {
  if (const auto label = task.find(name)) return label;
  const auto role = role_of(name, task.size());
  for (size_t label = 0; role && label < task.size(); ++label) {
    if (role_of(task.name(label), task.size()) == role) return label;
  }
  return std::nullopt;
}

[[noreturn]] void refuse(const TaskLabels& task, const std::vector<std::string>& names, size_t classes) {
  throw Error(ErrorCode::kTask, {{.where = "eval",
                                  .message = fmt::format("expected a model with the classes {}, got {} classes{}{}",
                                                         fmt::join(task.names(), ", "), classes,
                                                         names.empty() ? "" : ": ", fmt::join(names, ", ")),
                                  .argument = "label_map",
                                  .remedies = {{"give the task's labels in the model's order with {}", "label_map"}}}});
}

}  // namespace

TaskLabels::TaskLabels(const TaskRow& task) : is_open_(task.labels.empty()) {
  for (const std::string& label : split_words(task.labels)) add(split_words(label, '='));
}

TaskLabels::TaskLabels(std::vector<std::string> names) {
  for (std::string& name : names) add({std::move(name)});
}

void TaskLabels::add(std::vector<std::string> names) {
  for (const std::string& name : names) numbers_.emplace(lower_case(name), names_.size());
  names_.push_back(std::move(names));
}

std::vector<std::string> TaskLabels::names() const {
  std::vector<std::string> names;
  for (const auto& label : names_) names.push_back(label.front());
  return names;
}

std::optional<size_t> TaskLabels::find(std::string_view text) const {
  const auto entry = numbers_.find(lower_case(text));
  return entry == numbers_.end() ? std::nullopt : std::optional(entry->second);
}

size_t TaskLabels::label_of(std::string_view text, const std::string& where) {
  if (const auto label = find(text)) return *label;
  if (!is_open_ || text.empty())
    throw Error(ErrorCode::kInput, where,
                fmt::format("label: expected one of {}, got {}", fmt::join(names(), ", "), quote_json(text)));
  add({std::string(text)});
  return names_.size() - 1;
}

bool is_no_label(std::string_view text) {
  return text.empty() || text == "-" || text == "-1";
}

namespace {

bool has_roles(const TaskLabels& task) {
  for (size_t label = 0; label < task.size(); ++label) {
    if (role_of(task.name(label), task.size()) == ClassRole::kEntailment) return true;
  }
  return false;
}

// Whether the names say which class is which.
bool say_something(const std::vector<std::string>& names, size_t classes) {
  size_t empty_names = 0;
  for (size_t i = 0; i < names.size(); ++i) empty_names += says_nothing(names[i], i);
  return names.size() == classes && empty_names < classes;
}

}  // namespace

std::vector<size_t> map_classes(const TaskLabels& task, const std::vector<std::string>& model_labels, size_t classes,
                                const std::vector<std::string>& map) {
  const std::vector<std::string>& names = map.empty() ? model_labels : map;
  const bool are_roles = has_roles(task);
  const auto is_none = [&](const std::string& name) { return are_roles && name == kNoRole; };
  const auto without = static_cast<size_t>(std::ranges::count_if(map, is_none));
  if (classes != task.size() + without || (!map.empty() && map.size() != classes)) refuse(task, names, classes);
  const bool have_names = !map.empty() || say_something(names, classes);
  if (!have_names && are_roles) refuse(task, names, classes);  // published models have these in several orders
  std::vector<size_t> order;
  for (size_t i = 0; i < classes; ++i) {
    if (!map.empty() && is_none(map[i])) {
      order.push_back(kNoTaskLabel);
      continue;
    }
    const auto label = have_names ? label_of_class(task, names[i]) : std::optional(i);
    if (!label || std::ranges::find(order, *label) != order.end()) refuse(task, names, classes);
    order.push_back(*label);
  }
  return order;
}

}  // namespace deberta
