// Uses the benign classes that the caller names, or finds them among the labels by their usual names.
#include "pipeline/finding_classes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "base/json.h"
#include "deberta/error.h"
#include "decode/classification.h"

namespace deberta {
namespace {

[[noreturn]] void refuse(std::string message) {
  throw Error(ErrorCode::kUsage, {{.message = std::move(message), .argument = "benign_labels"}});
}

bool is_named_benign(const std::string& label) {
  constexpr std::array kNames = {"benign", "safe", "clean", "ham", "legit"};
  return std::ranges::find(kNames, lower_case(label)) != kNames.end();
}

// In any case, as labels are compared elsewhere.
bool is_in(const std::string& label, const std::vector<std::string>& labels) {
  return std::ranges::any_of(labels,
                             [&](const std::string& candidate) { return lower_case(candidate) == lower_case(label); });
}

}  // namespace

std::vector<bool> finding_classes(const Pipeline& pipeline, const std::vector<std::string>& benign) {
  const auto classes = static_cast<size_t>(pipeline.model.labels());
  std::vector<std::string> names;
  for (size_t c = 0; c < classes; ++c) names.push_back(label_name(pipeline.config.labels, c));
  for (const std::string& label : benign) {
    if (!is_in(label, names))
      refuse(fmt::format("expected a class of the model ({}), got {}", fmt::join(names, ", "), quote_json(label)));
  }
  std::vector<bool> findings;
  for (const std::string& name : names)
    findings.push_back(benign.empty() ? !is_named_benign(name) : !is_in(name, benign));
  const auto count = std::ranges::count(findings, true);
  if (count == 0 || (count == std::ssize(findings) && classes > 1))
    refuse(fmt::format("expected the classes that are benign, and others, of {}", fmt::join(names, ", ")));
  return findings;
}

}  // namespace deberta
