#include "base/problem_text.h"

#include <string_view>

namespace deberta {
namespace {

std::string remedy_text(const Remedy& remedy, const ArgumentWords& words) {
  if (remedy.argument.empty()) return remedy.text;
  constexpr std::string_view kArgument = "{}";
  const size_t at = remedy.text.rfind(kArgument);
  std::string text = remedy.text;
  return at == text.npos ? text + words(remedy) : text.replace(at, kArgument.size(), words(remedy));
}

// "a", "a or b", "a, b, or c"
std::string_view joint_before(size_t remedy, size_t remedies) {
  if (remedy == 0) return "; ";
  if (remedies == 2) return " or ";
  return remedy + 1 == remedies ? ", or " : ", ";
}

}  // namespace

std::string place_text(const Problem& problem, const ArgumentWords& words) {
  std::string place = problem.where;
  if (place.empty() && !problem.argument.empty()) place = words({.text = "{}", .argument = problem.argument});
  if (problem.source.empty() || place.empty()) return problem.source + place;
  return problem.source + ": " + place;
}

std::string message_text(const Problem& problem, const ArgumentWords& words) {
  std::string text = problem.message;
  for (size_t i = 0; i < problem.remedies.size(); ++i) {
    text += joint_before(i, problem.remedies.size());
    text += remedy_text(problem.remedies[i], words);
  }
  return text;
}

}  // namespace deberta
