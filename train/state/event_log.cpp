// One JSON object per line, with the time at which it happened.
#include "train/state/event_log.h"

#include <chrono>

#include "base/json.h"
#include "deberta/error.h"

namespace deberta::train {
namespace {

Json to_json(const RunEvent& event) {
  JsonObject object{{"step", event.step}, {"kind", event.kind}, {"time", event.time}};
  if (!event.text.empty()) object.emplace_back("text", event.text);
  JsonObject details;
  for (const auto& [name, value] : event.details) details.emplace_back(name, value);
  if (!details.empty()) object.emplace_back("details", std::move(details));
  return object;
}

std::string text_of(const Json* value) {
  return value != nullptr && value->is_string() ? value->as_string() : "";
}

}  // namespace

double seconds_since_1970() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<double>(std::chrono::duration_cast<std::chrono::milliseconds>(now).count()) / 1000;
}

EventLog::EventLog(const std::string& path, bool begins_anew)
    : file_(path, [&](std::string_view text) { return begins_anew ? 0 : whole_lines(text); }) {}

void EventLog::write(const RunEvent& event) {
  file_.append(to_bytes(to_json(event).dump() + "\n"));
}

std::optional<RunEvent> parse_event(std::string_view line) {
  try {
    const Json object = parse_json(line, "line");
    const Json *step = object.find("step"), *time = object.find("time"), *details = object.find("details");
    RunEvent event{.step = 0, .kind = text_of(object.find("kind")), .text = text_of(object.find("text"))};
    if (step == nullptr || !step->is_integer() || event.kind.empty()) return std::nullopt;
    event.step = step->as_integer();
    if (time != nullptr && time->is_number()) event.time = time->as_number();
    if (details == nullptr || !details->is_object()) return event;
    for (const auto& [name, value] : details->as_object()) event.details.emplace_back(name, text_of(&value));
    return event;
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace deberta::train
