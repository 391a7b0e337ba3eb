// One walk over the text, and one over the entities in the order of their places.
#include "decode/chunks.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/utf8.h"

namespace deberta {
namespace {

// The place of a code point, found by walking on from the one before.
class Walk {
 public:
  explicit Walk(std::string_view text) : text_(text) {}
  uint32_t byte_of(size_t code_point) {
    for (; at_ < code_point && byte_ < text_.size(); ++at_) byte_ += decode_utf8(text_, byte_).size_bytes;
    return static_cast<uint32_t>(byte_);
  }

 private:
  std::string_view text_;
  size_t at_ = 0, byte_ = 0;
};

}  // namespace

size_t count_chunks(size_t code_points, size_t length, size_t overlap) {
  if (code_points <= length) return code_points > 0 ? 1 : 0;
  const size_t step = length - overlap;
  return 1 + (code_points - length + step - 1) / step;
}

std::vector<Chunk> cut_chunks(std::string_view text, size_t length, size_t overlap) {
  const size_t code_points = count_code_points(text), step = length - overlap;
  std::vector<Chunk> chunks(count_chunks(code_points, length, overlap));
  Walk begins(text), ends(text);
  for (size_t i = 0; i < chunks.size(); ++i) {
    const size_t begin = i * step, end = std::min(begin + length, code_points);
    chunks[i].chars = {static_cast<uint32_t>(begin), static_cast<uint32_t>(end)};
    chunks[i].bytes = {begins.byte_of(begin), ends.byte_of(end)};
  }
  return chunks;
}

void move_entities(std::vector<Entity>& entities, const Chunk& chunk) {
  for (Entity& entity : entities) {
    entity.chars = {entity.chars.begin + chunk.chars.begin, entity.chars.end + chunk.chars.begin};
    entity.bytes = {entity.bytes.begin + chunk.bytes.begin, entity.bytes.end + chunk.bytes.begin};
  }
}

std::vector<Entity> outermost_entities(std::vector<Entity> entities) {
  std::ranges::stable_sort(entities, [](const Entity& a, const Entity& b) {
    return std::tuple(a.bytes.begin, b.bytes.end, b.score) < std::tuple(b.bytes.begin, a.bytes.end, a.score);
  });
  std::vector<Entity> outermost;
  for (Entity& entity : entities) {
    if (outermost.empty() || entity.bytes.end > outermost.back().bytes.end) outermost.push_back(std::move(entity));
  }
  return outermost;
}

std::string tag_entities(std::string_view text, const std::vector<Entity>& entities) {
  std::string tagged;
  size_t at = 0;
  for (const Entity& entity : entities) {
    const size_t begin = entity.bytes.begin, end = entity.bytes.end;
    if (begin < at) continue;
    tagged += text.substr(at, begin - at);
    tagged += fmt::format("[{}]({})", text.substr(begin, end - begin), entity.label);
    at = end;
  }
  tagged += text.substr(at);
  return tagged;
}

}  // namespace deberta
