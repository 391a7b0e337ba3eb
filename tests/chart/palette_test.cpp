// The palette reads in light and in dark, also for people who see fewer colours.
#include "chart/palette.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <regex>

#include "chart/chart.h"

namespace deberta::chart::palette_test {
namespace {

Rgb colour(std::string_view name, Scheme scheme) {
  const auto found = std::ranges::find(palette(), name, &Colour::name);
  EXPECT_NE(found, palette().end()) << name;
  return parse_rgb(scheme == Scheme::kLight ? found->light : found->dark);
}

using Vector = std::array<double, 3>;
using Matrix = std::array<Vector, 3>;

Vector times(const Matrix& matrix, const Vector& vector) {
  Vector made{};
  for (size_t i = 0; i < 3; ++i) {
    for (size_t j = 0; j < 3; ++j) made[i] += matrix[i][j] * vector[j];
  }
  return made;
}

// Machado, Oliveira and Fernandes 2009, severity 1; linear RGB.
constexpr std::array<Matrix, 4> kSights{{
    {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}},
    {{{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}}},
    {{{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}}},
    {{{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}}},
}};

// CIE L*a*b* of a colour as somebody sees it.
Vector lab_of(Rgb rgb, const Matrix& sight) {
  const auto linear = [](uint8_t value) {
    const double share = value / 255.0;
    return share <= 0.04045 ? share / 12.92 : std::pow((share + 0.055) / 1.055, 2.4);
  };
  Vector seen = times(sight, {linear(rgb.red), linear(rgb.green), linear(rgb.blue)});
  for (double& part : seen) part = std::clamp(part, 0.0, 1.0);
  const Vector xyz = times({{{0.4124, 0.3576, 0.1805}, {0.2126, 0.7152, 0.0722}, {0.0193, 0.1192, 0.9505}}}, seen);
  const auto f = [](double t) { return t > 0.008856 ? std::cbrt(t) : 7.787 * t + 16.0 / 116; };
  const double x = f(xyz[0] / 0.9505), y = f(xyz[1]), z = f(xyz[2] / 1.089);
  return {116 * y - 16, 500 * (x - y), 200 * (y - z)};
}

double distance(Rgb a, Rgb b, const Matrix& sight) {
  const Vector first = lab_of(a, sight), second = lab_of(b, sight);
  return std::hypot(first[0] - second[0], first[1] - second[1], first[2] - second[2]);
}

TEST(Palette, ReadsOnPaperAndOnCards) {
  EXPECT_NEAR(contrast({0, 0, 0}, {255, 255, 255}), 21, 1e-9);
  EXPECT_NEAR(contrast(parse_rgb("#777777"), {255, 255, 255}), 4.48, 0.01);
  for (const Scheme scheme : {Scheme::kLight, Scheme::kDark}) {
    for (const char* ground : {"paper", "card"}) {
      for (const char* text : {"ink", "faint", "link", "bad"})
        EXPECT_GE(contrast(colour(text, scheme), colour(ground, scheme)), 4.5) << text << " on " << ground;
      for (size_t i = 0; i < kSeriesColours; ++i)
        EXPECT_GE(contrast(colour("c" + std::to_string(i), scheme), colour(ground, scheme)), 3)
            << i << " on " << ground;
    }
  }
}

TEST(Palette, TellsSeriesApartForEveryKindOfSight) {
  for (const Scheme scheme : {Scheme::kLight, Scheme::kDark}) {
    for (size_t i = 0; i < kSeriesColours; ++i) {
      for (size_t j = 0; j < i; ++j) {
        for (size_t sight = 0; sight < kSights.size(); ++sight)
          EXPECT_GE(distance(colour("c" + std::to_string(i), scheme), colour("c" + std::to_string(j), scheme),
                             kSights[sight]),
                    15)
              << i << " and " << j << ", sight " << sight;
      }
    }
  }
}

TEST(Ramps, GoFromStopToStop) {
  EXPECT_EQ(to_string(colour_at(Ramp::kSequential, Scheme::kLight, 0)), "#00224e");
  EXPECT_EQ(to_string(colour_at(Ramp::kSequential, Scheme::kLight, 1)), "#fee838");
  EXPECT_EQ(to_string(colour_at(Ramp::kSequential, Scheme::kDark, 9)), "#fee838") << "what lies beyond is cut";
  EXPECT_EQ(to_string(colour_at(Ramp::kDiverging, Scheme::kLight, 0.5)), "#f7f7f7");
  EXPECT_EQ(to_string(colour_at(Ramp::kDiverging, Scheme::kDark, 0.5)), "#1e1f24");
  double last = -1;
  for (int i = 0; i <= 64; ++i) {
    const double lightness = lab_of(colour_at(Ramp::kSequential, Scheme::kLight, i / 64.0), kSights[0])[0];
    EXPECT_GT(lightness, last);
    last = lightness;
  }
}

TEST(PaletteCss, DeclaresEveryColourInLightAndDark) {
  const std::string css = palette_css();
  const size_t dark = css.find("@media (prefers-color-scheme: dark)");
  ASSERT_NE(dark, std::string::npos);
  for (const Colour& one : palette()) {
    EXPECT_LT(css.find("--" + std::string(one.name) + ": " + std::string(one.light) + ";"), dark) << one.name;
    EXPECT_NE(css.find("--" + std::string(one.name) + ": " + std::string(one.dark) + ";", dark), std::string::npos)
        << one.name;
  }
  EXPECT_NE(css.find("--heat: 33 107 169;"), std::string::npos);
  EXPECT_NE(css.find("--sequential: #00224e #123570 "), std::string::npos);
  EXPECT_LT(css.find("--diverging: #053061 "), css.find("--diverging: #92c5de "));
}

TEST(ChartStyle, TakesItsColoursFromThePaletteAlone) {
  const std::string css = chart_style();
  const std::regex typed("#[0-9a-fA-F]{3,8}\\b");
  for (std::sregex_iterator found(css.begin(), css.end(), typed), end; found != end; ++found) {
    EXPECT_TRUE(std::ranges::any_of(palette(), [&](const Colour& one) {
      return one.light == found->str() || one.dark == found->str();
    })) << found->str();
  }
  EXPECT_NE(css.find("prefers-color-scheme:dark"), std::string::npos);
}

}  // namespace
}  // namespace deberta::chart::palette_test
