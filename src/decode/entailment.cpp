// Label names of NLI models.
#include "decode/entailment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "deberta/error.h"

namespace deberta {
namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

bool says_entailment(const std::string& lower_name) {
  return lower_name.starts_with("entail");
}

}  // namespace

bool has_entailment(const std::vector<std::string>& labels) {
  return std::any_of(labels.begin(), labels.end(),
                     [](const std::string& label) { return says_entailment(lower(label)); });
}

EntailmentLabels find_entailment_labels(const std::vector<std::string>& labels, size_t classes,
                                        const std::vector<std::string>& map, const std::string& verb) {
  if (classes < 2)
    throw Error(ErrorCode::kTask, verb,
                fmt::format("expected an entailment model with 2 or 3 classes, got one with {}", classes));
  const std::vector<std::string>& names = map.empty() ? labels : map;
  if (names.size() != classes) {
    throw Error(ErrorCode::kTask, {{.where = verb,
                                    .message = fmt::format("expected {} label names, got {}", classes, names.size()),
                                    .argument = "label_map",
                                    .limit = classes,
                                    .remedies = {{"give them in the model's order with {}", "label_map"}}}});
  }
  EntailmentLabels found;
  std::optional<size_t> entailment;
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string name = lower(names[i]);
    if (name.starts_with("not") || name.starts_with("contra"))
      found.contradiction = i;
    else if (says_entailment(name))
      entailment = i;
    else if (name.starts_with("neutral"))
      found.neutral = i;
  }
  if (!entailment) {
    throw Error(ErrorCode::kTask,
                {{.where = verb,
                  .message = fmt::format("expected a label named entailment, got {}", fmt::join(names, ", ")),
                  .argument = "label_map",
                  .remedies = {{"give the names in the model's order with {}", "label_map",
                                "contradiction,neutral,entailment"}}}});
  }
  found.entailment = *entailment;
  return found;
}

std::vector<Relation> find_relations(const std::vector<std::string>& labels, size_t classes,
                                     const std::vector<std::string>& map) {
  const EntailmentLabels found = find_entailment_labels(labels, classes, map);
  std::vector<Relation> relations{{"entailment", found.entailment}};
  if (found.neutral) relations.push_back({"neutral", *found.neutral});
  if (found.contradiction)
    relations.push_back({found.neutral ? "contradiction" : "not_entailment", *found.contradiction});
  return relations;
}

}  // namespace deberta
