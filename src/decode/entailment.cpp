// Every class has exactly one role, or is declared to have none: a class dropped in silence would leave its share
// of the answers to the others.
#include "decode/entailment.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.h"
#include "config/class_roles.h"
#include "deberta/error.h"
#include "decode/classification.h"

namespace deberta {
namespace {

using Roles = std::vector<std::optional<ClassRole>>;  // by class

[[noreturn]] void refuse(const std::string& verb, const std::string& message, size_t classes) {
  throw Error(
      ErrorCode::kTask,
      {{.where = verb,
        .message = message,
        .argument = "label_map",
        .limit = classes,
        .remedies = {{"give a role to each class, in the model's order, with {} (none: the "
                      "class has none of them)",
                      "label_map", classes == 2 ? "not_entailment,entailment" : "contradiction,neutral,entailment"}}}});
}

// The only class with a role, if any.
std::optional<size_t> find_class(const Roles& roles, ClassRole role) {
  const auto position = std::ranges::find(roles, role);
  return position == roles.end() ? std::nullopt : std::optional(static_cast<size_t>(position - roles.begin()));
}

Roles roles_of(const std::vector<std::string>& names, size_t classes, bool are_of_map, const std::string& verb) {
  if (classes < 2)
    throw Error(ErrorCode::kTask, verb,
                fmt::format("expected an entailment model with 2 or 3 classes, got one with {}", classes));
  if (names.size() != classes)
    refuse(verb, fmt::format("expected {} label names, got {}", classes, names.size()), classes);
  Roles roles;
  for (const std::string& name : names) {
    const std::optional<ClassRole> role = role_of(name, classes);
    if (!role && !(are_of_map && strip(name) == kNoRole))
      refuse(verb,
             fmt::format("expected classes named entailment, neutral, contradiction{}, got \"{}\" among {}",
                         classes == 2 ? " or not_entailment" : "", name, fmt::join(names, ", ")),
             classes);
    if (role && std::ranges::find(roles, role) != roles.end())
      refuse(
          verb,
          fmt::format("expected one class of each kind, got \"{}\" and \"{}\"", names[*find_class(roles, *role)], name),
          classes);
    roles.push_back(role);
  }
  if (!find_class(roles, ClassRole::kEntailment))
    refuse(verb, fmt::format("expected a label named entailment, got {}", fmt::join(names, ", ")), classes);
  return roles;
}

EntailmentLabels labels_of(const Roles& roles) {
  return {find_class(roles, ClassRole::kEntailment).value(), find_class(roles, ClassRole::kNeutral),
          find_class(roles, ClassRole::kContradiction)};
}

// The model's own name for a class, unless the answer has that name already.
std::string own_name(const std::vector<std::string>& labels, size_t i, const std::vector<Relation>& taken) {
  std::string name = label_name(labels, i);
  const bool is_taken =
      name == "label" || std::ranges::any_of(taken, [&](const Relation& relation) { return relation.name == name; });
  return is_taken ? label_name({}, i) : name;
}

}  // namespace

bool has_entailment(const std::vector<std::string>& labels) {
  return std::ranges::any_of(
      labels, [&](const std::string& label) { return role_of(label, labels.size()) == ClassRole::kEntailment; });
}

EntailmentLabels find_entailment_labels(const std::vector<std::string>& labels, size_t classes,
                                        const std::vector<std::string>& map, const std::string& verb) {
  return labels_of(roles_of(map.empty() ? labels : map, classes, !map.empty(), verb));
}

std::vector<Relation> find_relations(const std::vector<std::string>& labels, size_t classes,
                                     const std::vector<std::string>& map) {
  const Roles roles = roles_of(map.empty() ? labels : map, classes, !map.empty(), "nli");
  const EntailmentLabels class_labels = labels_of(roles);
  std::vector<Relation> relations{{"entailment", class_labels.entailment}};
  if (class_labels.neutral) relations.push_back({"neutral", *class_labels.neutral});
  if (class_labels.contradiction) {
    const std::string& name = (map.empty() ? labels : map)[*class_labels.contradiction];
    const bool is_not = classes == 2 && role_of(name, 3) != ClassRole::kContradiction;  // by its negation alone
    relations.push_back({is_not ? "not_entailment" : "contradiction", *class_labels.contradiction});
  }
  for (size_t i = 0; i < classes; ++i) {
    if (!roles[i]) relations.push_back({own_name(labels, i, relations), i});
  }
  return relations;
}

}  // namespace deberta
