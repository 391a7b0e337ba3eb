// The mask decoder: the words for each mask with it, without it and with other positions; words at the masks; its
// passes.
import { element, note } from "./dom.js";
import { colourOf } from "./explorer-colours.js";
import { headControls, scaleChoice, textField } from "./explorer-controls.js";
import { drawBars } from "./explorer-curves.js";
import { labelOf } from "./explorer-draw.js";
import { roomIn, titledFigure } from "./explorer-figures.js";
import { makeSource } from "./explorer-source.js";
import { maskedText, modelsWithTask, tableOf } from "./explorer-tasks.js";
import { headParts } from "./explorer-terms.js";

// Each way to predict a mask: its title, and what it means.
const FORMS = {
  with: ["with the mask decoder", "its queries begin with the absolute positions"],
  without: ["without it", "the plain head on the last layer, which knows distances alone"],
  shifted: ["shifted", "every absolute position is higher by one"],
  swapped: ["swapped", "the first and the last mask have each other's position"],
};

const wordsOf = ({ words }) => words.split(",").map((word) => word.trim()).filter((word) => word !== "");

// The text through the decoder, asked once: { key, source, about }.
async function decodedText(state) {
  const text = maskedText(state), words = wordsOf(state), key = JSON.stringify([state.model, text, words]);
  if (state.decoded?.key !== key) {
    const source = Object.assign(makeSource(), { model: state.model, signal: state.source.signal });
    state.decoded = { key, source, about: await source.decode(text, words) };
  }
  state.decoded.source.signal = state.source.signal;
  return state.decoded;
}

// The best words of one mask in each way, all on one scale.
function maskFigures(mask, most, width) {
  return Object.entries(FORMS).filter(([form]) => form in mask).map(([form, [title, text]], i) => {
    const rows = mask[form].map(({ token_str: word, score }) => ({
      name: labelOf({ text: word }), text: score.toFixed(3), parts: [{ colour: colourOf(`c${i}`), value: score }],
    }));
    const label = `mask at token ${mask.token}, ${title}: probabilities of words`;
    return titledFigure(title, text, drawBars(rows, { width, most, x: "probability", label }), width);
  });
}

function predictionsOf(about, width) {
  const scores = about.masks.flatMap((mask) =>
    Object.keys(FORMS).flatMap((form) => (mask[form] ?? []).map((one) => one.score)));
  const most = Math.max(...scores);
  return about.masks.flatMap((mask, i) => [
    element("h2", { textContent: `[MASK] ${i + 1}, token ${mask.token}` }),
    element("div", { className: "figures" }, ...maskFigures(mask, most, width)),
  ]);
}

function fillingsOf({ fillings }) {
  if (fillings.length === 0) return [note("Words for the masks, between commas, are scored in every order.")];
  const rows = fillings.map((one) =>
    [one.words.join(" … "), one.with, one.without, one.with - one.without]);
  const head = ["words at the masks", "with the decoder", "without", "difference"];
  return [element("h2", { textContent: "Natural logarithms of the words' probabilities" }), tableOf(head, rows)];
}

export async function decoderView(place, state, redraw) {
  if (state.served.task !== "fill-mask")
    return place.replaceChildren(note(`The mask decoder belongs to models that predict masked words. ${
      modelsWithTask(state, "fill-mask")}`));
  const { source, about } = await decodedText(state);
  Object.assign(state, { pass: Math.min(state.pass, about.layers), head: Math.min(state.head, about.heads) });
  const { parts, begun } = await headParts(place, { ...state, source, about, layer: state.pass });
  place.replaceChildren(
    element("div", { className: "controls" },
      textField("words", "Words for the masks", state.words, (value) => redraw({ words: value }))),
    ...predictionsOf(about, roomIn(place, 4, 280)),
    ...fillingsOf(about),
    element("h2", { textContent: "Attention in a pass of the decoder" }),
    element("div", { className: "controls" },
      ...headControls(state, redraw, { about, place: "pass", name: "Pass" }), scaleChoice(state, redraw)),
    ...parts);
  place.dataset.milliseconds = (performance.now() - begun).toFixed(1);
  const masks = about.masks.length === 1 ? "1 mask" : `${about.masks.length} masks`;
  return `${about.tokens.length} tokens, ${masks}, ${about.passes} passes of ${about.heads} heads`;
}
