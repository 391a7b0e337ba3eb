// What makes the ids equal to those of sentencepiece 0.2.3 (0.2.1 breaks ties differently):
//   scores are summed in float, in the order of the line, and a later piece wins only when strictly better;
//   when the running score leaves +-100000 it is subtracted from all open paths;
//   an unknown character costs the smallest score of a normal piece minus 10;
//   a user-defined piece of n bytes scores 0.1 (n - 1).
// A text is split stretch by stretch (byte_pairs.h), mostly words and punctuation marks. No piece reaches into the next
// one, only the running score does. How it rounds may decide between two splits of a stretch that are nearly equal; a
// split that wins by more than that is remembered.
// SpmTies::kDouble is 0.1.97 instead: a sum with a piece is made and compared in double, then kept as float; an offset
// is never subtracted; a user-defined piece of n bytes scores n x the largest score - 0.1.
#include "text/spm/unigram.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "text/best_paths.h"
#include "text/spm/normalizer.h"

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

Trie make_trie(const SpmModel& model, BytePairs& pairs) {
  size_t size_bytes = 0;
  for (const SpmPiece& piece : model.pieces) size_bytes += piece.text.size();
  std::string keys;
  keys.reserve(size_bytes);  // the entries point into it
  std::vector<TrieEntry> entries;
  entries.reserve(model.pieces.size());
  for (size_t id = 0; id < model.pieces.size(); ++id) {
    if (!can_match(model.pieces[id], model.escape_whitespaces)) continue;
    const size_t begin = keys.size();
    append_inner_text(model.pieces[id].text, model.escape_whitespaces, keys);
    entries.push_back({std::string_view(keys).substr(begin), static_cast<uint32_t>(id)});
    pairs.add(entries.back().key);
  }
  return Trie(entries);
}

}  // namespace

Unigram::Unigram(const SpmModel& model)
    : trie_(make_trie(model, pairs_)),
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
  scores_[static_cast<size_t>(unk_id_)] = unknown_score_;
  for (const float score : scores_) largest_score_ = std::max(largest_score_, std::abs(double{score}));
  double_scores_.assign(scores_.begin(), scores_.end());
  for (size_t id = 0; id < model.pieces.size(); ++id) {
    if (model.pieces[id].type != PieceType::kUserDefined) continue;
    double_scores_[id] = static_cast<double>(static_cast<float>(model.pieces[id].text.size()) * largest) - 0.1;
  }
}

// The best split of a word by itself, by exact sums, and by how much it beats the second best. A sum of up to n floats
// that stay below m is rounded by less than n m 2^-24, so twice that cannot turn the order of the two.
WordCache::Split Unigram::split_alone(std::string_view word) const {
  constexpr double kNever = -std::numeric_limits<double>::infinity();
  struct Paths {
    double best = kNever;
    double second = kNever;
    uint32_t step = 0;
  };
  std::array<Paths, WordCache::kMaxBytes + 1> paths{};
  paths[0].best = 0;
  const auto size = static_cast<uint32_t>(word.size());
  for (uint32_t from = 0; from < size;) {
    const auto offer = [&](size_t size_bytes, uint32_t id) {
      const double score = scores_[id];
      Paths& to = paths[from + size_bytes];
      const double best = paths[from].best + score;
      to.second = best > to.best ? std::max(to.best, paths[from].second + score) : std::max(to.second, best);
      if (best > to.best) to.step = static_cast<uint32_t>(size_bytes) << kStepIdBits | id;
      to.best = std::max(to.best, best);
    };
    const uint32_t first_size = character_size(word, from);
    bool is_known = false;
    trie_.for_each_prefix(word, from, [&](size_t size_bytes, uint32_t id) {
      offer(size_bytes, id);
      is_known |= size_bytes == first_size;
    });
    if (!is_known) offer(first_size, static_cast<uint32_t>(unk_id_));
    from += first_size;
  }
  WordCache::Split split;
  for (uint32_t end = size; end > 0; end -= paths[end].step >> kStepIdBits) {
    if (split.count == WordCache::kMaxSteps) return {0, -1, {}};
    split.steps[split.count++] = paths[end].step;
  }
  std::reverse(split.steps.begin(), split.steps.begin() + split.count);
  const double margin = paths[size].best - paths[size].second;
  const double reach = std::min<double>(kScoreLimit - 1, std::ldexp(margin, 22) / size) - size * largest_score_;
  split.reach = reach >= 0 ? static_cast<float>(reach) : -1.0F;
  return split;
}

