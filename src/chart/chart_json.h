// Charts as JSON, as scripts write them: {"kind": "lines", "title": "loss", "series": [{"points": [[0, 1], [1, 2]]}]},
// or several: {"columns": 2, "charts": [...]}. docs/reference/charts.md lists the members.
#pragma once
#include <string>

#include "base/json.h"
#include "chart/chart.h"

namespace deberta::chart {

// `where` opens messages. Throws kInput with the member that is wrong.
Picture draw_json(const Json& document, const std::string& where);

}  // namespace deberta::chart
