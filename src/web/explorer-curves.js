// Curves, boxes and bars as SVG, on axes with round numbers.
import { shape } from "./dom.js";
import { logarithmOf, rangeOf, ticksByTen, ticksOf } from "./explorer-numbers.js";

// Those of the numbers that have room beside the others, the smallest first.
function withRoom(ticks, at) {
  const kept = [];
  for (const value of [...ticks].sort((a, b) => Math.abs(a) - Math.abs(b)))
    if (kept.every((other) => Math.abs(at(other) - at(value)) >= 36)) kept.push(value);
  return kept.sort((a, b) => a - b);
}

// An axis over `values` from one pixel to another: where a value stands on it, and the round numbers to write there.
function axisOf(values, from, to, { most, least = 0, isLogarithmic = false }) {
  const [low, high] = rangeOf(values), place = isLogarithmic ? logarithmOf : (value) => value;
  const begin = place(low), size = place(high) - begin || 1;
  const at = (value) => from + (place(value) - begin) / size * (to - from);
  return { at, ticks: isLogarithmic ? withRoom(ticksByTen(low, high), at) : ticksOf(low, high, most, least) };
}

const tickText = (value) => String(+value.toPrecision(6));
const gridLine = (place, value) =>
  shape("line", { ...place, stroke: "currentColor", "stroke-opacity": value === 0 ? 0.5 : 0.15 });

// The lines of an axis with their numbers; those of zero stand out.
const linesAcross = (across, { top, bottom }, textOf = tickText) => across.ticks.flatMap((value) => [
  gridLine({ x1: across.at(value), x2: across.at(value), y1: top, y2: bottom }, value),
  shape("text", { class: "tick-x", x: across.at(value), y: bottom + 15, "text-anchor": "middle" }, textOf(value)),
]);
const linesUp = (up, { left, right }) => up.ticks.flatMap((value) => [
  gridLine({ x1: left, x2: right, y1: up.at(value), y2: up.at(value) }, value),
  shape("text", { class: "tick-y", x: left - 5, y: up.at(value) + 4, "text-anchor": "end" }, tickText(value)),
]);

// A picture of that size, which looks the same in a file of its own.
const pictureOf = (width, height, label) => shape("svg", {
  viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label, fill: "currentColor",
  "font-family": "system-ui, sans-serif", "font-size": 12,
});

// The band between low and high.
function band({ colour, points }, atX, atY) {
  const above = points.map((p) => `${atX(p.x)},${atY(p.high)}`);
  const below = [...points].reverse().map((p) => `${atX(p.x)},${atY(p.low)}`);
  return shape("polygon", { points: [...above, ...below].join(" "), fill: colour, "fill-opacity": 0.18 });
}

// The line of the means, and the band where there is one.
function curve(series, atX, atY) {
  const { name, colour, points } = series, line = points.map((p) => `${atX(p.x)},${atY(p.mean)}`).join(" ");
  return [
    ...(points.some((p) => p.low !== p.high) ? [band(series, atX, atY)] : []),
    shape("polyline", { points: line, fill: "none", stroke: colour, "stroke-width": 2 }, shape("title", {}, name)),
  ];
}

// The colour of each curve and its name, one below the other.
const LEGEND_LINE = 16;
const legend = (series, x, top) => series.flatMap(({ name, colour }, i) => {
  const y = top + LEGEND_LINE * i;
  return [shape("line", { x1: x, x2: x + 24, y1: y - 4, y2: y - 4, stroke: colour, "stroke-width": 3 }),
    shape("text", { x: x + 30, y }, name)];
});

// Curves over whole numbers x, the first in front. series: [{ name, colour, points: [{ x, mean, low, high }] }]
export function drawCurves(series, { width, height = 320, title, x, y, isLogarithmic = false }) {
  const box = { left: 56, right: width - 14, top: 42 + LEGEND_LINE * series.length, bottom: height - 54 };
  const all = series.flatMap((one) => one.points);
  const across = axisOf(all.map((p) => p.x), box.left, box.right,
    { most: Math.min(10, width / 60), least: 1, isLogarithmic });
  const up = axisOf(all.flatMap((p) => [p.low, p.high]), box.bottom, box.top, { most: 6 });
  const svg = pictureOf(width, height, `${title}: ${series.map((one) => one.name).join(", ")} over ${x}`);
  svg.append(shape("text", { x: 4, y: 14, "font-weight": "bold" }, title),
    ...linesUp(up, box), ...linesAcross(across, box), ...legend(series, box.left, 34),
    shape("text", { x: (box.left + width) / 2, y: height - 4, "text-anchor": "middle" }, x),
    shape("text", { x: 4, y: box.top - 8 }, y));
  for (const one of [...series].reverse()) svg.append(...curve(one, across.at, up.at));
  return { svg, atX: across.at, bottom: box.bottom };
}

