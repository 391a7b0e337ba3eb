// Words the refusals: which verbs the model's head does serve, and what it lacks for this one.
#include "pipeline/requirements.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "base/ascii.h"
#include "deberta/error.h"
#include "decode/classification.h"
#include "decode/entailment.h"
#include "heads/head_facts.h"

namespace deberta {
namespace {

// The classes of each sequence tell what the model was trained for.
std::string verbs_for_sequences(const Model& model) {
  std::string verbs = "classify";
  if (has_entailment(model.config().labels)) verbs += ", nli, zero-shot";
  if (model.labels() == 1) verbs += ", rerank";
  if (model.labels() == 1 || yes_class(model)) verbs += ", choose";
  return verbs + ", embed";
}

std::string verbs_for(const Model& model) {
  const HeadUse& use = use_of(facts_of(model.head()), model.config());
  return use.verbs.empty() ? verbs_for_sequences(model) : std::string(use.verbs);
}

// What the weights are of: the same head predicts what is masked, or what comes next.
std::string_view head_name(const Model& model) {
  const HeadUse& use = use_of(facts_of(model.head()), model.config());
  return use.name.empty() ? to_string(model.head()) : use.name;
}

struct YesNo {
  std::string_view no, yes;
};
constexpr auto kYesNo = std::to_array<YesNo>({{"no", "yes"},
                                              {"false", "true"},
                                              {"0", "1"},
                                              {"label_0", "label_1"},
                                              {"incorrect", "correct"},
                                              {"wrong", "right"}});

bool are_no_and_yes(std::string_view no, std::string_view yes) {
  const bool is_opposite = no.starts_with("not") && no.size() == yes.size() + 4 && no.ends_with(yes);  // not_X, not X
  return is_opposite ||
         std::ranges::any_of(kYesNo, [&](const YesNo& pair) { return pair.no == no && pair.yes == yes; });
}

}  // namespace

std::optional<size_t> yes_class(const Model& model) {
  if (model.labels() != 2) return std::nullopt;
  const auto name = [&](size_t number) { return lower_case(label_name(model.config().labels, number)); };
  if (are_no_and_yes(name(0), name(1))) return 1;
  if (are_no_and_yes(name(1), name(0))) return 0;
  return std::nullopt;
}

void refuse_head(const std::string& verb, const std::string& expected, const Model& model) {
  throw Error(ErrorCode::kTask, verb,
              fmt::format("expected a {} head, got {}; verbs for this model: {}", expected, head_name(model),
                          verbs_for(model)));
}

void check_sequence_head(const std::string& verb, const Model& model, const std::string& expected) {
  const HeadFacts& head = facts_of(model.head());
  if (!head.is_per_sequence() || !head.has_classes()) refuse_head(verb, expected, model);
}

void check_plain_pairs(const std::string& verb, const Tokenizer& tokenizer) {
  if (tokenizer.has_plain_pairs()) return;
  throw Error(ErrorCode::kUnsupported, verb,
              "expected a tokenizer that puts one [SEP] between two texts and gives them types 0 and 1, as for "
              "training; tokenizer.json has a different template; use vocab.json and merges.txt instead");
}

}  // namespace deberta
