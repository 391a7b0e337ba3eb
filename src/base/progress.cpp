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

void ProgressMeter::update(uint64_t items, uint64_t tokens, std::optional<double> fraction) {
  items_ = items;
  tokens_ = tokens;
  fraction_ = fraction;
}

double ProgressMeter::seconds(Clock::time_point now) const {
  return std::max(1e-3, std::chrono::duration<double>(now - start_).count());
}

std::optional<double> ProgressMeter::seconds_left(Clock::time_point now) const {
  if (!fraction_ || *fraction_ <= 0) return std::nullopt;
  return seconds(now) * (1 - *fraction_) / *fraction_;
}

std::string ProgressMeter::rate(Clock::time_point now) const {
  return fmt::format("{:.1f} {}/s", static_cast<double>(items_) / seconds(now), units_.items);
}

std::string ProgressMeter::token_rate(Clock::time_point now) const {
  if (units_.tokens.empty()) return "";
  return fmt::format("{:.0f} {}/s", static_cast<double>(tokens_) / seconds(now), units_.tokens);
}

std::string ProgressMeter::bar(Clock::time_point now, const Shape& shape) const {
  std::vector<std::string> parts;
  if (fraction_) {
    const auto filled = static_cast<size_t>(std::clamp(*fraction_, 0.0, 1.0) * static_cast<double>(shape.cells));
    const std::string cells = std::string(filled, '#') + std::string(shape.cells - filled, '.');
    parts.push_back(fmt::format("{}{:.0f} %", cells.empty() ? "" : "[" + cells + "] ", 100 * *fraction_));
  }
  if (shape.has_items || !fraction_) parts.push_back(fmt::format("{} {}", items_, units_.items));
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
  std::string text = fmt::format("{} {} in {}", items_, units_.items, clock_text(seconds(now)));
  for (const std::string& more : {rate(now), token_rate(now)}) {
    if (!more.empty() && text.size() + 2 + more.size() <= columns) text += ", " + more;
  }
  return text.substr(0, columns);
}

std::string ProgressMeter::json(Clock::time_point now) const {
  JsonObject object{{"items", items_},
                    {"unit", units_.items},
                    {"items_per_s", static_cast<float>(static_cast<double>(items_) / seconds(now))}};
  if (!units_.tokens.empty()) {
    object.emplace_back("tokens", tokens_);
    object.emplace_back("tokens_per_s", static_cast<float>(static_cast<double>(tokens_) / seconds(now)));
  }
  if (fraction_) object.emplace_back("fraction", static_cast<float>(*fraction_));
  if (const auto left = seconds_left(now)) object.emplace_back("eta_s", static_cast<float>(*left));
  return Json(JsonObject{{"progress", std::move(object)}}).dump();
}

}  // namespace deberta
