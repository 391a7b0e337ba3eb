// The figures of all heads for a text (head_figures.h) as lines, objects, arrays and maps of layers by heads.
#pragma once
#include <vector>

#include "analysis/figure.h"
#include "analysis/head_figures.h"

namespace deberta {

// layer head entropy distance cls c2c c2p p2c; layer and head count from 1. Arrays: each column but the first two,
// [layers, heads].
FigureColumns heads_columns();
Figure heads_figure(std::vector<HeadFigures> heads);

}  // namespace deberta
