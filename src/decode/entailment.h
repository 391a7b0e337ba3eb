// Which classes of a model mean entailment, neutral and contradiction: by name, never by index.
#pragma once
#include <optional>
#include <string>
#include <vector>

namespace deberta {

struct EntailmentLabels {
  size_t entailment = 0;
  std::optional<size_t> neutral;
  std::optional<size_t> contradiction;  // "contradiction" or, with two classes, "not_entailment"
};

// From the class names, in any case (config/class_roles.h); `map` stands instead of them: "entailment", "neutral",
// "contradiction" or "none" by index, as in {"contradiction", "neutral", "entailment"}. Throws kTask, naming `verb`,
// when a class has no role and the map does not say so, when two have the same, or none is entailment.
EntailmentLabels find_entailment_labels(const std::vector<std::string>& labels, size_t classes,
                                        const std::vector<std::string>& map = {}, const std::string& verb = "nli");

// Whether a label says entailment.
bool has_entailment(const std::vector<std::string>& labels);

// What an answer says of each class, and its index: entailment, neutral, contradiction (not_entailment, of two
// classes where it is called so), as far as the model has them; then the classes without a role, under their own names.
// Throws as find_entailment_labels.
struct Relation {
  std::string name;
  size_t index;
};
std::vector<Relation> find_relations(const std::vector<std::string>& labels, size_t classes,
                                     const std::vector<std::string>& map = {});

}  // namespace deberta
