// Rates over the whole run so far: steady, and right for work that is counted in bytes or tokens.
#include "base/progress.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"

namespace deberta {

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

std::string ProgressMeter::bar(Clock::time_point now) const {
  std::string text;
  if (fraction_) {
    const auto filled = static_cast<size_t>(std::clamp(*fraction_, 0.0, 1.0) * 20);
    text = fmt::format("[{}{}] {:.0f} %  ", std::string(filled, '#'), std::string(20 - filled, '.'), 100 * *fraction_);
  }
  text +=
      fmt::format("{} {}  {:.1f} {}/s", items_, units_.items, static_cast<double>(items_) / seconds(now), units_.items);
  if (!units_.tokens.empty())
    text += fmt::format("  {:.0f} {}/s", static_cast<double>(tokens_) / seconds(now), units_.tokens);
  if (const auto left = seconds_left(now)) {
    const auto whole = static_cast<uint64_t>(*left);
    text += whole >= 3600 ? fmt::format("  {}:{:02}:{:02} left", whole / 3600, whole / 60 % 60, whole % 60)
                          : fmt::format("  {:02}:{:02} left", whole / 60, whole % 60);
  }
  return text;
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
