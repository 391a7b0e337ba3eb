// Figures of relative positions: which row of the table a query and a key read, how distances share rows, how alike the
// vectors of the rows are, and what one query gives to all of them.
#pragma once
#include <cstdint>
#include <string>

#include "analysis/figure.h"
#include "deberta/analysis.h"

namespace deberta {

// query key distance row, for each pair of a text of `length` tokens. Arrays: distance and row [L, L].
FigureColumns index_columns();
Figure index_figure(const ModelConfig& config, int64_t length, DistanceRule rule);

// distance row bucket linear, for the distances below `length` in both directions: the bucket, and what it would be if
// distances were counted one by one until the table ends. Arrays: each column [2 length - 1].
FigureColumns bucket_columns();
Figure bucket_figure(const ModelConfig& config, int64_t length, DistanceRule rule);

// row other cosine, for each pair of rows. Array: cosine [R, R].
FigureColumns cosine_columns();
Figure cosine_figure(const Checkpoint& checkpoint, const ModelConfig& config, const PositionChoice& choice,
                     DistanceRule rule);

// table_row first last score: position_scores() with the first and the last distance that has the row. `word` is what
// the picture calls the token. Array: score [R].
FigureColumns query_columns();
Figure query_figure(const ModelConfig& config, std::vector<float> scores_R, const std::string& word,
                    const PositionChoice& choice, DistanceRule rule);

}  // namespace deberta
