// Long texts in chunks of characters, as some clients want them read, and the entities of all chunks as those of one
// text. Unlike windows (decode/windows.h), chunks know no words, and each is read as a text of its own.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "deberta/answer.h"

namespace deberta {

struct Chunk {
  Offset chars, bytes;  // in the text
};

// Number of chunks of a text of so many code points: of `length` code points each, of which consecutive ones share
// `overlap`; the last one ends with the text. `overlap` is less than `length`. None for no text.
size_t count_chunks(size_t code_points, size_t length, size_t overlap);
std::vector<Chunk> cut_chunks(std::string_view text, size_t length, size_t overlap);

// The entities of one chunk, with their places in the text.
void move_entities(std::vector<Entity>& entities, const Chunk& chunk);

// Those that lie within no other one, by their places; of one place that with the highest score stands.
std::vector<Entity> outermost_entities(std::vector<Entity> entities);

// The text with [entity](label) in place of each entity that begins behind the one before. `entities`: by their places.
std::string tag_entities(std::string_view text, const std::vector<Entity>& entities);

}  // namespace deberta
