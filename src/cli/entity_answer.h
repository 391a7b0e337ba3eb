// Entities as a verb answers them: an object, and a line for each.
#pragma once
#include "deberta/answer.h"
#include "program/row_loop.h"

namespace deberta::cli {

program::AnswerColumns entity_columns();
program::RowAnswer entity_answer(const Row& row, const TokenAnswer& result, OffsetUnit unit, bool is_grouped);

}  // namespace deberta::cli
