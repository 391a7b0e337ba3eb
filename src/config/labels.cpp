// id2label as transformers reads it: its keys are what Python's int() takes, its values may be anything, and there are
// as many classes as ids.
#include "config/labels.h"

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <optional>

#include "base/ascii.h"
#include "base/checked.h"

namespace deberta {
namespace {

constexpr size_t kMaxLabels = 100000;

// Python's int() for ASCII texts: white space around, a sign, single underscores between digits.
std::optional<int64_t> parse_python_integer(std::string_view text) {
  text = strip(text);
  if (text.empty()) return std::nullopt;
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  std::string digits;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool is_between = i > 0 && i + 1 < text.size() && text[i - 1] != '_' && text[i - 1] != '-';
    if (text[i] != '_') {
      digits += text[i];
    } else if (!is_between) {
      return std::nullopt;
    }
  }
  return parse_number<int64_t>(digits);
}

// Python's str() where the value is not a text; lists and objects as JSON.
std::string to_label(const Json& value) {
  if (value.is_string()) return value.as_string();
  if (value.is_null()) return "None";
  if (value.is_bool()) return value.as_bool() ? "True" : "False";
  return value.dump(0, JsonForm::kPython);
}

void warn_of_gaps(const std::map<int64_t, std::string>& by_id, LabelNames& names) {
  std::string missing, outside;
  const auto classes = static_cast<int64_t>(by_id.size());
  for (int64_t id = 0; id < classes; ++id) {
    if (!by_id.contains(id)) missing += fmt::format("{}{}", missing.empty() ? "" : ", ", id);
  }
  for (const auto& [id, label] : by_id) {
    if (id < 0 || id >= classes) outside += fmt::format("{}{}", outside.empty() ? "" : ", ", id);
  }
  if (missing.empty()) return;
  names.warnings.push_back(
      fmt::format("id2label: of {} classes, those with ids {} have no name and are shown as LABEL_ID; there is no "
                  "class with id {}",
                  classes, missing, outside));
}

void read_id2label(const Json& value, LabelNames& names) {
  const auto refuse = [&](std::string message) { names.problems.push_back("id2label: " + std::move(message)); };
  if (!value.is_object()) return refuse(fmt::format("expected an object, got {}", value.describe()));
  const JsonObject& members = value.as_object();
  if (members.size() > kMaxLabels) {
    return refuse(fmt::format("expected at most {} labels, got {}", kMaxLabels, members.size()));
  }
  std::map<int64_t, std::string> by_id;
  for (const auto& [key, label] : members) {
    if (const auto id = parse_python_integer(key)) {
      by_id[*id] = to_label(label);
    } else {
      refuse(fmt::format("expected integers as keys, got {}", quote_json(key)));
    }
  }
  if (!names.problems.empty()) return;
  for (int64_t id = 0; id < static_cast<int64_t>(by_id.size()); ++id) {
    const auto at = by_id.find(id);
    names.labels.push_back(at != by_id.end() ? at->second : fmt::format("LABEL_{}", id));
  }
  warn_of_gaps(by_id, names);
}

bool agrees(const Json& label2id, const std::vector<std::string>& labels) {
  for (const auto& [label, id] : label2id.as_object()) {
    if (!id.is_integer() || id.as_integer() < 0 || static_cast<uint64_t>(id.as_integer()) >= labels.size())
      return false;
    if (labels[static_cast<size_t>(id.as_integer())] != label) return false;
  }
  return label2id.as_object().size() == labels.size();
}

// id2label wins, as in transformers.
void read_num_labels(const Json& document, LabelNames& names) {
  const Json* value = document.find("num_labels");
  if (value == nullptr || !value->is_integer() || value->as_integer() < 1 ||
      value->as_integer() > static_cast<int64_t>(kMaxLabels))
    return;
  const auto named = static_cast<int64_t>(names.labels.size());
  const Json* id2label = document.find("id2label");
  if (id2label == nullptr || id2label->is_null()) {
    names.count = value->as_integer();
  } else if (named > 0 && named != value->as_integer()) {
    names.warnings.push_back(fmt::format("num_labels: expected {}, as many as id2label has, got {}; id2label is used",
                                         named, value->as_integer()));
  }
}

}  // namespace

LabelNames parse_labels(const Json& document) {
  LabelNames names;
  const Json* id2label = document.find("id2label");
  const Json* label2id = document.find("label2id");
  if (id2label != nullptr && !id2label->is_null()) read_id2label(*id2label, names);
  read_num_labels(document, names);
  if (label2id == nullptr || label2id->is_null()) return names;
  if (!label2id->is_object()) {
    names.problems.push_back(fmt::format("label2id: expected an object, got {}", label2id->describe()));
  } else if (!names.labels.empty() && !agrees(*label2id, names.labels)) {
    names.warnings.push_back("label2id disagrees with id2label; id2label is used");
  }
  return names;
}

}  // namespace deberta
