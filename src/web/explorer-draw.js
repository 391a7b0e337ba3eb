// Drawing: matrices on a canvas, curves as SVG, and files of both.
import { element, shape } from "./dom.js";
import { cssOf } from "./explorer-colours.js";
import { logarithmOf, rangeOf, ticksByTen, ticksOf } from "./explorer-numbers.js";

// A matrix of rows x columns in [0, 1] as an image, one pixel a value.
export function imageOf(values, rows, columns, palette) {
  const canvas = element("canvas", { width: columns, height: rows });
  const context = canvas.getContext("2d"), image = context.createImageData(columns, rows);
  for (let i = 0; i < rows * columns; ++i) {
    const [r, g, b] = palette[Math.min(255, Math.max(0, Math.round(values[i] * 255)))];
    image.data.set([r, g, b, 255], 4 * i);
  }
  context.putImageData(image, 0, 0);
  return canvas;
}

const labelOf = (token) => token.text.length > 12 ? token.text.slice(0, 11) + "…" : token.text;

function drawLabels(context, tokens, margin, cell) {
  context.fillStyle = getComputedStyle(document.body).color;
  context.font = `${Math.min(13, cell)}px system-ui, sans-serif`;
  context.textBaseline = "middle";
  for (let i = 0; i < tokens.length; ++i) {
    const middle = margin + (i + 0.5) * cell;
    context.textAlign = "right";
    context.fillText(labelOf(tokens[i]), margin - 4, middle);
    context.save();
    context.translate(middle, margin - 4);
    context.rotate(-Math.PI / 2);
    context.textAlign = "left";
    context.fillText(labelOf(tokens[i]), 0, 0);
    context.restore();
  }
}

// A matrix with its tokens. scaled: [T * T] in [0, 1].
export function drawMatrix(canvas, scaled, tokens, palette) {
  const T = tokens.length, cell = Math.max(3, Math.min(26, Math.floor(720 / T)));
  const hasLabels = cell >= 9, margin = hasLabels ? 96 : 4;
  canvas.width = canvas.height = margin + T * cell;
  const context = canvas.getContext("2d");
  context.imageSmoothingEnabled = false;
  context.drawImage(imageOf(scaled, T, T, palette), margin, margin, T * cell, T * cell);
  if (hasLabels) drawLabels(context, tokens, margin, cell);
  return { margin, cell };
}

// The palette with the values that its colours stand for.
export function colourBar({ place, ticks }, palette) {
  const steps = Float32Array.from(palette, (_, i) => i / (palette.length - 1));
  const bar = element("div", { className: "colour-bar" }, imageOf(steps, 1, palette.length, palette));
  for (const value of ticks) {
    const tick = element("span", { textContent: tickText(value) });
    tick.style.left = `${100 * place(value)}%`;
    bar.append(tick);
  }
  return bar;
}

export function cellAt(canvas, { margin, cell }, event, T) {
  const box = canvas.getBoundingClientRect(), scale = canvas.width / box.width;
  const column = Math.floor(((event.clientX - box.left) * scale - margin) / cell);
  const row = Math.floor(((event.clientY - box.top) * scale - margin) / cell);
  return row >= 0 && column >= 0 && row < T && column < T ? { row, column } : null;
}

// A matrix as SVG text: a rectangle for each value.
export function matrixSvg(scaled, tokens, palette) {
  const T = tokens.length, cell = 14, margin = 90, size = margin + T * cell, lines = [];
  const escape = (text) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
  for (let i = 0; i < T; ++i) {
    const label = escape(tokens[i].text), y = margin + i * cell;
    lines.push(`<text x="${margin - 4}" y="${y + 10}" text-anchor="end">${label}</text>`,
      `<text transform="translate(${y + 10} ${margin - 4}) rotate(-90)">${label}</text>`);
    for (let j = 0; j < T; ++j) {
      const colour = cssOf(palette[Math.round(scaled[i * T + j] * 255)]);
      lines.push(`<rect x="${margin + j * cell}" y="${y}" width="${cell}" height="${cell}" fill="${colour}"/>`);
    }
  }
  const head = `<svg xmlns="http://www.w3.org/2000/svg" width="${size}" height="${size}"`;
  return `${head} font-family="sans-serif" font-size="10">${lines.join("\n")}</svg>\n`;
}

// An axis over `values` from one pixel to another: where a value stands on it, and the round numbers to write there.
function axisOf(values, from, to, { most, least = 0, isLogarithmic = false }) {
  const [low, high] = rangeOf(values), place = isLogarithmic ? logarithmOf : (value) => value;
  const begin = place(low), size = place(high) - begin || 1;
  return {
    at: (value) => from + (place(value) - begin) / size * (to - from),
    ticks: isLogarithmic ? ticksByTen(low, high) : ticksOf(low, high, most, least),
  };
}

const tickText = (value) => String(+value.toPrecision(6));
const gridLine = (place, value) =>
  shape("line", { ...place, stroke: "currentColor", "stroke-opacity": value === 0 ? 0.5 : 0.15 });

// The lines of both axes, with their numbers; those of zero stand out.
function grid(across, up, { left, right, top, bottom }) {
  return [
    ...up.ticks.flatMap((value) => [
      gridLine({ x1: left, x2: right, y1: up.at(value), y2: up.at(value) }, value),
      shape("text", { class: "tick-y", x: left - 5, y: up.at(value) + 4, "text-anchor": "end" }, tickText(value)),
    ]),
    ...across.ticks.flatMap((value) => [
      gridLine({ x1: across.at(value), x2: across.at(value), y1: top, y2: bottom }, value),
      shape("text", { class: "tick-x", x: across.at(value), y: bottom + 15, "text-anchor": "middle" }, tickText(value)),
    ]),
  ];
}

// The band between low and high, and the line of the means.
function curve({ name, colour, points }, atX, atY) {
  const above = points.map((p) => `${atX(p.x)},${atY(p.high)}`);
  const below = [...points].reverse().map((p) => `${atX(p.x)},${atY(p.low)}`);
  const line = points.map((p) => `${atX(p.x)},${atY(p.mean)}`).join(" ");
  return [
    shape("polygon", { points: [...above, ...below].join(" "), fill: colour, "fill-opacity": 0.18 }),
    shape("polyline", { points: line, fill: "none", stroke: colour, "stroke-width": 2 }, shape("title", {}, name)),
  ];
}

// Curves over whole numbers x. series: [{ name, colour, points: [{ x, mean, low, high }] }]
export function drawCurves(series, { width = 900, height = 290, x = "", y = "", isLogarithmic = false } = {}) {
  const box = { left: 56, right: width - 12, top: 24, bottom: height - 54 };
  const all = series.flatMap((one) => one.points);
  const across = axisOf(all.map((p) => p.x), box.left, box.right, { most: 10, least: 1, isLogarithmic });
  const up = axisOf(all.flatMap((p) => [p.low, p.high]), box.bottom, box.top, { most: 6 });
  const label = `${series.map((one) => one.name).join(", ")} over ${x}`;
  const svg = shape("svg", { viewBox: `0 0 ${width} ${height}`, width: "100%", role: "img", "aria-label": label });
  svg.append(...grid(across, up, box),
    shape("text", { x: (box.left + width) / 2, y: height - 4, "text-anchor": "middle" }, x),
    shape("text", { x: 4, y: 11 }, y));
  for (const one of series) svg.append(...curve(one, across.at, up.at));
  return { svg, atX: across.at, bottom: box.bottom };
}

export function saveFile(name, content, type) {
  const url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  element("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60000);
}
