// The colours of charts and pages, in light and in dark: the one table that style sheets, charts and scripts read.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace deberta::chart {

enum class Scheme { kLight, kDark };

struct Colour {
  std::string_view name;         // "ink"
  std::string_view light, dark;  // "#rrggbb"
};

// paper, card (of a figure on a page), ink, faint (lesser text), rule (lines of grids and tables), link, bad, then
// those of series: c0, c1, ... The contrast of texts to paper and card is at least 4.5, that of series at least 3.
std::span<const Colour> palette();
inline constexpr size_t kSeriesColours = 7;

struct Rgb {
  uint8_t red, green, blue;
};
Rgb parse_rgb(std::string_view hex);  // of "#rrggbb"
std::string to_string(Rgb colour);
double contrast(Rgb a, Rgb b);  // of WCAG 2: 1 to 21

// The colours of values. Sequential: from nothing to much. Diverging: about zero, which is in the middle.
enum class Ramp { kSequential, kDiverging };
Rgb colour_at(Ramp ramp, Scheme scheme, double share);  // share: 0 to 1; what lies beyond is cut

// A style sheet that declares all of it on :root: --paper, ..., --heat (c0 as three numbers), --sequential and
// --diverging (the stops of the ramps). Follows prefers-color-scheme.
std::string palette_css();

}  // namespace deberta::chart
