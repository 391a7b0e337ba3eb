// Rules: an unknown character costs the smallest score of all pieces minus 10; a later piece wins only when strictly
// better; a run of unknown ones is one text, which is a piece when the vocabulary has it, else its bytes when all of
// them have pieces, else one unknown token.
#include "text/hf_json/word_unigram.h"

#include <algorithm>
#include <string>

#include "text/best_paths.h"
#include "text/spm/normalizer.h"

namespace deberta {
namespace {

constexpr double kUnknownPenalty = 10.0;

Trie make_trie(const SpmModel& model) {
  std::vector<std::string> keys;
  std::vector<TrieEntry> entries;
  keys.reserve(model.pieces.size());  // the entries point into the strings
  for (size_t id = 0; id < model.pieces.size(); ++id) {
    if (model.pieces[id].text.find(' ') != std::string::npos)
      continue;  // no text has a space by the time pieces are looked up
    keys.push_back(to_inner_text(model.pieces[id].text, true));
    entries.push_back({keys.back(), static_cast<uint32_t>(id)});
  }
  return Trie(entries);
}

std::string to_piece(std::string_view inner) {
  std::string piece;
  for (const char c : inner) {
    if (c == ' ') {
      piece += kSpaceSymbol;
    } else {
      piece += c;
    }
  }
  return piece;
}

}  // namespace

WordUnigram::WordUnigram(const SpmModel& model, std::vector<double> scores)
    : trie_(make_trie(model)),
      scores_(std::move(scores)),
      is_special_(scores_.size()),
      unknown_score_(*std::min_element(scores_.begin(), scores_.end()) - kUnknownPenalty),
      unk_id_(model.unk_id) {}

// The last step of the best path to each position.
std::vector<uint32_t> WordUnigram::best_steps(std::string_view word, bool parse_special) const {
  std::vector<uint32_t> steps(word.size() + 1, 0);
  const auto size = static_cast<uint32_t>(word.size());
  BestPaths<double> paths(steps.data(), size);
  for (uint32_t from = 0; from < size;) {
    const double score = paths.score_at(from);
    const uint32_t first_size = character_size(word, from);
    bool is_known = false;
    trie_.for_each_prefix(word, from, [&](size_t size_bytes, uint32_t id) {
      if (!parse_special && is_special_[id]) return;
      paths.offer(from, static_cast<uint32_t>(size_bytes), id, scores_[id] + score);
      is_known |= size_bytes == first_size;
    });
    if (!is_known) paths.offer(from, first_size, static_cast<uint32_t>(unk_id_), unknown_score_ + score);
    from += first_size;
  }
  return steps;
}

void WordUnigram::add_unknown(const SpmModel& model, std::string_view run, uint32_t begin, bool parse_special,
                              std::vector<UnigramToken>& tokens) const {
  const auto end = begin + static_cast<uint32_t>(run.size());
  const std::string piece = to_piece(run);
  const std::optional<int32_t> id = model.id_of(piece);
  if (id && (parse_special || !is_special_[static_cast<size_t>(*id)])) return tokens.push_back({*id, begin, end});
  const auto has_piece = [&](char byte) { return model.byte_ids[static_cast<uint8_t>(byte)] >= 0; };
  if (!model.byte_fallback || !std::all_of(piece.begin(), piece.end(), has_piece))
    return tokens.push_back({unk_id_, begin, end});
  for (uint32_t at = 0; at < run.size();) {
    const uint32_t size = character_size(run, at);
    for (const char byte : to_piece(run.substr(at, size))) {
      tokens.push_back({model.byte_ids[static_cast<uint8_t>(byte)], begin + at, begin + at + size});
    }
    at += size;
  }
}

void WordUnigram::split(const SpmModel& model, std::string_view word, uint32_t shift, bool parse_special,
                        std::vector<UnigramToken>& tokens) const {
  std::vector<uint32_t> steps = best_steps(word, parse_special);
  uint32_t known_until = 0;
  const auto end_run = [&](uint32_t end) {
    if (known_until == end) return;
    add_unknown(model, word.substr(known_until, end - known_until), shift + known_until, parse_special, tokens);
  };
  for_each_step(steps, [&](int32_t id, uint32_t begin, uint32_t end) {
    if (id == unk_id_) return;
    end_run(begin);
    tokens.push_back({id, shift + begin, shift + end});
    known_until = end;
  });
  end_run(static_cast<uint32_t>(word.size()));
}

}  // namespace deberta
