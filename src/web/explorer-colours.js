// Colours that people with any colour vision can tell apart: from dark blue to yellow for weights, blue and orange
// about nothing for terms.

const WEIGHTS = [
  [0, 34, 78], [18, 53, 112], [59, 73, 108], [87, 93, 109], [112, 113, 115],
  [138, 134, 120], [165, 156, 116], [195, 179, 105], [225, 204, 85], [254, 232, 56],
];
const TERMS = {
  light: [[5, 48, 97], [67, 147, 195], [247, 247, 247], [224, 130, 20], [127, 59, 8]],
  dark: [[146, 197, 222], [33, 102, 172], [30, 31, 36], [179, 88, 6], [253, 184, 99]],
};

function between(stops, at) {
  const place = Math.min(Math.max(at, 0), 1) * (stops.length - 1), low = Math.min(Math.floor(place), stops.length - 2);
  return stops[low].map((value, i) => Math.round(value + (stops[low + 1][i] - value) * (place - low)));
}

const isDark = () => matchMedia("(prefers-color-scheme: dark)").matches;

// 256 colours as [r, g, b], for the page as it is now; `kind`: weights or terms.
export function paletteOf(kind) {
  const stops = kind === "weights" ? WEIGHTS : TERMS[isDark() ? "dark" : "light"];
  return Array.from({ length: 256 }, (_, i) => between(stops, i / 255));
}

export const cssOf = ([r, g, b]) => `rgb(${r} ${g} ${b})`;

// Black or white, whichever reads better on the colour.
export const inkOn = ([r, g, b]) => 0.299 * r + 0.587 * g + 0.114 * b > 140 ? "#000" : "#fff";
