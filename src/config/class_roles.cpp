// Looks at how a name begins: entail, neutral, contradict, or a negation where there are two classes.
#include "config/class_roles.h"

#include <cctype>
#include <string>

#include "base/ascii.h"

namespace deberta {
namespace {

// "not_entailment", "not-entailed", "nonentailment"; "none" and "nothing" deny nothing.
bool is_negation(std::string_view lower) {
  if (!lower.starts_with("not") && !lower.starts_with("non")) return false;
  lower.remove_prefix(3);
  return lower.starts_with("entail") ||
         (!lower.empty() && std::isalpha(static_cast<unsigned char>(lower.front())) == 0);
}

}  // namespace

std::optional<ClassRole> role_of(std::string_view name, size_t classes) {
  const std::string lower = lower_case(strip(name));
  if (lower.starts_with("entail")) return ClassRole::kEntailment;
  if (lower.starts_with("neutral")) return ClassRole::kNeutral;
  if (lower == "contra" || lower.starts_with("contradict")) return ClassRole::kContradiction;
  const bool is_opposite = classes == 2 && is_negation(lower);
  return is_opposite ? std::optional(ClassRole::kContradiction) : std::nullopt;
}

}  // namespace deberta
