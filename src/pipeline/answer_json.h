// The one JSON form of every answer: what a program prints, a server sends and docs/reference/output.md describes.
// The texts behind an answer are passed again where the form shows parts of them. Offsets are in `unit`.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "deberta/answer.h"
#include "deberta/pipeline.h"
#include "deberta/tokenizer.h"
#include "decode/offset_units.h"

namespace deberta {

JsonArray to_json(const std::vector<LabelScore>& labels);
JsonObject to_json(const SequenceAnswer& answer);  // with its windows, if it has those
JsonObject to_json(const EntailmentAnswer& answer);
JsonObject to_json(const ZeroShotAnswer& answer, const std::string& text);
// `is_grouped`: entities, not single pieces.
JsonObject to_json(const TokenAnswer& answer, const std::string& text, OffsetUnit unit, bool is_grouped);
JsonObject to_json(const Entity& entity, const std::string& text, const OffsetUnits& units, bool is_grouped);
// `has_all`: also the list of all answers, not only the best. A context without tokens has no span: no answer.
JsonObject to_json(const QuestionAnswer& answer, const std::string& context, OffsetUnit unit, bool has_all);
JsonObject to_json(const ChoiceAnswer& answer, std::span<const std::string> choices);
// A document that is nothing but white space is marked as empty.
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

// `pair`: of a pair, whose types are listed too.
JsonObject to_json(const Encoding& encoding, std::string_view text, std::optional<std::string_view> pair,
                   OffsetUnit unit, const Tokenizer& tokenizer);

// What a reader should know of the texts behind an answer.
struct TextMarks {
  size_t cut_tokens = 0;          // tokens that the model has not read
  bool is_of_empty_text = false;  // one of the texts says nothing
};
inline constexpr const char* kCutTokensKey = "cut_tokens";
inline constexpr const char* kEmptyKey = "empty";
// At the end of an answer, where there is something to say.
void add_marks(const TextMarks& marks, JsonObject& object);

// Whether the text or its pair says nothing: white space, or no more than the tokens that the model puts around any
// text. The pair of a text with items may be empty, as the question of choices; of items the task knows.
bool is_of_empty_text(const TextInput& input, size_t tokens, size_t tokens_of_nothing = 2);

// The spans of an answer, or the empty one (no answer) if it has none.
std::vector<SpanAnswer> spans_of(const QuestionAnswer& answer);

}  // namespace deberta
