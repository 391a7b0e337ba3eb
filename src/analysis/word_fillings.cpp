// Words of any number of pieces at the masks of a text, scored piece by piece.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analysis/mask_decoder.h"
#include "base/json.h"
#include "deberta/analysis.h"

namespace deberta {
namespace {

constexpr size_t kMostWays = 120;

[[noreturn]] void refuse_words(std::string message) {
  throw Error(ErrorCode::kInput, {{.message = std::move(message), .argument = "words"}});
}

// Where the text has a mask.
std::vector<size_t> places_of(std::string_view text, std::string_view mask) {
  std::vector<size_t> places;
  for (size_t at = text.find(mask); at != std::string_view::npos; at = text.find(mask, at + mask.size()))
    places.push_back(at);
  if (places.empty())
    throw Error(ErrorCode::kInput, "text",
                fmt::format("expected at least one mask token, got none; write {} where a word is missing", mask));
  return places;
}

using Way = std::vector<size_t>;  // a word for each mask

// All ways to choose `masks` different ones of `words` words, in order.
std::vector<Way> ways_of(size_t words, size_t masks) {
  if (words < masks) refuse_words(fmt::format("expected a word for each of {} masks, got {}", masks, words));
  std::vector<Way> ways{{}};
  for (size_t mask = 0; mask < masks; ++mask) {
    std::vector<Way> longer;
    for (const Way& way : ways) {
      for (size_t word = 0; word < words; ++word) {
        if (std::ranges::find(way, word) != way.end()) continue;
        longer.push_back(way);
        longer.back().push_back(word);
        if (longer.size() > kMostWays)
          refuse_words(fmt::format("expected at most {} ways to fill the masks", kMostWays));
      }
    }
    ways = std::move(longer);
  }
  return ways;
}

struct Filled {
  std::string text;
  std::vector<Offset> words;  // in bytes
};

Filled filled_text(std::string_view text, std::string_view mask, const std::vector<size_t>& places, const Way& way,
                   const std::vector<std::string>& words) {
  Filled filled;
  size_t from = 0;
  for (size_t i = 0; i < places.size(); ++i) {
    filled.text += text.substr(from, places[i] - from);
    const auto begin = static_cast<uint32_t>(filled.text.size());
    filled.text += words[way[i]];
    filled.words.push_back({begin, static_cast<uint32_t>(filled.text.size())});
    from = places[i] + mask.size();
  }
  filled.text += text.substr(from);
  return filled;
}

// The tokens that have a byte of the word, and the bare word start before them, which has none.
std::vector<size_t> pieces_at(const Encoding& encoding, const Offset& word) {
  std::vector<size_t> pieces;
  for (size_t token = 0; token < encoding.size(); ++token) {
    const Offset& bytes = encoding.bytes[token];
    const bool has_byte = bytes.begin < word.end && bytes.end > word.begin;
    const bool is_start = bytes.begin == word.begin && bytes.end == word.begin;
    if (encoding.is_special[token] == 0 && (has_byte || is_start)) pieces.push_back(token);
  }
  return pieces;
}

// Each piece with itself and the pieces of its word that follow masked.
void add_pieces(const Encoding& encoding, const std::vector<size_t>& of_word, int32_t mask,
                std::vector<PredictedPiece>& all) {
  for (size_t first = 0; first < of_word.size(); ++first) {
    PredictedPiece piece{encoding.ids, encoding.type_ids, of_word[first], encoding.ids[of_word[first]]};
    for (size_t later = first; later < of_word.size(); ++later) piece.ids[of_word[later]] = mask;
    all.push_back(std::move(piece));
  }
}

void check_tokens(size_t tokens, size_t most) {
  if (tokens > most)
    refuse_words(
        fmt::format("expected words whose pieces are predicted in at most {} tokens, got {} or more; give "
                    "fewer or shorter ones",
                    most, tokens));
}

}  // namespace

std::vector<WordFilling> word_fillings(const Model& model, const Tokenizer& tokenizer, std::string_view text,
                                       const std::vector<std::string>& words, const WordFillingOptions& options) {
  check_mask_decoder(model);
  const int32_t mask_id = tokenizer.special().mask;
  const std::string_view mask = tokenizer.piece(mask_id);
  const std::vector<size_t> places = places_of(text, mask);
  std::vector<WordFilling> fillings;
  std::vector<PredictedPiece> pieces;
  std::vector<size_t> ends;  // of each filling's pieces
  size_t tokens = 0;         // in all of them
  for (const Way& way : ways_of(words.size(), places.size())) {
    const Filled filled = filled_text(text, mask, places, way, words);
    const Encoding encoding = tokenizer.encode(filled.text, options.encode);
    WordFilling& filling = fillings.emplace_back();
    for (size_t i = 0; i < way.size(); ++i) {
      filling.words.push_back(words[way[i]]);
      const std::vector<size_t> of_word = pieces_at(encoding, filled.words[i]);
      if (of_word.empty())
        refuse_words(fmt::format("expected words of the tokenizer, got {}", quote_begin(words[way[i]])));
      add_pieces(encoding, of_word, mask_id, pieces);
      tokens += of_word.size() * encoding.size();
    }
    check_tokens(tokens, options.most_tokens);
    ends.push_back(pieces.size());
  }
  const std::vector<double> with = log_probabilities(model, pieces, false);
  const std::vector<double> without = log_probabilities(model, pieces, true);
  for (size_t i = 0, at = 0; i < fillings.size(); ++i) {
    for (; at < ends[i]; ++at) fillings[i].with += with[at], fillings[i].without += without[at];
  }
  return fillings;
}

}  // namespace deberta
