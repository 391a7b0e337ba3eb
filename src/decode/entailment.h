// Which labels of a model mean entailment, neutral and contradiction: by name, never by index.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace deberta {

struct EntailmentLabels {
  size_t entailment = 0;
  std::optional<size_t> neutral;        // models with two labels have entailment and its opposite
  std::optional<size_t> contradiction;  // "contradiction" or, with two labels, "not_entailment"
};

// From the label names, in any case; `map` overrides them: "entailment", "neutral", "contradiction" by index, as in
// {"contradiction", "neutral", "entailment"}. Throws kTask, naming `verb`, if no label says entailment.
EntailmentLabels find_entailment_labels(const std::vector<std::string>& labels, size_t classes,
                                        const std::vector<std::string>& map = {}, const std::string& verb = "nli");

// Whether a label says entailment.
bool has_entailment(const std::vector<std::string>& labels);

// The relations that the model knows, in the order entailment, neutral, contradiction (or not_entailment, with two
// labels), each with its label's index. Throws as find_entailment_labels.
struct Relation {
  std::string_view name;
  size_t index;
};
std::vector<Relation> find_relations(const std::vector<std::string>& labels, size_t classes,
                                     const std::vector<std::string>& map = {});

}  // namespace deberta
