// The positions that gave a signal in pre-training: where a piece was predicted, or a token judged. From logs alone.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "chart/chart.h"
#include "train/report/run_record.h"

namespace deberta::train {

// A line for each model that was trained, named for what it does at a position: x: tokens read so far, y: positions so
// far. None for a log of anything but pre-training. `alone`: the first steps, in which a generator was trained alone.
std::vector<chart::Line> signal_lines(std::span<const LoggedLine> log, int64_t alone = 0);

// The same of a run.
std::vector<chart::Line> signal_lines(const RunRecord& record);

// A figure with the lines of a run, and of others beside it under their names; "" where the run has none.
std::string signal_chart(const RunRecord& record, std::span<const RunRecord> others = {});

}  // namespace deberta::train
