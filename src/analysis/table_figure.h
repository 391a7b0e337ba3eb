// How nearly the tables of words, absolute and relative positions stand at right angles.
#pragma once
#include <vector>

#include "analysis/figure.h"
#include "deberta/analysis.h"

namespace deberta {

// first second first_rows second_rows mean_cosine largest_cosine random first_norm second_norm: table_angles(). Arrays:
// each column of numbers that is no count, [pairs of tables].
FigureColumns angle_columns();
Figure angle_figure(std::vector<TableAngles> angles);

}  // namespace deberta
