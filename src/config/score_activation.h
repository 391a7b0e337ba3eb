// The activation of a sentence-transformers CrossEncoder, by the name of its Python class.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace deberta {

// "Identity", "Sigmoid", "Tanh" or "Softmax"; for another torch class its full path, which is not supported; nothing
// for a class outside torch, which the library does not trust: it uses its default. Classes are never looked up.
std::optional<std::string> find_score_activation(std::string_view path);

}  // namespace deberta
