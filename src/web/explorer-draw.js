// Drawing: matrices on a canvas with their tokens, colour bars, and files of pictures.
import { element, shape } from "./dom.js";
import { cssOf, inkOn } from "./explorer-colours.js";

const FONT = "system-ui, sans-serif";
const SMALLEST_LABELLED = 9, SMALLEST_NUMBERED = 20; // pixels of a cell
const MOST_NUMBERED = 12; // tokens
const AXES = 16; // pixels of the names of the axes, where cells are too small for tokens

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
  const hasLabels = cellIn(room - labels) >= SMALLEST_LABELLED, margin = hasLabels ? labels : AXES;
  const cell = cellIn(room - margin);
  return { ratio, hasLabels, margin, cell, size: margin + T * cell };
}

// The names of the axes along the edges of cells that are too small for tokens.
function drawAxes(context, { margin }) {
  context.fillStyle = getComputedStyle(document.body).color;
  context.font = `11px ${FONT}`;
  context.fillText("key →", margin, margin / 2);
  context.save();
  context.translate(margin / 2, margin);
  context.rotate(Math.PI / 2); // so that its arrow points down
  context.fillText("query →", 0, 0);
  context.restore();
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
  else drawAxes(context, layout);
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

// The palette as SVG with the values that its colours stand for, from `left` to `right`.
function colourBarSvg({ place, ticks }, palette, title, { left, right, top }) {
  const stops = Array.from({ length: 17 }, (_, i) =>
    shape("stop", { offset: i / 16, "stop-color": cssOf(colourAt(palette, i / 16)) }));
  return [
    shape("linearGradient", { id: "colours" }, ...stops),
    shape("text", { x: left, y: top }, title),
    shape("rect", { x: left, y: top + 4, width: right - left, height: 10, fill: "url(#colours)" }),
    ...ticks.map((value) => shape("text", { x: left + (right - left) * place(value), y: top + 25,
      "text-anchor": "middle" }, String(+value.toPrecision(6)))),
  ];
}

// A matrix as SVG, with its title, tokens and colours: a rectangle for each value.
export function matrixSvg({ at, tokens, palette, scale, title, unit }) {
  const T = tokens.length, cell = 14, margin = 90, top = 24 + margin, below = top + T * cell;
  const size = { width: Math.max(360, margin + T * cell + 8), height: below + 54 };
  const svg = shape("svg", { viewBox: `0 0 ${size.width} ${size.height}`, ...size, role: "img", "aria-label": title,
    fill: "currentColor", "font-family": "system-ui, sans-serif", "font-size": 10 });
  svg.append(shape("text", { x: 4, y: 14, "font-size": 12, "font-weight": "bold" }, title),
    shape("text", { x: 4, y: top - 4 }, "query ↓"),
    shape("text", { x: margin - 4, y: top - margin + 14, "text-anchor": "end" }, "key →"),
    ...colourBarSvg(scale, palette, unit, { left: margin, right: margin + 240, top: below + 20 }));
  for (let i = 0; i < T; ++i) {
    const along = i * cell, label = labelOf(tokens[i]);
    svg.append(shape("text", { x: margin - 4, y: top + along + 10, "text-anchor": "end" }, label),
      shape("text", { transform: `translate(${margin + along + 10} ${top - 4}) rotate(-90)` }, label));
    for (let j = 0; j < T; ++j)
      svg.append(shape("rect", { class: "cell", x: margin + j * cell, y: top + along, width: cell, height: cell,
        fill: cssOf(colourAt(palette, at[i * T + j])) }));
  }
  return svg;
}

// The picture as a file of its own, in the colours that the page has now.
export function saveSvg(name, svg) {
  const { color, backgroundColor } = getComputedStyle(document.body), copy = svg.cloneNode(true);
  copy.setAttribute("color", color);
  copy.prepend(shape("rect", { width: "100%", height: "100%", fill: backgroundColor }));
  saveFile(name, new XMLSerializer().serializeToString(copy), "image/svg+xml");
}

export function saveFile(name, content, type) {
  const url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  element("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60000);
}
