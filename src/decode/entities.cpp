// Scores of pieces, then of characters split across pieces, then of words, then runs of one label. A label "B-X" begins
// an entity, "I-X" continues one, and a label without a prefix continues its own kind.
#include "decode/entities.h"

#include <algorithm>

#include "decode/classification.h"

namespace deberta {
namespace {

// A piece or a word with the scores that decide its label.
struct Unit {
  std::vector<float> scores_C;
  size_t first_token = 0;
  size_t last_token = 0;
  size_t label = 0;
  float score = 0;

  void decide() {
    label = static_cast<size_t>(std::max_element(scores_C.begin(), scores_C.end()) - scores_C.begin());
    score = scores_C[label];
  }
};

// Pieces that share one character, as byte pieces do, become one unit with the mean of their scores: no character has
// two labels.
void merge_character(Unit& unit, const Unit& next) {
  const auto pieces = static_cast<float>(next.first_token - unit.first_token);
  for (size_t c = 0; c < unit.scores_C.size(); ++c)
    unit.scores_C[c] += (next.scores_C[c] - unit.scores_C[c]) / (pieces + 1);
  unit.last_token = next.last_token;
  unit.decide();
}

bool shares_character(const Encoding& encoding, size_t before, size_t token) {
  const Offset a = encoding.bytes[before], b = encoding.bytes[token];
  return token == before + 1 && a.begin < a.end && b.begin < b.end && b.begin < a.end;
}

std::vector<Unit> score_pieces(std::span<const float> logits_TC, size_t classes, const Encoding& encoding,
                               bool joins_characters) {
  std::vector<Unit> units;
  for (size_t t = 0; t < encoding.size(); ++t) {
    if (encoding.is_special[t] != 0) continue;
    Unit unit{scores_of_logits(logits_TC.subspan(t * classes, classes), ScoreFunction::kSoftmax), t, t, 0, 0};
    unit.decide();
    if (joins_characters && !units.empty() && shares_character(encoding, units.back().last_token, t)) {
      merge_character(units.back(), unit);
    } else {
      units.push_back(std::move(unit));
    }
  }
  return units;
}

Unit merge_word(std::span<const Unit> pieces, Aggregation aggregation) {
  Unit word = pieces.front();
  if (aggregation == Aggregation::kMax) {
    word =
        *std::max_element(pieces.begin(), pieces.end(), [](const Unit& a, const Unit& b) { return a.score < b.score; });
  } else if (aggregation == Aggregation::kAverage) {
    for (size_t c = 0; c < word.scores_C.size(); ++c) {
      double sum = 0;
      for (const Unit& piece : pieces) sum += piece.scores_C[c];
      word.scores_C[c] = static_cast<float>(sum / static_cast<double>(pieces.size()));
    }
    word.decide();
  }
  word.first_token = pieces.front().first_token;
  word.last_token = pieces.back().last_token;
  return word;
}

std::vector<Unit> merge_words(const std::vector<Unit>& pieces, const Encoding& encoding, Aggregation aggregation) {
  std::vector<Unit> words;
  for (size_t begin = 0; begin < pieces.size();) {
    size_t end = begin + 1;
    const int32_t word = encoding.words[pieces[begin].first_token];
    while (end < pieces.size() && encoding.words[pieces[end].first_token] == word) ++end;
    words.push_back(merge_word(std::span(pieces).subspan(begin, end - begin), aggregation));
    begin = end;
  }
  return words;
}

struct Tag {
  bool begins = false;
  std::string kind;
};
Tag tag_of(const std::string& label) {
  if (label.starts_with("B-")) return {true, label.substr(2)};
  if (label.starts_with("I-")) return {false, label.substr(2)};
  return {false, label};
}

Entity to_entity(std::span<const Unit> units, std::string label, const Encoding& encoding) {
  double sum = 0;
  for (const Unit& unit : units) sum += unit.score;
  const size_t first = units.front().first_token, last = units.back().last_token;
  return {std::move(label),
          static_cast<float>(sum / static_cast<double>(units.size())),
          first,
          last,
          {encoding.chars[first].begin, encoding.chars[last].end},
          {encoding.bytes[first].begin, encoding.bytes[last].end}};
}

}  // namespace

std::vector<Entity> find_entities(std::span<const float> logits_TC, const std::vector<std::string>& labels,
                                  const Encoding& encoding, const EntityRules& rules) {
  const size_t classes = labels.size();
  // Words never split a character, and without aggregation each piece is an answer.
  const bool joins_characters = rules.aggregation == Aggregation::kSimple;
  std::vector<Unit> units = score_pieces(logits_TC, classes, encoding, joins_characters);
  const bool by_words = rules.aggregation != Aggregation::kNone && rules.aggregation != Aggregation::kSimple;
  if (by_words) units = merge_words(units, encoding, rules.aggregation);

  std::vector<Entity> entities;
  const auto add = [&](std::span<const Unit> run, const std::string& label) {
    if (std::find(rules.ignored.begin(), rules.ignored.end(), label) != rules.ignored.end()) return;
    entities.push_back(to_entity(run, label, encoding));
  };
  for (size_t begin = 0; begin < units.size();) {
    size_t end = begin + 1;
    if (rules.aggregation == Aggregation::kNone) {
      add(std::span(units).subspan(begin, 1), labels[units[begin].label]);
    } else {
      const Tag first = tag_of(labels[units[begin].label]);
      for (; end < units.size(); ++end) {
        const Tag next = tag_of(labels[units[end].label]);
        if (next.begins || next.kind != first.kind) break;
      }
      add(std::span(units).subspan(begin, end - begin), first.kind);
    }
    begin = end;
  }
  return entities;
}

}  // namespace deberta
