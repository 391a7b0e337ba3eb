// The end of the file is read backwards: a long log is not read whole.
#include "train/state/metrics_log.h"

#include <fmt/format.h>

#include <string_view>

#include "deberta/error.h"
#include "train/state/trainer_state.h"

namespace deberta::train {
namespace {

// Nothing for what is no line of this log.
std::optional<int64_t> step_of_line(std::string_view line) {
  try {
    const Json object = parse_json(line, "line");
    const Json* step = object.find("step");
    return step != nullptr && step->is_integer() ? std::optional(step->as_integer()) : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
}

// The step and the names of the metrics; nothing for what is no line of this log.
std::vector<std::string> contents_of(const Json& line) {
  const Json* step = line.find("step");
  if (step == nullptr || !step->is_integer()) return {};
  std::vector<std::string> contents{fmt::format("{}", step->as_integer())};
  for (const auto& [name, value] : line.as_object()) contents.push_back(name);
  return contents;
}

std::vector<std::string> contents_of_last_line(std::string_view text) {
  if (text.empty()) return {};
  text.remove_suffix(1);  // the line end
  const size_t before = text.rfind('\n');
  return contents_of(parse_json(text.substr(before == std::string_view::npos ? 0 : before + 1), "line"));
}

// Where to cut: behind the last whole line of a step up to `last`.
size_t kept_bytes(std::string_view text, int64_t last) {
  while (!text.empty()) {
    const size_t end = text.rfind('\n');
    if (end == std::string_view::npos) return 0;
    text = text.substr(0, end + 1);
    const size_t before = end == 0 ? std::string_view::npos : text.rfind('\n', end - 1);
    const size_t begin = before == std::string_view::npos ? 0 : before + 1;
    const auto step = step_of_line(text.substr(begin, end - begin));
    if (step && *step <= last) return text.size();
    text = text.substr(0, begin);
  }
  return 0;
}

}  // namespace

MetricsLog::MetricsLog(const std::string& path, int64_t step)
    : file_(path, [&](std::string_view text) {
        const size_t kept = kept_bytes(text, step);
        last_ = contents_of_last_line(text.substr(0, kept));
        return kept;
      }) {}

bool MetricsLog::write(int64_t step, const std::vector<std::pair<std::string, double>>& metrics) {
  JsonObject object{{"step", step}};
  for (const auto& [name, value] : metrics) object.emplace_back(name, to_json_number(value));
  const Json line(std::move(object));
  std::vector<std::string> contents = contents_of(line);
  if (contents == last_) return false;
  last_ = std::move(contents);
  waiting_ += line.dump() + "\n";
  flush();
  return true;
}

void MetricsLog::flush() {
  file_.append(to_bytes(waiting_));
  waiting_.clear();
}

void MetricsLog::sync() {
  flush();
  file_.sync();
}

}  // namespace deberta::train
