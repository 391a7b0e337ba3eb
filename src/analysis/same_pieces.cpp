// Piece by piece, by id.
#include "analysis/same_pieces.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/json.h"
#include "deberta/error.h"

namespace deberta {
namespace {

std::string piece_at(const Tokenizer& tokenizer, size_t id) {
  return id < tokenizer.size() ? quote_json(tokenizer.piece(static_cast<int32_t>(id))) : "none";
}

// The first id whose pieces differ, or that one of the two lacks; the size of both where there is none.
size_t first_difference(const Tokenizer& first, const Tokenizer& other) {
  const size_t common = std::min(first.size(), other.size());
  for (size_t id = 0; id < common; ++id) {
    if (first.piece(static_cast<int32_t>(id)) != other.piece(static_cast<int32_t>(id))) return id;
  }
  return common;
}

}  // namespace

bool have_same_pieces(const Tokenizer& first, const Tokenizer& other) {
  return first_difference(first, other) == std::max(first.size(), other.size());
}

void check_same_pieces(const Tokenizer& first, const std::string& first_name, const Tokenizer& other,
                       const std::string& other_name) {
  if (have_same_pieces(first, other)) return;
  const size_t id = first_difference(first, other);
  throw Error(ErrorCode::kTokenId, other_name,
              fmt::format("piece {}: expected {} as in {}, got {}; models that read a text together need the same "
                          "tokenizer",
                          id, piece_at(first, id), first_name, piece_at(other, id)));
}

}  // namespace deberta
