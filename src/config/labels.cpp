// id2label has string keys "0", "1", ...: every id from 0 to n - 1 once, in any order.
#include "config/labels.h"

#include <fmt/format.h>

#include <cstdint>
#include <optional>

#include "base/checked.h"

namespace deberta {
namespace {

constexpr size_t kMaxLabels = 100000;

// "12" to 12; nothing for "012", "+1", "1.0".
std::optional<uint64_t> parse_id(std::string_view text) {
  if (text.size() > 1 && text[0] == '0') return std::nullopt;
  return parse_number<uint64_t>(text);
}

void read_id2label(const Json& value, LabelNames& names) {
  const auto refuse = [&](std::string message) { names.problems.push_back("id2label: " + std::move(message)); };
  if (!value.is_object()) return refuse(fmt::format("expected an object, got {}", value.describe()));
  const JsonObject& members = value.as_object();
  if (members.empty() || members.size() > kMaxLabels) {
    return refuse(fmt::format("expected 1 to {} labels, got {}", kMaxLabels, members.size()));
  }
  std::vector<std::string> labels(members.size());
  for (const auto& [key, label] : members) {
    const auto id = parse_id(key);
    // n different ids below n leave no gap: an id outside is the sign of one.
    if (!id || *id >= members.size()) {
      refuse(fmt::format("expected the ids \"0\" to \"{}\" without gaps, got {}", members.size() - 1, quote_json(key)));
    } else if (!label.is_string()) {
      refuse(fmt::format("{}: expected a string, got {}", quote_json(key), label.describe()));
    } else {
      labels[*id] = label.as_string();
    }
  }
  if (names.problems.empty()) names.labels = std::move(labels);
}

bool agrees(const Json& label2id, const std::vector<std::string>& labels) {
  for (const auto& [label, id] : label2id.as_object()) {
    if (!id.is_integer() || id.as_integer() < 0 || static_cast<uint64_t>(id.as_integer()) >= labels.size())
      return false;
    if (labels[static_cast<size_t>(id.as_integer())] != label) return false;
  }
  return label2id.as_object().size() == labels.size();
}

}  // namespace

LabelNames parse_labels(const Json& document) {
  LabelNames names;
  const Json* id2label = document.find("id2label");
  const Json* label2id = document.find("label2id");
  if (id2label != nullptr && !id2label->is_null()) read_id2label(*id2label, names);
  if (label2id == nullptr || label2id->is_null()) return names;
  if (!label2id->is_object()) {
    names.problems.push_back(fmt::format("label2id: expected an object, got {}", label2id->describe()));
  } else if (!names.labels.empty() && !agrees(*label2id, names.labels)) {
    names.warnings.push_back("label2id disagrees with id2label; id2label is used");
  }
  return names;
}

}  // namespace deberta
