#include "tasks/word_tags.h"

namespace deberta {

std::vector<std::string> word_tags(const std::vector<std::string>& words, std::span<const Entity> pieces) {
  std::vector<std::string> tags;
  size_t begin = 0, piece = 0;
  for (const std::string& word : words) {
    const size_t end = begin + word.size();
    while (piece < pieces.size() && pieces[piece].bytes.end <= begin) ++piece;
    const bool is_inside = piece < pieces.size() && pieces[piece].bytes.begin < end;
    tags.push_back(is_inside ? pieces[piece].label : "O");
    begin = end + 1;
  }
  return tags;
}

}  // namespace deberta
