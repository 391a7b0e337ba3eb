// What makes the ids equal to those of sentencepiece 0.2.3 (0.2.1 breaks ties differently):
//   scores are summed in float, in the order of the line, and a later piece wins only when strictly better;
//   when the running score leaves +-100000 it is taken off all open paths;
//   an unknown character costs the smallest score of a normal piece minus 10;
//   a user-defined piece of n bytes scores 0.1 (n - 1).
// SpmTies::kDouble is 0.1.97 instead: a sum with a piece is made and compared in double, then kept as float; an offset
// is never taken off; a user-defined piece of n bytes scores n x the largest score - 0.1.
#include "text/unigram.h"

#include <algorithm>
#include <array>
#include <limits>
#include <type_traits>

#include "text/best_paths.h"
#include "text/normalizer.h"

namespace deberta {
namespace {

constexpr float kUnknownPenalty = 10.0F;
constexpr float kScoreLimit = 100000.0F;
float user_defined_score(size_t size_bytes) {
  return static_cast<float>(0.1 * static_cast<double>(size_bytes - 1));
}

bool can_match(const SpmPiece& piece, bool escape_whitespaces) {
  if (piece.type != PieceType::kNormal && piece.type != PieceType::kUserDefined) return false;
  // sentencepiece 0.2.x cannot find a piece with NUL in it; nor can a space be found where all are escaped.
  if (piece.text.find('\0') != std::string::npos) return false;
  return !escape_whitespaces || piece.text.find(' ') == std::string::npos;
}

Trie make_trie(const SpmModel& model) {
  std::vector<std::string> keys;
  std::vector<TrieEntry> entries;
  keys.reserve(model.pieces.size());  // the entries point into the strings
  for (size_t id = 0; id < model.pieces.size(); ++id) {
    if (!can_match(model.pieces[id], model.escape_whitespaces)) continue;
    keys.push_back(to_inner_text(model.pieces[id].text, model.escape_whitespaces));
    entries.push_back({keys.back(), static_cast<uint32_t>(id)});
  }
  return Trie(entries);
}

}  // namespace

Unigram::Unigram(const SpmModel& model)
    : trie_(make_trie(model)),
      unk_id_(model.unk_id),
      byte_fallback_(model.byte_fallback),
      escape_whitespaces_(model.escape_whitespaces),
      byte_ids_(model.byte_ids) {
  float smallest = std::numeric_limits<float>::max();
  float largest = std::numeric_limits<float>::min();
  scores_.reserve(model.pieces.size());
  for (const SpmPiece& piece : model.pieces) {
    const bool is_user_defined = piece.type == PieceType::kUserDefined;
    if (piece.type == PieceType::kNormal) smallest = std::min(smallest, piece.score);
    if (piece.type == PieceType::kNormal) largest = std::max(largest, piece.score);
    scores_.push_back(is_user_defined ? user_defined_score(piece.text.size()) : piece.score);
  }
  unknown_score_ = smallest - kUnknownPenalty;
  double_scores_.assign(scores_.begin(), scores_.end());
  for (size_t id = 0; id < model.pieces.size(); ++id) {
    if (model.pieces[id].type != PieceType::kUserDefined) continue;
    double_scores_[id] = static_cast<double>(static_cast<float>(model.pieces[id].text.size()) * largest) - 0.1;
  }
}

// The last step of the best path to each position. `Score` is the type in which a piece is added.
template <class Score>
std::vector<uint32_t> Unigram::best_steps(std::string_view text, const std::vector<Score>& scores) const {
  constexpr bool kTakesOff = std::is_same_v<Score, float>;
  std::vector<uint32_t> steps(text.size() + 1, 0);
  const auto size = static_cast<uint32_t>(text.size());
  BestPaths<float> paths(steps.data(), size);
  for (uint32_t from = 0; from < size;) {
    float score = paths.score_at(from);
    if (kTakesOff && (score < -kScoreLimit || score > kScoreLimit)) {
      paths.take_off(score, from);
      score = paths.score_at(from);
    }
    const uint32_t first_size = character_size(text, from);
    bool is_known = false;
    trie_.for_each_prefix(text, from, [&](size_t size_bytes, uint32_t id) {
      paths.offer(from, static_cast<uint32_t>(size_bytes), id, scores[id] + static_cast<Score>(score));
      is_known |= size_bytes == first_size;
    });
    if (!is_known) paths.offer(from, first_size, static_cast<uint32_t>(unk_id_), unknown_score_ + score);
    from += first_size;
  }
  return steps;
}

// An unknown character: its bytes when the model has pieces for them, else one token for each run of unknown ones.
void Unigram::add_unknown(std::string_view text, UnigramToken token, std::vector<UnigramToken>& tokens) const {
  if (byte_fallback_) {
    std::string_view character = text.substr(token.begin, token.end - token.begin);
    if (escape_whitespaces_ && character == " ") character = kSpaceSymbol;
    for (const char byte : character) {
      tokens.push_back({byte_ids_[static_cast<uint8_t>(byte)], token.begin, token.end});
    }
    return;
  }
  if (!tokens.empty() && tokens.back().id == unk_id_) {
    tokens.back().end = token.end;
  } else {
    tokens.push_back(token);
  }
}

std::vector<UnigramToken> Unigram::split(std::string_view text, SpmTies ties) const {
  std::vector<uint32_t> steps = ties == SpmTies::kFloat ? best_steps(text, scores_) : best_steps(text, double_scores_);
  std::vector<UnigramToken> tokens;
  tokens.reserve(text.size() / 3);
  for_each_step(steps, [&](int32_t id, uint32_t begin, uint32_t end) {
    if (id == unk_id_) {
      add_unknown(text, {id, begin, end}, tokens);
    } else {
      tokens.push_back({id, begin, end});
    }
  });
  return tokens;
}

}  // namespace deberta
