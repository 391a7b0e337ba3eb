// Rates over the whole run so far: steady, and right for work that is counted in bytes or tokens.
#include "base/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/json.h"

namespace deberta {
namespace {

std::string clock_text(double seconds) {
  const auto whole = static_cast<uint64_t>(seconds);
  return whole >= 3600 ? fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60)
                       : fmt::format("{:02}:{:02}", whole / 60, whole % 60);
}

}  // namespace

void ProgressMeter::begin(uint64_t items, uint64_t tokens, std::optional<double> fraction) {
  before_ = done_ = {items, tokens, fraction};
}

void ProgressMeter::update(uint64_t items, uint64_t tokens, std::optional<double> fraction) {
  done_ = {items, tokens, fraction};
}

double ProgressMeter::seconds(Clock::time_point now) const {
  return std::max(1e-3, std::chrono::duration<double>(now - start_).count());
}

double ProgressMeter::items_per_second(Clock::time_point now) const {
  return static_cast<double>(done_.items - before_.items) / seconds(now);
}

double ProgressMeter::tokens_per_second(Clock::time_point now) const {
  return static_cast<double>(done_.tokens - before_.tokens) / seconds(now);
}

std::optional<double> ProgressMeter::seconds_left(Clock::time_point now) const {
  const double before = before_.fraction.value_or(0);
  if (!done_.fraction || *done_.fraction <= before) return std::nullopt;
  return seconds(now) * (1 - *done_.fraction) / (*done_.fraction - before);
}

std::string ProgressMeter::rate(Clock::time_point now) const {
  return fmt::format("{:.1f} {}/s", items_per_second(now), units_.items);
}

std::string ProgressMeter::token_rate(Clock::time_point now) const {
  if (units_.tokens.empty()) return "";
  return fmt::format("{:.0f} {}/s", tokens_per_second(now), units_.tokens);
}

std::string ProgressMeter::bar(Clock::time_point now, const Shape& shape) const {
  std::vector<std::string> parts;
  if (done_.fraction) {
    const auto filled = static_cast<size_t>(std::clamp(*done_.fraction, 0.0, 1.0) * static_cast<double>(shape.cells));
    const std::string cells = std::string(filled, '#') + std::string(shape.cells - filled, '.');
    parts.push_back(fmt::format("{}{:.0f} %", cells.empty() ? "" : "[" + cells + "] ", 100 * *done_.fraction));
  }
  if (shape.has_items || !done_.fraction) parts.push_back(fmt::format("{} {}", done_.items, units_.items));
  if (shape.has_rate) parts.push_back(rate(now));
  if (shape.has_tokens && !units_.tokens.empty()) parts.push_back(token_rate(now));
  const auto left = seconds_left(now);
  if (shape.has_time && left) parts.push_back(clock_text(*left) + " left");
  return fmt::format("{}", fmt::join(parts, "  "));
}

std::string ProgressMeter::bar(Clock::time_point now, size_t columns) const {
  static constexpr Shape kShapes[] = {{20, true, true, true, true},    {20, true, true, false, true},
                                      {20, true, false, false, true},  {10, true, false, false, true},
                                      {10, false, false, false, true}, {0, true, false, false, true},
                                      {0, true, false, false, false},  {0, false, false, false, false}};
  std::string text;
  for (const Shape& shape : kShapes) {
    text = bar(now, shape);
    if (text.size() <= columns) return text;
  }
  return text.substr(0, columns);
}

std::string ProgressMeter::summary(Clock::time_point now, size_t columns) const {
  std::string text = fmt::format("{} {} in {}", done_.items - before_.items, units_.items, clock_text(seconds(now)));
  for (const std::string& more : {rate(now), token_rate(now)}) {
    if (!more.empty() && text.size() + 2 + more.size() <= columns) text += ", " + more;
  }
  return text.substr(0, columns);
}

std::string ProgressMeter::json(Clock::time_point now) const {
  JsonObject object{
      {"items", done_.items}, {"unit", units_.items}, {"items_per_s", static_cast<float>(items_per_second(now))}};
  if (!units_.tokens.empty()) {
    object.emplace_back("tokens", done_.tokens);
    object.emplace_back("tokens_per_s", static_cast<float>(tokens_per_second(now)));
  }
  if (done_.fraction) object.emplace_back("fraction", static_cast<float>(*done_.fraction));
  if (const auto left = seconds_left(now)) object.emplace_back("eta_s", static_cast<float>(*left));
  return Json(JsonObject{{"progress", std::move(object)}}).dump();
}

}  // namespace deberta
