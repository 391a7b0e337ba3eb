// Reads log, events and state, skips damaged lines, and answers questions about steps and metrics.
#include "train/report/run_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <unordered_set>

#include "base/file.h"
#include "config/extraction_config.h"
#include "config/model_config.h"
#include "deberta/error.h"
#include "train/state/checkpoint_folder.h"
#include "train/state/run_folder.h"

namespace deberta::train {
namespace {

constexpr const char* kTime = "time";

std::string path_in(const std::string& folder, const std::string& name) {
  return folder + "/" + name;
}

std::optional<LoggedLine> parse_line(std::string_view text) {
  try {
    const Json object = parse_json(text, "line");
    const Json* step = object.find("step");
    if (step == nullptr || !step->is_integer() || step->as_integer() < 0) return std::nullopt;
    LoggedLine line{.step = step->as_integer()};
    for (const auto& [name, value] : object.as_object()) {
      const std::optional<double> number = parse_json_number(value);
      if (!number || name == "step") continue;
      if (name == kTime) {
        line.time = *number;
      } else {
        line.metrics.emplace_back(name, *number);
      }
    }
    return line;
  } catch (const Error&) {
    return std::nullopt;
  }
}

// Reads each whole line. `parse` returns whether it belongs to this file.
void read_lines(const std::string& path, const std::function<bool(std::string_view)>& parse,
                std::vector<std::string>& damage) {
  if (!is_regular_file(path)) return;
  const MappedFile file(path);
  std::string_view text = to_text(file.bytes());
  text = text.substr(0, whole_lines(text));
  int64_t damaged = 0, first = 0;
  for (int64_t number = 1; !text.empty(); ++number) {
    const size_t end = text.find('\n');
    if (!parse(text.substr(0, end)) && ++damaged == 1) first = number;
    text.remove_prefix(end + 1);
  }
  if (damaged > 0)
    damage.push_back(fmt::format("{}: {} lines are damaged, the first is line {}", path, damaged, first));
}

// The object in a file; none where the file is missing or damaged.
std::optional<Json> read_object(const std::string& path, RunRecord& record) {
  if (!is_regular_file(path)) return std::nullopt;
  try {
    Json document = load_python_json(path, {}, JsonWarnings::kSilent);
    if (document.is_object()) return document;
    record.damage.push_back(fmt::format("{}: expected an object, got {}", path, document.describe()));
  } catch (const Error& error) {
    record.damage.emplace_back(error.what());
  }
  return std::nullopt;
}

std::optional<ModelConfig> read_config(const std::string& path, RunRecord& record) {
  const std::optional<Json> document = read_object(path, record);
  if (!document) return std::nullopt;
  try {
    return parse_model_config(*document, path);
  } catch (const Error& error) {
    record.damage.emplace_back(error.what());
    return std::nullopt;
  }
}

// Of a GLiNER model: its encoder's, with the head.
std::optional<ModelConfig> read_extraction(const std::string& path, RunRecord& record) {
  const std::optional<Json> document = read_object(path, record);
  if (!document) return std::nullopt;
  try {
    ExtractionFile file = parse_extraction_config(*document, path);
    if (!file.encoder) return std::nullopt;
    ModelConfig config = parse_model_config(*file.encoder, path + ": encoder_config", ConfigRules::kHf);
    config.extraction = std::move(file.extraction);
    return config;
  } catch (const Error& error) {
    record.damage.emplace_back(error.what());
    return std::nullopt;
  }
}

void read_state(RunRecord& record) {
  record.checkpoints = checkpoint_steps(record.folder);
  for (const int64_t step : record.checkpoints) {
    try {
      record.state = load_trainer_state(path_in(record.folder, checkpoint_name(step) + "/" + kStateName));
      return;
    } catch (const Error& error) {
      record.damage.emplace_back(error.what());
    }
  }
}

}  // namespace

std::string RunRecord::name() const {
  const std::filesystem::path path = std::filesystem::path(folder).lexically_normal();
  const std::string last = (path.has_filename() ? path : path.parent_path()).filename().string();
  return last.empty() || last == "." || last == ".." ? "run" : last;
}

int64_t RunRecord::last_step() const {
  int64_t step = log.empty() ? 0 : log.back().step;
  if (!checkpoints.empty()) step = std::max(step, checkpoints.front());
  const Json* done = results ? results->find("steps") : nullptr;
  return done != nullptr && done->is_integer() ? std::max(step, done->as_integer()) : step;
}

bool RunRecord::is_out_of_time() const {
  return results && results->find(kOutOfTimeKey) != nullptr;
}

std::vector<std::string> RunRecord::metric_names() const {
  std::vector<std::string> names;
  std::unordered_set<std::string> known;
  for (const LoggedLine& line : log) {
    for (const auto& [name, value] : line.metrics) {
      if (known.insert(name).second) names.push_back(name);
    }
  }
  return names;
}

std::vector<Point> RunRecord::series(std::string_view metric) const {
  std::vector<Point> points;
  for (const LoggedLine& line : log) {
    for (const auto& [name, value] : line.metrics) {
      if (name == metric) points.push_back({line.step, value});
    }
  }
  return points;
}

double RunRecord::seconds() const {
  double total = 0;
  for (const Point& point : series("seconds")) total += std::isfinite(point.value) ? point.value : 0;
  return total;
}

std::optional<double> RunRecord::last_value(std::string_view metric) const {
  for (size_t i = log.size(); i-- > 0;) {
    for (const auto& [name, value] : log[i].metrics) {
      if (name == metric) return value;
    }
  }
  return std::nullopt;
}

std::string RunRecord::option(const std::string& name) const {
  if (!state) return "";
  const auto entry = state->options.find(name);
  return entry == state->options.end() ? "" : entry->second;
}

const RunEvent* RunRecord::last_start() const {
  for (size_t i = events.size(); i-- > 0;) {
    if (events[i].kind == event::kBegan || events[i].kind == event::kResumed) return &events[i];
  }
  return nullptr;
}

std::vector<LoggedLine> load_log(const std::string& path, std::vector<std::string>& damage) {
  std::vector<LoggedLine> log;
  read_lines(
      path,
      [&](std::string_view text) {
        std::optional<LoggedLine> line = parse_line(text);
        if (!line) return false;
        // A resumed run cuts its log; where it could not, steps are in it twice, and the later lines count.
        while (!log.empty() && log.back().step > line->step) log.pop_back();
        log.push_back(std::move(*line));
        return true;
      },
      damage);
  return log;
}

RunRecord load_run_record(const std::string& folder) {
  RunRecord record{.folder = folder};
  const std::string log = path_in(folder, kMetricsName);
  read_state(record);
  if (!is_regular_file(log) && record.checkpoints.empty()) {
    throw Error(ErrorCode::kFileNotFound, folder,
                fmt::format("expected the folder of a run, with {} or checkpoints, got {}", kMetricsName,
                            is_directory(folder) ? "one without" : "none"));
  }
  record.log = load_log(log, record.damage);
  read_lines(
      path_in(folder, kEventsName),
      [&](std::string_view text) {
        std::optional<RunEvent> event = parse_event(text);
        if (event) record.events.push_back(std::move(*event));
        return event.has_value();
      },
      record.damage);
  record.results = read_object(path_in(folder, kResultsName), record);
  record.config = read_config(path_in(folder, "config.json"), record);
  if (!record.config) record.config = read_config(path_in(folder, "discriminator/config.json"), record);
  if (!record.config) record.config = read_extraction(path_in(folder, std::string(kExtractionFile)), record);
  return record;
}

}  // namespace deberta::train
