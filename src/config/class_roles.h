// What the classes of an entailment model mean, by their names: never by their index.
#pragma once
#include <cstddef>
#include <optional>
#include <string_view>

namespace deberta {

// The word of a label map for a class without a role.
constexpr const char* kNoRole = "none";

enum class ClassRole { kEntailment, kNeutral, kContradiction };

// The role of a class by its name, in any case, in a model of `classes` classes: "entail...", "neutral...",
// "contradict..." or "contra"; of two classes also "not..." and "non...", the opposite of entailment. Other names have
// no role.
std::optional<ClassRole> role_of(std::string_view name, size_t classes);

}  // namespace deberta
