// The views of attention: one head, the terms by distance, all heads.
import { element, note, shape } from "./dom.js";
import { colourOf, paletteOf } from "./explorer-colours.js";
import { actionButton, choices, headControls, scaleChoice } from "./explorer-controls.js";
import { cellAt, colourBar, drawCurves, drawMatrix, imageOf, matrixSvg, saveFile } from "./explorer-draw.js";
import { byDistance, mostOf, runsOf, scaleOf, weightsWithout, worstDifference } from "./explorer-numbers.js";

const NAMES = {
  c2c: "content to content",
  c2p: "content to position",
  p2c: "position to content",
  sum: "sum",
  softmax: "softmax",
};
const SERIES = { c2p: "c0", p2c: "c1" };

// ---- one head

async function termsOf(state) {
  const term = async (name) => [name, await state.source.term(state.layer, state.head, name)];
  return Object.fromEntries(await Promise.all(state.about.terms.map(term)));
}

function csvOf(values, tokens) {
  const quoted = (text) => `"${text.replaceAll('"', '""')}"`, T = tokens.length;
  const head = ["query \\ key", ...tokens.map((token) => quoted(token.text))].join(",");
  const rows = tokens.map((token, i) => [quoted(token.text), ...values.slice(i * T, i * T + T)].join(","));
  return [head, ...rows, ""].join("\n");
}

async function matrixValues(state) {
  const T = state.about.tokens.length, terms = await termsOf(state);
  if (state.dropped.length > 0) return { values: weightsWithout(terms, state.dropped, T), isWeights: true, terms };
  const values = await state.source.term(state.layer, state.head, state.term);
  return { values, isWeights: state.term === "softmax", terms };
}

function drawnMatrix(state, at, palette) {
  const begun = performance.now();
  const label = `layer ${state.layer}, head ${state.head}: ${NAMES[state.term]}`;
  const canvas = element("canvas", { id: "matrix", tabIndex: 0, ariaLabel: label });
  canvas.setAttribute("role", "img");
  const layout = drawMatrix(canvas, at, state.about.tokens, palette);
  canvas.dataset.milliseconds = (performance.now() - begun).toFixed(1);
  return { canvas, layout };
}

// The text beside the matrix: of all of it, and of the pair of tokens under the mouse. shown: { name: values }.
function readoutOf(canvas, layout, tokens, whole, shown) {
  const readout = element("p", { className: "readout", id: "readout", textContent: whole });
  const T = tokens.length;
  canvas.addEventListener("mousemove", (event) => {
    const cell = cellAt(canvas, layout, event, T);
    readout.textContent = cell === null ? whole : [
      `query ${cell.row} ${tokens[cell.row].text}`,
      `key   ${cell.column} ${tokens[cell.column].text}`,
      `distance ${cell.row - cell.column}`,
      ...Object.entries(shown).map(([name, values]) =>
        `${name.padEnd(6)} ${values[cell.row * T + cell.column].toPrecision(4)}`),
    ].join("\n");
  });
  return readout;
}

function dropBoxes(state, redraw) {
  return state.about.terms.map((name) => {
    const box = element("input", { type: "checkbox", checked: state.dropped.includes(name), id: `drop-${name}` });
    box.addEventListener("change", () => {
      const others = state.dropped.filter((one) => one !== name);
      redraw({ dropped: box.checked ? [...others, name] : others });
    });
    return element("label", { className: "row" }, box, `without ${name}`);
  });
}

function matrixControls(state, redraw, { canvas, at, values, palette }) {
  const tokens = state.about.tokens, file = `layer${state.layer}-head${state.head}-${state.term}`;
  const names = [...state.about.terms, "sum", "softmax"].map((name) => [name, NAMES[name]]);
  return element("div", { className: "controls" },
    ...headControls(state, redraw),
    choices("term", "Show", names, state.term, (value) => redraw({ term: value, dropped: [] })),
    scaleChoice(state, redraw),
    ...dropBoxes(state, redraw),
    actionButton("SVG", "save-svg", () => saveFile(`${file}.svg`, matrixSvg(at, tokens, palette), "image/svg+xml")),
    actionButton("PNG", "save-png", () => canvas.toBlob((blob) => saveFile(`${file}.png`, blob))),
    actionButton("CSV", "save-csv", () => saveFile(`${file}.csv`, csvOf(values, tokens), "text/csv")));
}

// Whether the terms make the weights of the model's own pass. A file has no others than those that the terms make.
async function checkedWeights(state, terms) {
  if (state.source.data) return [];
  const weights = await state.source.term(state.layer, state.head, "softmax");
  const worst = worstDifference(weightsWithout(terms, [], state.about.tokens.length), weights);
  const names = Object.keys(terms).join(" + ");
  return [`max |softmax(${names}) - weights| ${worst.toExponential(1)} (values come in half precision)`];
}

export async function matrixView(place, state, redraw) {
  const tokens = state.about.tokens, { values, isWeights, terms } = await matrixValues(state);
  const palette = paletteOf(isWeights ? "sequential" : "diverging"), most = mostOf(values);
  const scale = scaleOf(most, !isWeights, state.scale === "log"), at = values.map(scale.place);
  const { canvas, layout } = drawnMatrix(state, at, palette);
  const sum = await state.source.term(state.layer, state.head, "sum");
  const whole = [
    `scores times 1 / sqrt(d terms) = ${state.about.scale.toPrecision(4)}`,
    `largest ${isWeights ? "weight" : "magnitude"} ${most.toPrecision(4)}`,
    ...await checkedWeights(state, terms),
  ].join("\n");
  const readout = readoutOf(canvas, layout, tokens, whole, { ...terms, sum, shown: values });
  const dropped = state.dropped.join(" and ");
  place.replaceChildren(
    matrixControls(state, redraw, { canvas, at, values, palette }),
    ...(dropped ? [note(`A counterfactual: the weights as they would be without ${dropped}. The model was not ` +
      "trained so, and the layers below are as they were.")] : []),
    element("div", { className: "matrix" }, canvas, element("div", {}, colourBar(scale, palette), readout)));
}

