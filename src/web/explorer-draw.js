// Drawing: matrices on a canvas with their tokens, colour bars, and files of pictures.
import { element } from "./dom.js";
import { cssOf, inkOn } from "./explorer-colours.js";

const FONT = "system-ui, sans-serif";
const SMALLEST_LABELLED = 9, SMALLEST_NUMBERED = 20; // pixels of a cell
const MOST_NUMBERED = 12; // tokens

const indexOf = (place) => Math.min(255, Math.max(0, Math.round(place * 255))); // in a palette
export const colourAt = (palette, place) => palette[indexOf(place)];

// A matrix of rows x columns in [0, 1] as an image, one pixel a value.
export function imageOf(values, rows, columns, palette) {
  const canvas = element("canvas", { width: columns, height: rows });
  const context = canvas.getContext("2d"), image = context.createImageData(columns, rows);
  const pixels = new Uint32Array(image.data.buffer); // red in the lowest byte, as on every machine that has a browser
  const packed = Uint32Array.from(palette, ([r, g, b]) => r | g << 8 | b << 16 | 255 << 24);
  for (let i = 0; i < rows * columns; ++i) pixels[i] = packed[indexOf(values[i])];
  context.putImageData(image, 0, 0);
  return canvas;
}

// A token as a label: short, and with a dot for SentencePiece's sign of a word's beginning, which looks like a bar.
export function labelOf(token) {
  const text = token.text.replaceAll("▁", "·");
  return text.length > 12 ? text.slice(0, 11) + "…" : text;
}

// How a matrix of T tokens fits into `room` pixels: its cells of whole device pixels, and the margin of its labels.
function layoutOf(T, room, labels, most) {
  const ratio = globalThis.devicePixelRatio || 1;
  const cellIn = (space) => Math.max(1, Math.min(Math.floor(most * ratio), Math.floor(space * ratio / T))) / ratio;
  const hasLabels = cellIn(room - labels) >= SMALLEST_LABELLED, margin = hasLabels ? labels : 2;
  const cell = cellIn(room - margin);
  return { ratio, hasLabels, margin, cell, size: margin + T * cell };
}

function drawLabels(context, tokens, { margin, cell }) {
  context.fillStyle = getComputedStyle(document.body).color;
  context.font = `11px ${FONT}`;
  context.fillText("query ↓", 2, margin - 8);
  context.textAlign = "right";
  context.fillText("key →", margin - 4, 8);
  context.font = `${Math.min(13, cell)}px ${FONT}`;
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

// Writes each value into its cell, with as many digits as fit. Returns their number.
function drawNumbers(context, { at, values, palette, digits }, T, { margin, cell }) {
  const textOf = (value, count) => (Math.abs(value) < 0.5 * 10 ** -count ? 0 : value).toFixed(count);
  context.font = `${Math.max(8, Math.min(13, Math.round(cell * 0.34)))}px ${FONT}`;
  context.textAlign = "center";
  const widest = (count) => Math.max(...Array.from(values, (value) => context.measureText(textOf(value, count)).width));
  let count = digits;
  while (count > 0 && widest(count) > cell - 2) --count;
  for (let i = 0; i < T * T; ++i) {
    context.fillStyle = inkOn(colourAt(palette, at[i]));
    const [row, column] = [Math.floor(i / T), i % T];
    context.fillText(textOf(values[i], count), margin + (column + 0.5) * cell, margin + (row + 0.5) * cell);
  }
  return count;
}

// A matrix with its tokens, on a canvas that fits into `room` pixels. at: [T * T] places in the palette. The cells of a
// short text have its `values` as numbers, with at most so many digits.
export function drawMatrix(canvas, { at, values, tokens, palette, room, most = 48, digits = 2 }) {
  const T = tokens.length, context = canvas.getContext("2d");
  context.font = `13px ${FONT}`;
  const widest = Math.max(...tokens.map((token) => context.measureText(labelOf(token)).width));
  const layout = layoutOf(T, room, Math.min(104, Math.max(56, Math.ceil(widest) + 10)), most);
  canvas.width = canvas.height = Math.round(layout.size * layout.ratio);
  canvas.style.width = `${layout.size}px`;
  context.scale(layout.ratio, layout.ratio);
  context.imageSmoothingEnabled = false;
  context.textBaseline = "middle";
  context.drawImage(imageOf(at, T, T, palette), layout.margin, layout.margin, T * layout.cell, T * layout.cell);
  if (layout.hasLabels) drawLabels(context, tokens, layout);
  if (T <= MOST_NUMBERED && layout.cell >= SMALLEST_NUMBERED)
    canvas.dataset.digits = drawNumbers(context, { at, values, palette, digits }, T, layout);
  Object.assign(canvas.dataset, { margin: layout.margin, cell: layout.cell });
  return layout;
}

export function cellAt(canvas, { margin, cell, size }, event, T) {
  const box = canvas.getBoundingClientRect(), scale = size / box.width;
  const column = Math.floor(((event.clientX - box.left) * scale - margin) / cell);
  const row = Math.floor(((event.clientY - box.top) * scale - margin) / cell);
  return row >= 0 && column >= 0 && row < T && column < T ? { row, column } : null;
}

// The palette with the values that its colours stand for.
export function colourBar({ place, ticks }, palette, title) {
  const steps = Float32Array.from(palette, (_, i) => i / (palette.length - 1));
  const bar = element("div", { className: "colour-bar" },
    element("p", { textContent: title }), imageOf(steps, 1, palette.length, palette));
  for (const value of ticks) {
    const tick = element("span", { textContent: String(+value.toPrecision(6)) });
    tick.style.left = `${100 * place(value)}%`;
    bar.append(tick);
  }
  return bar;
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
      const colour = cssOf(colourAt(palette, scaled[i * T + j]));
      lines.push(`<rect x="${margin + j * cell}" y="${y}" width="${cell}" height="${cell}" fill="${colour}"/>`);
    }
  }
  const head = `<svg xmlns="http://www.w3.org/2000/svg" width="${size}" height="${size}"`;
  return `${head} font-family="sans-serif" font-size="10">${lines.join("\n")}</svg>\n`;
}

export function saveFile(name, content, type) {
  const url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  element("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60000);
}
