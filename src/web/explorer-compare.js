// One head on two texts, or in two models, side by side on one scale.
import { element, note } from "./dom.js";
import { paletteOf } from "./explorer-colours.js";
import { choices, headControls, scaleChoice, textField } from "./explorer-controls.js";
import { colourBar } from "./explorer-draw.js";
import { matrixFigure, readoutOf, roomIn } from "./explorer-figures.js";
import { NAMES } from "./explorer-head.js";
import { mostOf, scaleOf } from "./explorer-numbers.js";
import { makeSource } from "./explorer-source.js";

function compareControls(state, redraw) {
  const terms = [...state.about.terms, "sum", "softmax"].map((name) => [name, NAMES[name]]);
  const models = state.models.map(({ name }) => [name, name]);
  return element("div", { className: "controls" },
    textField("other", "Other text", state.other, (value) => redraw({ other: value })),
    choices("other-model", "Other model", models, state.otherModel || state.model,
      (value) => redraw({ otherModel: value })),
    ...headControls(state, redraw),
    choices("term", "Show", terms, state.term, (value) => redraw({ term: value, dropped: [] })),
    scaleChoice(state, redraw));
}

// The other text in the other model, explained once: { key, source, about }.
async function explainedOther(state) {
  const model = state.otherModel || state.model, text = state.other || state.text;
  const key = JSON.stringify([model, text, state.second]);
  if (state.compared?.key !== key) {
    const source = Object.assign(makeSource(), { model, signal: state.source.signal });
    state.compared = { key, source, about: await source.explain(text, state.second) };
  }
  state.compared.source.signal = state.source.signal;
  return state.compared;
}

// { title, text, tokens, values } of a text's matrix. Of a smaller model, the last layer or head stands for later ones.
async function sideOf(state, source, about, model, text) {
  const layer = Math.min(state.layer, about.layers), head = Math.min(state.head, about.heads);
  if (!["sum", "softmax", ...about.terms].includes(state.term))
    throw new Error(`${model} has no ${NAMES[state.term]}.`);
  const values = await source.term(layer, head, state.term);
  return { title: `${model}, layer ${layer}, head ${head}`, text, tokens: about.tokens, values };
}

const commonTokens = (first, second) => first.tokens.map(({ text }, i) =>
  ({ text: text === second.tokens[i].text ? text : `${text} / ${second.tokens[i].text}` }));

function differenceFigure(first, second, isLogarithmic, room) {
  const values = second.values.map((value, i) => value - first.values[i]), palette = paletteOf("diverging");
  const scale = scaleOf(mostOf(values), true, isLogarithmic);
  const picture = { values, at: values.map(scale.place), tokens: commonTokens(first, second), palette, room };
  return { ...matrixFigure("difference", "the second less the first", picture),
    bar: colourBar(scale, palette, "difference"), values };
}

// What the mouse shows: of texts with as many tokens the pair in both, else of each its own.
function readoutsOf(sides, figures, difference) {
  const [first, second] = sides.map((side) => side.values);
  if (difference) {
    const shown = { first, second, differs: difference.values };
    return [readoutOf([...figures, difference], commonTokens(...sides), "", shown)];
  }
  return sides.map((side, i) => readoutOf([figures[i]], side.tokens, "", { value: side.values }, `readout-${i + 1}`));
}

export async function compareView(place, state, redraw) {
  const controls = compareControls(state, redraw), isOther = (state.otherModel || state.model) !== state.model;
  if (!isOther && (state.other || state.text) === state.text)
    return place.replaceChildren(controls, note("Give another text, or choose another model."));
  const other = await explainedOther(state);
  const sides = await Promise.all([sideOf(state, state.source, state.about, state.model, state.text),
    sideOf(state, other.source, other.about, other.source.model, state.other || state.text)]);
  const begun = performance.now(), isWeights = state.term === "softmax", isLogarithmic = state.scale === "log";
  const palette = paletteOf(isWeights ? "sequential" : "diverging"), room = roomIn(place);
  const scale = scaleOf(Math.max(...sides.map((side) => mostOf(side.values))), !isWeights, isLogarithmic);
  const figures = sides.map(({ title, text, tokens, values }) =>
    matrixFigure(title, text, { values, at: values.map(scale.place), tokens, palette, room }));
  const isSameLength = sides[0].tokens.length === sides[1].tokens.length;
  const difference = isSameLength ? differenceFigure(...sides, isLogarithmic, room) : null;
  place.replaceChildren(controls,
    element("div", { className: "bars" },
      colourBar(scale, palette, isWeights ? "weight" : "score"), ...(difference ? [difference.bar] : [])),
    element("div", { className: "figures" }, ...figures.map((one) => one.figure),
      ...(difference ? [difference.figure] : [])),
    element("div", { className: "bars" }, ...readoutsOf(sides, figures, difference)));
  place.dataset.milliseconds = (performance.now() - begun).toFixed(1);
}