Unigram::Word Unigram::word_at(std::string_view text, size_t begin) const {
  Word word{begin, begin < text.size() ? pairs_.end_of_stretch(text, begin) : begin, {}};
  if (word.size() == 0 || word.size() > WordCache::kMaxBytes) return word;
  word.key = WordCache::Key(text, begin, word.end);
  words_.prefetch(word.key);
  return word;
}

// False when the word is too long to be remembered, or its split depends on the score before.
bool Unigram::add_known_word(const Word& word, Line& line) const {
  if (word.size() > WordCache::kMaxBytes) return false;
  WordCache::Split split;
  if (!words_.find(word.key, split)) {
    split = split_alone(line.text.substr(word.begin, word.size()));
    words_.put(word.key, split);
  }
  if (!(std::abs(line.score) <= split.reach)) return false;
  auto at = static_cast<uint32_t>(word.begin);
  for (uint32_t i = 0; i < split.count; ++i) {
    const uint32_t id = split.steps[i] & kStepIdMask;
    const uint32_t next = at + (split.steps[i] >> kStepIdBits);
    line.score += scores_[id];
    add_token({static_cast<int32_t>(id), at, next}, line);
    at = next;
  }
  return true;
}

// The best path through one word. `Score` is the type in which a piece is added.
template <class Score>
void Unigram::add_word(const Word& span, const std::vector<Score>& scores, Line& line) const {
  constexpr bool kTakesOff = std::is_same_v<Score, float>;
  const std::string_view word = line.text.substr(span.begin, span.size());
  const auto size = static_cast<uint32_t>(word.size());
  line.steps.assign(word.size() + 1, 0);
  BestPaths<float> paths(line.steps.data(), size, line.score);
  for (uint32_t from = 0; from < size;) {
    float score = paths.score_at(from);
    if (kTakesOff && (score < -kScoreLimit || score > kScoreLimit)) {
      paths.take_off(score, from);
      score = paths.score_at(from);
    }
    const uint32_t first_size = character_size(word, from);
    bool is_known = false;
    trie_.for_each_prefix(word, from, [&](size_t size_bytes, uint32_t id) {
      paths.offer(from, static_cast<uint32_t>(size_bytes), id, scores[id] + static_cast<Score>(score));
      is_known |= size_bytes == first_size;
    });
    if (!is_known) paths.offer(from, first_size, static_cast<uint32_t>(unk_id_), unknown_score_ + score);
    from += first_size;
  }
  line.score = paths.score_at(size);
  const auto shift = static_cast<uint32_t>(span.begin);
  for_each_step(line.steps, [&](int32_t id, uint32_t from, uint32_t to) {
    add_token({id, shift + from, shift + to}, line);
  });
}

void Unigram::add_token(UnigramToken token, Line& line) const {
  if (token.id == unk_id_) {
    add_unknown(token, line);
  } else {
    line.tokens.push_back(token);
  }
}

// An unknown character: its bytes when the model has pieces for them, else one token for each run of unknown ones.
void Unigram::add_unknown(UnigramToken token, Line& line) const {
  if (byte_fallback_) {
    std::string_view character = line.text.substr(token.begin, token.end - token.begin);
    if (escape_whitespaces_ && character == " ") character = kSpaceSymbol;
    for (const char byte : character) {
      line.tokens.push_back({byte_ids_[static_cast<uint8_t>(byte)], token.begin, token.end});
    }
    return;
  }
  if (!line.tokens.empty() && line.tokens.back().id == unk_id_) {
    line.tokens.back().end = token.end;
  } else {
    line.tokens.push_back(token);
  }
}

std::vector<UnigramToken> Unigram::split(std::string_view text, SpmTies ties) const {
  Line line{text, {}, {}, 0};
  line.tokens.reserve(text.size() / 3);
  for (Word word = word_at(text, 0), next; word.size() > 0; word = next) {
    next = word_at(text, word.end);  // the next word's cache line arrives meanwhile
    if (ties == SpmTies::kDouble) {
      add_word(word, double_scores_, line);
    } else if (!add_known_word(word, line)) {
      add_word(word, scores_, line);
    }
  }
  return std::move(line.tokens);
}

}  // namespace deberta
