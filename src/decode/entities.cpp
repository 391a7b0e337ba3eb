// Scores of pieces, then of characters split across pieces, then of words, then runs of tags that continue one another
// (config/tags.h).
#include "decode/entities.h"

#include <algorithm>
#include <iterator>

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

// A bare word start, or a character that the tokenizer drops.
bool covers_nothing(const Encoding& encoding, size_t token) {
  return encoding.bytes[token].begin >= encoding.bytes[token].end;
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

// Leaves out the pieces that cover nothing, except those whose entity goes on in the next piece.
void drop_empty(std::vector<Unit>& units, std::span<const Tag> tags_C, const Encoding& encoding) {
  std::vector<Unit> kept;
  for (size_t i = units.size(); i-- > 0;) {
    const bool goes_on = !kept.empty() && continues(tags_C[units[i].label], tags_C[kept.back().label]);
    if (goes_on || !covers_nothing(encoding, units[i].last_token)) kept.push_back(std::move(units[i]));
  }
  units.assign(std::make_move_iterator(kept.rbegin()), std::make_move_iterator(kept.rend()));
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

Entity to_entity(std::span<const Unit> units, std::string label, const Encoding& encoding) {
  double sum = 0;
  for (const Unit& unit : units) sum += unit.score;
  Entity entity{std::move(label),
                static_cast<float>(sum / static_cast<double>(units.size())),
                units.front().first_token,
                units.back().last_token,
                {},
                {}};
  size_t first = entity.first_token, last = entity.last_token;
  while (first < last && covers_nothing(encoding, first)) ++first;
  while (first < last && covers_nothing(encoding, last)) --last;
  entity.chars = {encoding.chars[first].begin, encoding.chars[last].end};
  entity.bytes = {encoding.bytes[first].begin, encoding.bytes[last].end};
  return entity;
}

// Outside words that are shown form runs too.
bool goes_on(const Tag& before, const Tag& tag) {
  return continues(before, tag) || (before.place == TagPlace::kOutside && tag.place == TagPlace::kOutside);
}

// "O" in the list is the tag, however the model writes it, and never an entity of that kind.
bool is_ignored(const EntityRules& rules, const Tag& tag, const std::string& shown) {
  const bool is_outside = tag.place == TagPlace::kOutside;
  return std::ranges::any_of(
      rules.ignored, [&](const std::string& label) { return label == kOutsideTag ? is_outside : label == shown; });
}

// The pieces or words that have labels, as the rules say.
std::vector<Unit> units_of(std::span<const float> logits_TC, std::span<const Tag> tags_C, const Encoding& encoding,
                           const EntityRules& rules) {
  const bool is_none = rules.aggregation == Aggregation::kNone, is_simple = rules.aggregation == Aggregation::kSimple;
  // Words never split a character, and without aggregation each piece is an answer.
  std::vector<Unit> units = score_pieces(logits_TC, tags_C.size(), encoding, is_simple);
  if (is_simple) drop_empty(units, tags_C, encoding);
  return is_none || is_simple ? units : merge_words(units, encoding, rules.aggregation.value());
}

}  // namespace

std::vector<Tag> tags_of(const std::vector<std::string>& labels) {
  const TagSet set(labels);
  std::vector<Tag> tags;
  for (const std::string& label : labels) tags.push_back(set.of(label));
  return tags;
}

std::vector<Entity> find_entities(std::span<const float> logits_TC, const std::vector<std::string>& labels,
                                  std::span<const Tag> tags_C, const Encoding& encoding, const EntityRules& rules) {
  const std::vector<Unit> units = units_of(logits_TC, tags_C, encoding, rules);
  std::vector<Entity> entities;
  const auto add = [&](std::span<const Unit> run, const std::string& label) {
    Entity entity = to_entity(run, label, encoding);
    if (entity.bytes.begin < entity.bytes.end || rules.aggregation == Aggregation::kNone)
      entities.push_back(std::move(entity));
  };
  for (size_t begin = 0; begin < units.size();) {
    size_t end = begin + 1;
    const Tag& first = tags_C[units[begin].label];
    const std::string& name = labels[units[begin].label];
    const bool is_grouped = rules.aggregation != Aggregation::kNone;
    while (is_grouped && end < units.size() && goes_on(tags_C[units[end - 1].label], tags_C[units[end].label])) ++end;
    const std::string& shown = is_grouped && first.place != TagPlace::kOutside ? first.kind : name;
    if (!is_ignored(rules, first, shown)) add(std::span(units).subspan(begin, end - begin), shown);
    begin = end;
  }
  return entities;
}

}  // namespace deberta
