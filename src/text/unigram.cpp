// What makes the ids equal to those of sentencepiece 0.2.3 (0.2.1 breaks ties differently):
//   scores are summed in float, in the order of the line, and a later piece wins only when strictly better;
//   when the running score leaves +-100000 it is taken off all open paths;
//   an unknown character costs the smallest score of a normal piece minus 10;
//   a user-defined piece of n bytes scores 0.1 (n - 1) (0.2.1 took n x the largest score - 0.1).
//
// Memory: a path's end needs its last step only (4 bytes: piece id and length); running scores are needed for as far as
// a piece reaches, so they live in a ring that stays in the first cache level.
#include "text/unigram.h"

#include <algorithm>
#include <array>
#include <limits>

#include "text/normalizer.h"

namespace deberta {
namespace {

constexpr float kUnknownPenalty = 10.0F;
constexpr float kScoreLimit = 100000.0F;
constexpr uint32_t kRing = 2048;  // a power of two above the longest piece
static_assert(kRing > kMaxPieceBytes);

// A step into a position: piece id in the low bits, its length in bytes above. 0: no path ends here.
constexpr uint32_t kIdBits = 20;
constexpr uint32_t kIdMask = (1U << kIdBits) - 1;
static_assert(kMaxPieces <= size_t{1} << kIdBits && kMaxPieceBytes < size_t{1} << (32 - kIdBits));

uint32_t character_size(std::string_view text, uint32_t position) {
  const auto lead = static_cast<uint8_t>(text[position]);
  const uint32_t size = lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  return std::min(size, static_cast<uint32_t>(text.size()) - position);
}

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

// The best path to each position: its last step, and its score for as far as a piece from here can reach.
class Paths {
 public:
  Paths(uint32_t* steps, uint32_t size_bytes) : steps_(steps), size_bytes_(size_bytes) { ring_[0] = 0; }

  float score_at(uint32_t position) {
    float& score = ring_[position % kRing];
    if (score < -kScoreLimit || score > kScoreLimit) take_off(score, position);
    return score;
  }
  void offer(uint32_t from, uint32_t size_bytes, uint32_t id, float score) {
    const uint32_t to = from + size_bytes;
    if (steps_[to] != 0 && !(score > ring_[to % kRing])) return;
    steps_[to] = size_bytes << kIdBits | id;
    ring_[to % kRing] = score;
  }

 private:
  void take_off(float offset, uint32_t position) {
    ring_[position % kRing] -= offset;
    const uint32_t end = std::min(size_bytes_, position + static_cast<uint32_t>(kMaxPieceBytes));
    for (uint32_t i = position + 1; i <= end; ++i) {
      if (steps_[i] != 0) ring_[i % kRing] -= offset;
    }
  }

  uint32_t* steps_;  // size_bytes + 1 of them
  uint32_t size_bytes_;
  float ring_[kRing];  // written before it is read
};

}  // namespace

Unigram::Unigram(const SpmModel& model)
    : trie_(make_trie(model)),
      unk_id_(model.unk_id),
      byte_fallback_(model.byte_fallback),
      escape_whitespaces_(model.escape_whitespaces),
      byte_ids_(model.byte_ids) {
  float smallest = std::numeric_limits<float>::max();
  scores_.reserve(model.pieces.size());
  for (const SpmPiece& piece : model.pieces) {
    if (piece.type == PieceType::kNormal) smallest = std::min(smallest, piece.score);
    scores_.push_back(piece.type == PieceType::kUserDefined ? user_defined_score(piece.text.size()) : piece.score);
  }
  unknown_score_ = smallest - kUnknownPenalty;
}

// The last step of the best path to each position.
std::vector<uint32_t> Unigram::best_steps(std::string_view text) const {
  std::vector<uint32_t> steps(text.size() + 1, 0);
  const auto size = static_cast<uint32_t>(text.size());
  Paths paths(steps.data(), size);
  const Trie::Node* nodes = trie_.nodes();
  const uint32_t root_base = trie_.root_base();
  for (uint32_t from = 0; from < size;) {
    const float score = paths.score_at(from);
    const uint32_t first_size = character_size(text, from);
    bool is_known = false;
    uint32_t base = root_base;
    for (uint32_t to = from; to < size;) {
      const auto byte = static_cast<uint8_t>(text[to]);
      const Trie::Node node = nodes[base ^ byte];
      if ((node.tag & Trie::kNoLabel) != byte) break;
      ++to;
      base = node.base;
      const uint32_t value = node.tag >> Trie::kLabelBits;
      if (value == 0) continue;
      paths.offer(from, to - from, value - 1, scores_[value - 1] + score);
      is_known |= to - from == first_size;
    }
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

std::vector<UnigramToken> Unigram::split(std::string_view text) const {
  std::vector<uint32_t> steps = best_steps(text);
  // Backwards: the steps of the best path are gathered at the end of the vector, in order.
  size_t first = steps.size();
  for (auto end = static_cast<uint32_t>(text.size()); end > 0;) {
    const uint32_t step = steps[end];
    steps[--first] = step;
    end -= step >> kIdBits;
  }
  std::vector<UnigramToken> tokens;
  tokens.reserve(steps.size() - first);
  uint32_t begin = 0;
  for (; first < steps.size(); ++first) {
    const auto id = static_cast<int32_t>(steps[first] & kIdMask);
    const uint32_t end = begin + (steps[first] >> kIdBits);
    if (id == unk_id_) {
      add_unknown(text, {id, begin, end}, tokens);
    } else {
      tokens.push_back({id, begin, end});
    }
    begin = end;
  }
  return tokens;
}

}  // namespace deberta
