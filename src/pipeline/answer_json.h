// The one JSON form of every answer: what a program prints, a server sends and docs/formats.md describes. The texts
// behind an answer are passed again where the form shows parts of them. Offsets are in `unit`.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "deberta/answer.h"
#include "deberta/tokenizer.h"
#include "decode/offset_units.h"

namespace deberta {

JsonArray to_json(const std::vector<LabelScore>& labels);
JsonObject to_json(const SequenceAnswer& answer);
JsonObject to_json(const EntailmentAnswer& answer);
JsonObject to_json(const ZeroShotAnswer& answer, const std::string& text);
// `is_grouped`: entities, not single pieces.
JsonObject to_json(const TokenAnswer& answer, const std::string& text, OffsetUnit unit, bool is_grouped);
JsonObject to_json(const Entity& entity, const std::string& text, const OffsetUnits& units, bool is_grouped);
// `has_all`: also the list of all answers, not only the best. A context without tokens has no span: no answer.
JsonObject to_json(const QuestionAnswer& answer, const std::string& context, OffsetUnit unit, bool has_all);
JsonObject to_json(const ChoiceAnswer& answer, std::span<const std::string> choices);
JsonObject to_json(const RankAnswer& answer, const std::string& query, std::span<const std::string> documents,
                   bool has_texts);
// `columns`: the size of a vector. `is_pooled`: one vector per text.
JsonObject to_json(const EmbeddingAnswer& answer, size_t columns, bool is_pooled);
JsonObject to_json(const SimilarityAnswer& answer);  // one pair
JsonObject to_json(const FillAnswer& answer);
JsonObject to_json(const TextScoreAnswer& answer);
JsonArray to_json(std::span<const TextScoreAnswer::Token> pieces, const std::string& text, OffsetUnit unit,
                  const Tokenizer& tokenizer);
// `threshold`: the probability at which a piece counts as replaced.
JsonObject to_json(const ReplacedAnswer& answer, const std::string& text, OffsetUnit unit, double threshold);
JsonObject to_json(const ReplacedToken& piece, const OffsetUnits& units, double threshold);

// The spans of an answer, or the empty one (no answer) if it has none.
std::vector<SpanAnswer> spans_of(const QuestionAnswer& answer);

}  // namespace deberta
