// The cells of a line stand in the order of its columns.
#include "cli/entity_answer.h"

#include <string>
#include <vector>

#include "decode/offset_units.h"
#include "pipeline/answer_json.h"

namespace deberta::cli {

program::AnswerColumns entity_columns() {
  return {std::vector<std::string>{"label", "score", "start", "end", "word"}, true};
}

program::RowAnswer entity_answer(const Row& row, const TokenAnswer& result, OffsetUnit unit, bool is_grouped) {
  program::RowAnswer answer{{to_json(result, row.text, unit, is_grouped), {}}, result.tokens, result.cut_tokens};
  const OffsetUnits units(unit, row.text);
  for (const Entity& entity : result.entities) {
    const Offset span = units.convert(entity.chars, entity.bytes);
    answer.answer.lines.push_back({entity.label, program::cell(entity.score), program::cell(uint64_t{span.begin}),
                                   program::cell(uint64_t{span.end}),
                                   row.text.substr(entity.bytes.begin, entity.bytes.end - entity.bytes.begin)});
  }
  return answer;
}

}  // namespace deberta::cli
