// A trie of whole pieces and one of continuations; a word that cannot be covered becomes one unknown token.
#include "text/word_piece/word_piece.h"

#include <fmt/format.h>

#include "base/file.h"
#include "base/json.h"
#include "base/utf8.h"
#include "deberta/error.h"
#include "text/hf_json/json_fields.h"
#include "text/spm/spm_model.h"
#include "text/text_position.h"

namespace deberta {

std::optional<int32_t> WordPieceModel::id_of(std::string_view text) const {
  const auto entry = ids_by_text.find(text);
  if (entry == ids_by_text.end()) return std::nullopt;
  return entry->second;
}

void index_pieces(WordPieceModel& model, const std::string& where) {
  model.ids_by_text.reserve(model.pieces.size());
  for (size_t id = 0; id < model.pieces.size(); ++id) {
    const std::string& piece = model.pieces[id];
    if (piece.size() > kMaxPieceBytes) {
      refuse_tokenizer_file(
          where, fmt::format("piece {}: expected at most {} bytes, got {}", id, kMaxPieceBytes, piece.size()));
    }
    if (!is_valid_utf8(piece))
      refuse_tokenizer_file(where, fmt::format("piece {}: expected a text without lone surrogates", id));
    if (!piece.empty() && !model.ids_by_text.emplace(piece, static_cast<int32_t>(id)).second)
      refuse_tokenizer_file(where, fmt::format("{} appears twice", quote_json(piece)));
  }
}

WordPieceModel load_vocab_txt(const std::string& path) {
  const std::string text = read_file(path, kMaxSpmFileBytes);
  if (!is_valid_utf8(text)) refuse_tokenizer_file(path, "expected UTF-8");
  WordPieceModel model;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find_first_of("\r\n", begin), text.size());
    if (model.pieces.size() == kMaxPieces)
      refuse_tokenizer_file(path, fmt::format("expected at most {} pieces", kMaxPieces));
    model.pieces.push_back(text.substr(begin, end - begin));
    begin = end + (text.compare(end, 2, "\r\n") == 0 ? 2 : 1);
  }
  if (model.pieces.empty()) refuse_tokenizer_file(path, "expected one piece per line, got none");
  index_pieces(model, path);
  return model;
}

WordPieceSplitter::WordPieceSplitter(const WordPieceModel& model, const std::vector<bool>& left_out) {
  std::vector<TrieEntry> begins, continues;
  for (size_t id = 0; id < model.pieces.size(); ++id) {
    const std::string_view piece = model.pieces[id];
    if (piece.empty() || (id < left_out.size() && left_out[id])) continue;
    begins.push_back({piece, static_cast<uint32_t>(id)});
    if (piece.starts_with(model.prefix) && piece.size() > model.prefix.size())
      continues.push_back({piece.substr(model.prefix.size()), static_cast<uint32_t>(id)});
  }
  begins_ = Trie(begins);
  continues_ = Trie(continues);
}

void WordPieceSplitter::split(const WordPieceModel& model, const MappedText& word, uint32_t shift, Tokens& out) const {
  const std::string_view text = word.text;
  const auto add = [&](int32_t id, size_t begin, size_t end) {
    out.ids.push_back(id);
    out.bytes.push_back({word.sources[begin].begin + shift, word.sources[end - 1].end + shift});
  };
  const size_t before = out.ids.size();
  const bool is_too_long = count_points(text, 0, text.size()) > model.max_characters;
  for (size_t at = 0; at < text.size();) {
    const Trie::Match match =
        is_too_long ? Trie::Match{} : (at == 0 ? begins_ : continues_).longest_prefix(text.substr(at));
    if (match.size_bytes == 0) {
      out.ids.resize(before);
      out.bytes.resize(before);
      return add(kUnknownToken, 0, text.size());
    }
    add(static_cast<int32_t>(match.value), at, at + match.size_bytes);
    at += match.size_bytes;
  }
}

}  // namespace deberta
