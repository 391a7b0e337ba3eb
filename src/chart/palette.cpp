// Series: hues of Okabe and Ito, moved until any two are at least 15 apart (CIE 1976) for normal sight and for
// protanopia, deuteranopia and tritanopia (simulated as by Machado et al. 2009). Ramps: lightness rises along the
// sequential one, after cividis; the diverging one goes from blue to orange.
#include "chart/palette.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace deberta::chart {
namespace {

constexpr auto kPalette = std::to_array<Colour>({{"paper", "#ffffff", "#15181c"},
                                                 {"card", "#f6f7f9", "#1e2227"},
                                                 {"ink", "#1c1e21", "#e6e8eb"},
                                                 {"faint", "#5c636e", "#a0a8b4"},
                                                 {"rule", "#d9dde3", "#363c45"},
                                                 {"link", "#0b57d0", "#8ab4f8"},
                                                 {"bad", "#c00000", "#ff6b6b"},
                                                 {"c0", "#216ba9", "#8bbfee"},
                                                 {"c1", "#ae3b00", "#ef7a2b"},
                                                 {"c2", "#068f5e", "#32c797"},
                                                 {"c3", "#ce6f9e", "#d086b5"},
                                                 {"c4", "#b07d00", "#f3e543"},
                                                 {"c5", "#2794de", "#3983c6"},
                                                 {"c6", "#4a4a4a", "#cbced4"}});

constexpr auto kSequential = std::to_array<std::string_view>(
    {"#00224e", "#123570", "#3b496c", "#575d6d", "#707173", "#8a8678", "#a59c74", "#c3b369", "#e1cc55", "#fee838"});
constexpr auto kDivergingLight =
    std::to_array<std::string_view>({"#053061", "#4393c3", "#f7f7f7", "#e08214", "#7f3b08"});
constexpr auto kDivergingDark =
    std::to_array<std::string_view>({"#92c5de", "#2166ac", "#1e1f24", "#b35806", "#fdb863"});

std::span<const std::string_view> stops_of(Ramp ramp, Scheme scheme) {
  if (ramp == Ramp::kSequential) return kSequential;
  return scheme == Scheme::kLight ? std::span<const std::string_view>(kDivergingLight) : kDivergingDark;
}

// Relative luminance of WCAG 2.
double luminance(Rgb colour) {
  const auto linear = [](uint8_t value) {
    const double share = value / 255.0;
    return share <= 0.04045 ? share / 12.92 : std::pow((share + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * linear(colour.red) + 0.7152 * linear(colour.green) + 0.0722 * linear(colour.blue);
}

std::string variables(Scheme scheme) {
  std::string css;
  for (const Colour& colour : kPalette)
    css += fmt::format("--{}: {}; ", colour.name, scheme == Scheme::kLight ? colour.light : colour.dark);
  const auto first = std::find_if(kPalette.begin(), kPalette.end(), [](const Colour& one) { return one.name == "c0"; });
  const Rgb heat = parse_rgb(scheme == Scheme::kLight ? first->light : first->dark);
  return css + fmt::format("--{}: {} {} {}; --{}: {}; --{}: {};", "heat", heat.red, heat.green, heat.blue, "sequential",
                           fmt::join(stops_of(Ramp::kSequential, scheme), " "), "diverging",
                           fmt::join(stops_of(Ramp::kDiverging, scheme), " "));
}

}  // namespace

std::span<const Colour> palette() {
  return kPalette;
}

Rgb parse_rgb(std::string_view hex) {
  const auto part = [&](size_t at) {
    uint8_t value = 0;
    std::from_chars(hex.data() + at, hex.data() + at + 2, value, 16);
    return value;
  };
  return {part(1), part(3), part(5)};
}

std::string to_string(Rgb colour) {
  return fmt::format("#{:02x}{:02x}{:02x}", colour.red, colour.green, colour.blue);
}

double contrast(Rgb a, Rgb b) {
  const double first = luminance(a), second = luminance(b);
  return (std::max(first, second) + 0.05) / (std::min(first, second) + 0.05);
}

Rgb colour_at(Ramp ramp, Scheme scheme, double share) {
  const std::span<const std::string_view> stops = stops_of(ramp, scheme);
  const double place = std::clamp(share, 0.0, 1.0) * static_cast<double>(stops.size() - 1);
  const size_t low = std::min(static_cast<size_t>(place), stops.size() - 2);
  const Rgb from = parse_rgb(stops[low]), to = parse_rgb(stops[low + 1]);
  const auto between = [&](uint8_t a, uint8_t b) {
    return static_cast<uint8_t>(std::lround(a + (b - a) * (place - static_cast<double>(low))));
  };
  return {between(from.red, to.red), between(from.green, to.green), between(from.blue, to.blue)};
}

std::string palette_css() {
  return fmt::format(
      ":root {{ color-scheme: light dark; {} }}\n@media (prefers-color-scheme: dark) {{ :root {{ {} }} }}\n",
      variables(Scheme::kLight), variables(Scheme::kDark));
}

}  // namespace deberta::chart
