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

}  // namespace

void check_same_pieces(const Tokenizer& first, const std::string& first_name, const Tokenizer& other,
                       const std::string& other_name) {
  for (size_t id = 0; id < std::max(first.size(), other.size()); ++id) {
    const std::string expected = piece_at(first, id), got = piece_at(other, id);
    if (expected == got) continue;
    throw Error(ErrorCode::kTokenId, other_name,
                fmt::format("piece {}: expected {} as in {}, got {}; models that read a text together need the same "
                            "tokenizer",
                            id, expected, first_name, got));
  }
}

}  // namespace deberta
