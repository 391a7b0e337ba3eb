// Only "key: value" on a line is read: that is how the cards of this project write what is read here.
#include "hub/model_card.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/file.h"
#include "deberta/error.h"

namespace deberta {
namespace {

constexpr size_t kMaxCardBytes = size_t{1} << 20;

std::string text_of_card(const std::string& folder) {
  const std::string path = fmt::format("{}/README.md", folder);
  try {
    return is_regular_file(path) ? read_file(path, kMaxCardBytes) : "";
  } catch (const Error&) {
    return "";  // too large, or not readable for this user
  }
}

std::string_view without_quotes(std::string_view text) {
  const bool has_quotes =
      text.size() > 1 && text.front() == text.back() && (text.front() == '"' || text.front() == '\'');
  return has_quotes ? text.substr(1, text.size() - 2) : text;
}

}  // namespace

ModelCard read_model_card(const std::string& folder) {
  const std::string text = text_of_card(folder);
  ModelCard card;
  const std::array<std::pair<std::string_view, std::string*>, 3> keys = {
      {{"license: ", &card.license}, {"terms: ", &card.terms}, {"limits: ", &card.limits}}};
  std::string_view rest = text;
  if (!rest.starts_with("---\n")) return card;
  rest.remove_prefix(4);
  while (!rest.empty() && !rest.starts_with("---")) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    for (const auto& [key, value] : keys) {
      if (line.starts_with(key)) *value = without_quotes(line.substr(key.size()));
    }
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
  }
  return card;
}

}  // namespace deberta
