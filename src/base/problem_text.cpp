// Puts place, message and remedies into one sentence; arguments are named by the words that the caller supplies.
#include "base/problem_text.h"

#include <algorithm>
#include <string_view>

namespace deberta {
namespace {

constexpr std::string_view kSlot = "{}";

// A remedy that begins with its argument is a sentence of its own: "{} shows why".
bool is_sentence(const Remedy& remedy) {
  return !remedy.argument.empty() && remedy.text.starts_with(kSlot);
}

std::string remedy_text(const Remedy& remedy, const ArgumentWords& words) {
  if (remedy.argument.empty()) return remedy.text;
  const size_t at = remedy.text.rfind(kSlot);
  std::string text = remedy.text;
  return at == text.npos ? text + words(remedy) : text.replace(at, kSlot.size(), words(remedy));
}

// "a", "a or b", "a, b, or c"
std::string_view joint_before(size_t remedy, size_t remedies) {
  if (remedy == 0) return "; ";
  if (remedies == 2) return " or ";
  return remedy + 1 == remedies ? ", or " : ", ";
}

}  // namespace

std::string place_text(const Problem& problem, const ArgumentWords& words) {
  std::string location = problem.where;
  if (location.empty() && !problem.argument.empty()) location = words({.text = "{}", .argument = problem.argument});
  if (problem.source.empty() || location.empty()) return problem.source + location;
  return problem.source + ": " + location;
}

std::string message_text(const Problem& problem, const ArgumentWords& words) {
  std::string text = problem.message;
  const auto& remedies = problem.remedies;
  const auto sentences = static_cast<size_t>(std::count_if(remedies.begin(), remedies.end(), is_sentence));
  size_t choice = 0;
  for (const Remedy& remedy : remedies) {
    text += is_sentence(remedy) ? "; " : joint_before(choice++, remedies.size() - sentences);
    text += remedy_text(remedy, words);
  }
  return text;
}

}  // namespace deberta