// What lies between the lowest and the highest value, the half of them in the middle as a box, and the median in it.
function boxOf({ name, colour, quantiles: [low, quarter, median, threeQuarters, high] }, atX, y) {
  const line = (x1, x2, dy = 0) =>
    shape("line", { x1, x2, y1: y - dy, y2: y + dy, stroke: colour, "stroke-width": dy ? 3 : 1.5 });
  return [
    shape("text", { x: 4, y: y + 4 }, name),
    line(atX(low), atX(high)),
    shape("rect", {
      class: "box", x: atX(quarter), y: y - 8, width: Math.max(1, atX(threeQuarters) - atX(quarter)), height: 16,
      fill: colour, "fill-opacity": 0.35, stroke: colour,
    }, shape("title", {}, `${name}: ${[low, quarter, median, threeQuarters, high].map(tickText).join(", ")}`)),
    line(atX(median), atX(median), 8),
  ];
}

// A box for each of `rows`: [{ name, colour, quantiles }], of five quantiles.
export function drawBoxes(rows, { width, x }) {
  const box = { left: 150, right: width - 14, top: 6, bottom: 14 + 26 * rows.length };
  const across = axisOf(rows.flatMap((row) => row.quantiles), box.left, box.right, { most: Math.min(10, width / 80) });
  const svg = pictureOf(width, box.bottom + 36, `${rows.map((row) => row.name).join(", ")}: quantiles of ${x}`);
  svg.append(...linesAcross(across, box),
    shape("text", { x: (box.left + width) / 2, y: box.bottom + 32, "text-anchor": "middle" }, x),
    ...rows.flatMap((row, i) => boxOf(row, across.at, 22 + 26 * i)));
  return svg;
}

// The parts of one row behind each other, and its text behind them.
function barOf({ name, text, parts }, atX, y) {
  let sum = 0;
  const bars = parts.map(({ name: part, colour, value }) => {
    const x = atX(sum), width = Math.max(0, atX(sum += value) - x);
    return shape("rect", { class: "amount", x, y, width, height: 14, fill: colour },
      shape("title", {}, part ? `${part}: ${tickText(value)}` : tickText(value)));
  });
  return [shape("text", { x: 4, y: y + 11 }, name), ...bars,
    shape("text", { class: "amount-text", x: atX(sum) + 5, y: y + 11 }, text)];
}

// The names of the parts with their colours, beside each other as far as there is room.
function legendAcross(parts, left, right) {
  let x = left, y = 12;
  const shapes = [];
  for (const { name, colour } of parts) {
    const width = 26 + 7 * name.length;
    if (x > left && x + width > right) [x, y] = [left, y + LEGEND_LINE];
    shapes.push(shape("rect", { x, y: y - 9, width: 10, height: 10, fill: colour }),
      shape("text", { x: x + 14, y }, name));
    x += width;
  }
  return { shapes, height: parts.length ? y + 8 : 4 };
}

// A bar for each of `rows`: [{ name, text, parts: [{ name, colour, value }] }], on a scale from 0 to `most`; `x` names
// the scale, `textOf` writes its numbers, `names` and `room` are what the texts before and behind the bars need.
export function drawBars(rows, { width, most, x, label, names = 104, room = 52, textOf = tickText }) {
  const named = new Map(rows.flatMap((row) => row.parts).filter((part) => part.name).map((part) => [part.name, part]));
  const legendary = legendAcross([...named.values()], 4, width);
  const box = { left: names, right: width - room, top: legendary.height, bottom: legendary.height + 20 * rows.length };
  const across = axisOf([0, most], box.left, box.right, { most: Math.min(6, (box.right - box.left) / 60) });
  const svg = pictureOf(width, box.bottom + 36, label);
  svg.append(...legendary.shapes, ...linesAcross(across, box, textOf),
    shape("text", { x: (box.left + box.right) / 2, y: box.bottom + 32, "text-anchor": "middle" }, x),
    ...rows.flatMap((row, i) => barOf(row, across.at, box.top + 3 + 20 * i)));
  return svg;
}
