// The terms of one head side by side on one scale, with the weights that they make, and how they are spread.
import { element, note } from "./dom.js";
import { colourOf, paletteOf } from "./explorer-colours.js";
import { headControls, scaleChoice } from "./explorer-controls.js";
import { drawBoxes } from "./explorer-curves.js";
import { colourBar } from "./explorer-draw.js";
import { matrixFigure, readoutOf, roomIn } from "./explorer-figures.js";
import { NAMES, aboutHead, termsOf } from "./explorer-head.js";
import { mostOf, quantilesOf, scaleOf } from "./explorer-numbers.js";

const SAYS = {
  c2c: "how well the two tokens fit, wherever they stand",
  c2p: "how much the query's token asks for that distance",
  p2c: "how much the key's token is asked for at that distance",
  sum: "the score: the terms added up",
  softmax: "each row of scores as shares that add up to 1",
};
const MOST_CELL = 40; // pixels

// The figures of matrices on one scale. all: { name: [T * T] }
function figuresOf(all, scale, palette, { tokens, room }) {
  return Object.entries(all).map(([name, values]) =>
    matrixFigure(NAMES[name], SAYS[name],
      { values, at: values.map(scale.place), tokens, palette, room, most: MOST_CELL }));
}

function boxesOf(scores, width) {
  const rows = Object.entries(scores).map(([name, values], i) =>
    ({ name: NAMES[name], colour: colourOf(`c${i}`), quantiles: quantilesOf(values) }));
  const svg = drawBoxes(rows, { width, x: "score" });
  svg.id = "boxes";
  return svg;
}

// What is seen of one head in `place`, and when drawing began.
export async function headParts(place, state) {
  const terms = await termsOf(state), whole = await aboutHead(state, terms);
  const [sum, softmax] = await Promise.all(["sum", "softmax"].map((name) =>
    state.source.term(state.layer, state.head, name)));
  const begun = performance.now(), isLogarithmic = state.scale === "log", scores = { ...terms, sum };
  const signed = scaleOf(Math.max(...Object.values(scores).map(mostOf)), true, isLogarithmic);
  const weighed = scaleOf(mostOf(softmax), false, isLogarithmic);
  const diverging = paletteOf("diverging"), sequential = paletteOf("sequential");
  const layout = { tokens: state.about.tokens, room: roomIn(place) };
  const figures = [...figuresOf(scores, signed, diverging, layout),
    ...figuresOf({ softmax }, weighed, sequential, layout)];
  const parts = [
    element("div", { className: "bars" },
      colourBar(signed, diverging, "scores"), colourBar(weighed, sequential, "weights")),
    element("div", { className: "figures" }, ...figures.map((one) => one.figure)),
    readoutOf(figures, state.about.tokens, whole.join("\n"), { ...scores, weight: softmax }),
    note("The scores of all pairs of tokens: the lowest, the middle half as a box with the median in it, the highest."),
    boxesOf(scores, Math.min(720, place.clientWidth))];
  return { parts, begun };
}

export async function termsView(place, state, redraw) {
  const { parts, begun } = await headParts(place, state);
  place.replaceChildren(
    element("div", { className: "controls" }, ...headControls(state, redraw), scaleChoice(state, redraw)), ...parts);
  place.dataset.milliseconds = (performance.now() - begun).toFixed(1);
}
