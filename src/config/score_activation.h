// The function that a CrossEncoder of sentence-transformers puts on its logits, by the name of its Python class.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace deberta {

// "Identity", "Sigmoid", "Tanh" or "Softmax"; of another class of torch its whole path, which nothing here computes;
// nothing for a class that is not torch's: the library does not trust it and takes its default. None is ever looked up.
std::optional<std::string> find_score_activation(std::string_view path);

}  // namespace deberta
