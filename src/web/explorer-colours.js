// The colours of palette.css, light or dark as the page is now: of series, and ramps for values.

function between(stops, at) {
  const place = Math.min(Math.max(at, 0), 1) * (stops.length - 1), low = Math.min(Math.floor(place), stops.length - 2);
  return stops[low].map((value, i) => Math.round(value + (stops[low + 1][i] - value) * (place - low)));
}

const parsed = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

// What palette.css declares under a name: colourOf("c0") is the first colour of series.
export const colourOf = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

// 256 colours as [r, g, b]; `ramp`: sequential or diverging.
export function paletteOf(ramp) {
  const stops = colourOf(ramp).split(" ").map(parsed);
  return Array.from({ length: 256 }, (_, i) => between(stops, i / 255));
}

// [r, g, b] of a series; there are as many as palette.css has, and then they come again.
const SERIES_COLOURS = 7;
export const colourOfSeries = (index) => parsed(colourOf(`c${index % SERIES_COLOURS}`));

export const cssOf = ([r, g, b]) => `rgb(${r} ${g} ${b})`;

// Relative luminance of WCAG 2.
function luminance(colour) {
  const [r, g, b] = colour.map((part) => part <= 10 ? part / 3294.6 : ((part / 255 + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

// Black or white, whichever has the higher contrast: at least 4.5 on any colour.
export const inkOn = (colour) => (luminance(colour) + 0.05) ** 2 > 1.05 * 0.05 ? "#000" : "#fff";
