// The views of one head's matrix, and of all heads.
import { element, note } from "./dom.js";
import { paletteOf } from "./explorer-colours.js";
import { actionButton, choices, headControls, scaleChoice } from "./explorer-controls.js";
import { colourBar, drawMatrix, imageOf, matrixSvg, saveFile, saveSvg } from "./explorer-draw.js";
import { readoutOf } from "./explorer-figures.js";
import { NAMES, aboutHead, fileOf, termsOf } from "./explorer-head.js";
import { mostOf, scaleOf, weightsWithout } from "./explorer-numbers.js";

// ---- one head

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

function drawnMatrix(title, picture) {
  const begun = performance.now();
  const canvas = element("canvas", { id: "matrix", ariaLabel: title });
  canvas.setAttribute("role", "img");
  const layout = drawMatrix(canvas, picture);
  canvas.dataset.milliseconds = (performance.now() - begun).toFixed(1);
  return { canvas, layout };
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

function matrixControls(state, redraw, { canvas, at, values, palette, scale, title, unit }) {
  const tokens = state.about.tokens, file = fileOf(state, state.term);
  const names = [...state.about.terms, "sum", "softmax"].map((name) => [name, NAMES[name]]);
  return element("div", { className: "controls" },
    ...headControls(state, redraw),
    choices("term", "Show", names, state.term, (value) => redraw({ term: value, dropped: [] })),
    scaleChoice(state, redraw),
    ...dropBoxes(state, redraw),
    actionButton("SVG", "save-svg", () =>
      saveSvg(`${file}.svg`, matrixSvg({ at, tokens, palette, scale, title, unit }))),
    actionButton("PNG", "save-png", () => canvas.toBlob((blob) => saveFile(`${file}.png`, blob))),
    actionButton("CSV", "save-csv", () => saveFile(`${file}.csv`, csvOf(values, tokens), "text/csv")));
}

export async function matrixView(place, state, redraw) {
  const tokens = state.about.tokens, { values, isWeights, terms } = await matrixValues(state);
  const palette = paletteOf(isWeights ? "sequential" : "diverging"), most = mostOf(values);
  const scale = scaleOf(most, !isWeights, state.scale === "log"), at = values.map(scale.place);
  const sum = await state.source.term(state.layer, state.head, "sum"), whole = await aboutHead(state, terms);
  const room = Math.min(720, place.clientWidth), unit = isWeights ? "weight" : "score";
  const dropped = state.dropped.join(" and "), shown = dropped ? `weights without ${dropped}` : NAMES[state.term];
  const title = `layer ${state.layer}, head ${state.head}: ${shown}`;
  const { canvas, layout } = drawnMatrix(title, { at, values, tokens, palette, room });
  const readout = readoutOf([{ canvas, layout }], tokens, whole.join("\n"), { ...terms, sum, shown: values });
  place.replaceChildren(
    matrixControls(state, redraw, { canvas, at, values, palette, scale, title, unit }),
    ...(dropped ? [note(`A counterfactual: the weights as they would be without ${dropped}. The model was not ` +
      "trained so, and the layers below are as they were.")] : []),
    element("div", { className: "matrix" }, canvas,
      element("div", {}, colourBar(scale, palette, unit), readout)));
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
  const [, inOrder] = ORDERS[state.order] ?? ORDERS.layer;
  const orders = Object.entries(ORDERS).map(([value, [name]]) => [value, name]);
  place.replaceChildren(
    element("div", { className: "controls" },
      choices("order", "Order by", orders, state.order, (value) => redraw({ order: value })),
      scaleChoice(state, redraw)),
    element("div", { className: "thumbnails" },
      ...[...heads].sort(inOrder).map((one) => thumbnail(one, pixels, side, state, redraw))),
    note("H: entropy of a row's weights in nats, mean over rows. |d|: mean distance that is read. cls: weight on the " +
      "first token."));
}
