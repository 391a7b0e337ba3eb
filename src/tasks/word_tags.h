// Labels of pieces as labels of words that came with spaces between them.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "deberta/answer.h"

namespace deberta {

// For each word the label of the first piece in it, O where it has none. `pieces`: each piece of the words joined by
// single spaces, in order, no label ignored.
std::vector<std::string> word_tags(const std::vector<std::string>& words, std::span<const Entity> pieces);

}  // namespace deberta