// ---- the terms by distance

// Below the curves: which distances share a row of the relative table. Neighbouring rows differ in shade.
function ruler(svg, runs, atX, y) {
  runs.forEach(({ row, from, to }, i) => {
    const x = atX(from - 0.5), width = Math.max(1, atX(to + 0.5) - x), opacity = i % 2 ? 0.25 : 0.55;
    svg.append(shape("rect",
      { x, y: y + 20, width, height: 7, fill: "currentColor", "fill-opacity": opacity, stroke: "none" },
      shape("title", {}, `row ${row}: distance${from === to ? ` ${from}` : `s ${from} to ${to}`}`)));
  });
}

// What the ruler shows: with a short text no two distances have a row in common.
function aboutRows(runs) {
  if (runs.length === 0) return "";
  const shared = runs.filter(({ from, to }) => from !== to)
    .map(({ from, to }) => Math.min(Math.abs(from), Math.abs(to)));
  const rows = shared.length === 0 ? "each distance of this text has its own"
    : `from distance ${Math.min(...shared)} on several distances share one`;
  return ` The bar below shows the rows of the relative table: ${rows}.`;
}

function seriesOf(state) {
  const T = state.about.tokens.length, names = state.about.terms.filter((name) => name in SERIES);
  return Promise.all(names.map(async (name) => {
    const values = await state.source.term(state.layer, state.head, name);
    const points = byDistance(values, T).map((p) => ({ ...p, x: p.distance }));
    return { name, colour: colourOf(SERIES[name]), points };
  }));
}

function keyOf(series) {
  const key = element("p");
  for (const { name, colour } of series) {
    const bar = element("span", { className: "bar", title: name });
    Object.assign(bar.style, { width: "1.5rem", background: colour });
    key.append(bar, ` ${NAMES[name]}   `);
  }
  return key;
}

export async function distanceView(place, state, redraw) {
  const series = await seriesOf(state);
  const controls = element("div", { className: "controls" },
    ...headControls(state, redraw), scaleChoice(state, redraw));
  if (series.length === 0)
    return place.replaceChildren(controls, element("p", { textContent: "This model has no term of positions." }));
  const { svg, atX, bottom } = drawCurves(series,
    { x: "distance query - key", y: "score", isLogarithmic: state.scale === "log" });
  svg.id = "distance";
  const runs = runsOf(state.about.rows);
  ruler(svg, runs, atX, bottom);
  const file = `layer${state.layer}-head${state.head}-distance.svg`;
  controls.append(actionButton("SVG", "save-distance", () =>
    saveFile(file, new XMLSerializer().serializeToString(svg), "image/svg+xml")));
  place.replaceChildren(controls, keyOf(series), svg,
    note("Lines are means over all pairs of tokens at a distance, bands hold eight tenths of them." + aboutRows(runs)));
}

// ---- all heads

const positionShare = ({ shares }) => (shares.c2p || 0) + (shares.p2c || 0);
const ORDERS = {
  layer: ["layer and head", (a, b) => a.layer - b.layer || a.head - b.head],
  entropy: ["entropy, sharpest first", (a, b) => a.entropy - b.entropy],
  distance: ["mean distance, nearest first", (a, b) => a.distance - b.distance],
  cls: ["weight on the first token", (a, b) => b.cls - a.cls],
  position: ["share of the terms of positions", (a, b) => positionShare(b) - positionShare(a)],
};

function thumbnail(one, pixels, side, state, redraw) {
  const index = (one.layer - 1) * state.about.heads + one.head - 1, count = side * side;
  const { place } = scaleOf(255, false, state.scale === "log");
  const values = Float32Array.from(pixels.subarray(index * count, (index + 1) * count), place);
  const image = imageOf(values, side, side, paletteOf("sequential"));
  image.style.width = image.style.height = "80px";
  const isChosen = one.layer === state.layer && one.head === state.head;
  const button = element("button",
    { type: "button", ariaPressed: String(isChosen), title: `layer ${one.layer}, head ${one.head}` },
    image, `${one.layer}.${one.head}  H ${one.entropy.toFixed(2)}`, element("br"),
    `|d| ${one.distance.toFixed(1)}  cls ${one.cls.toFixed(2)}`);
  button.addEventListener("click", () =>
    redraw({ layer: one.layer, head: one.head, view: "matrix", term: "softmax", dropped: [] }));
  return button;
}

export async function headsView(place, state, redraw) {
  const [heads, pixels] = await Promise.all([state.source.heads(), state.source.thumbnails(40)]);
  const side = Math.round(Math.sqrt(pixels.length / heads.length));
  const inOrder = [...heads].sort(ORDERS[state.order][1]);
  const orders = Object.entries(ORDERS).map(([value, [name]]) => [value, name]);
  place.replaceChildren(
    element("div", { className: "controls" },
      choices("order", "Order by", orders, state.order, (value) => redraw({ order: value })),
      scaleChoice(state, redraw)),
    element("div", { className: "thumbnails" },
      ...inOrder.map((one) => thumbnail(one, pixels, side, state, redraw))),
    note("H: entropy of a row's weights in nats, mean over rows. |d|: mean distance that is read. cls: weight on the " +
      "first token."));
}
