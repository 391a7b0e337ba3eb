// A text on its way through generator and discriminator: masked, drawn, labelled, judged.
import { element, note } from "./dom.js";
import { colourOf, cssOf, inkOn, paletteOf } from "./explorer-colours.js";
import { actionButton, choices } from "./explorer-controls.js";
import { drawBars } from "./explorer-curves.js";
import { colourAt, colourBar, labelOf } from "./explorer-draw.js";
import { scaleOf } from "./explorer-numbers.js";
import { modelsWithTask, namesWithTask } from "./explorer-tasks.js";

const SHARES = ["0.15", "0.3", "0.5"];
const MOST_NUMBERED_TOKENS = 12, MOST_BARS = 64;

function replacedControls(state, redraw, generators) {
  return element("div", { className: "controls" },
    choices("generator", "Generator", generators.map((name) => [name, name]), state.generator,
      (value) => redraw({ generator: value })),
    choices("share", "Share that is masked", SHARES.map((share) => [share, share]), state.share,
      (value) => redraw({ share: value })),
    actionButton("Draw again", "again", () => redraw({ seed: String(+state.seed + 1) })));
}

// What the server does with the text. A generator that it refuses is not asked again.
async function walkOf(state) {
  if (!SHARES.includes(state.share)) state.share = SHARES[0];
  const { generator, share, seed } = state;
  try {
    const walk = await state.source.replaced(state.text, { generator, share: +share, seed: +seed });
    state.generator = walk.generator;
    return walk;
  } catch (error) {
    if (error.status) state.generator = "";
    throw error;
  }
}

// One token of a line; a probability colours it, and is written where the text is short.
function chip(text, { probability = null, isNumbered = false, title = "" }, palette) {
  const made = element("span", { className: "token", title }, text);
  if (probability === null) return made;
  const ground = colourAt(palette, probability);
  Object.assign(made.style, { background: cssOf(ground), color: inkOn(ground) });
  const number = probability > 0 && probability < 0.005 ? "<0.01" : probability.toFixed(2);
  if (isNumbered) made.append(" ", element("small", { textContent: number }));
  return made;
}

// The text at one station, under its name.
function station(name, tokens, chipOf) {
  const line = element("p", { className: "tokens chips", dir: "auto" });
  for (const token of tokens) line.append(chipOf(token), " ");
  return element("div", {}, element("h2", { textContent: name }), line);
}

const putIn = (token) => labelOf({ text: token.is_masked ? token.drawn : token.text });

function stations({ tokens, generator, model }, palette) {
  const isNumbered = tokens.length <= MOST_NUMBERED_TOKENS;
  const drawn = (token) => chip(putIn(token), {
    probability: token.drawn_probability, isNumbered,
    title: token.is_masked ? `drawn with ${token.drawn_probability.toFixed(4)}` : "",
  }, palette);
  const judged = (token) => chip(putIn(token), {
    probability: token.replaced_probability, isNumbered, title: `replaced: ${token.replaced_probability.toFixed(4)}`,
  }, palette);
  return [
    station("The text", tokens, (token) => chip(labelOf(token), {}, palette)),
    station("Masked", tokens, (token) => chip(token.is_masked ? "[MASK]" : labelOf(token), {}, palette)),
    station(`Drawn by ${generator}, with its probability`, tokens, drawn),
    station(`Judged by ${model}: the probability that a token was replaced`, tokens, judged),
  ];
}

// A bar for each token; of a long text for those that were masked or are suspected.
function judgements({ tokens }, width) {
  const all = tokens.map((token, place) => ({ ...token, place }));
  const shown = all.length <= MOST_BARS ? all
    : all.filter((token) => token.is_masked || token.replaced_probability >= 0.5);
  const rows = shown.map((token) => ({
    name: labelOf({ text: `${token.place} ${putIn(token).trim()}` }),
    text: token.replaced_probability.toFixed(3),
    parts: [{
      name: token.is_replaced ? "label: replaced" : "label: original",
      colour: colourOf(token.is_replaced ? "c1" : "c0"), value: token.replaced_probability,
    }],
  }));
  const svg = drawBars(rows, {
    width, most: 1, x: "P(replaced)", label: "the discriminator's probability that each token was replaced" });
  svg.id = "judgements";
  return svg;
}

function signal({ signal: tokens, losses }, width) {
  const rows = ["generator", "discriminator"].map((name, i) => ({
    name, text: `${tokens[name]}, loss ${losses[name].toFixed(3)}`,
    parts: [{ colour: colourOf(`c${i}`), value: tokens[name] }],
  }));
  const svg = drawBars(rows, {
    width, most: tokens.discriminator, x: "tokens that give a loss", label: "tokens that give each loss", room: 118 });
  svg.id = "signal";
  return svg;
}

export async function replacedView(place, state, redraw) {
  if (state.served.task !== "replaced-token-detection")
    return place.replaceChildren(note(`This needs a model that finds replaced tokens. ${
      modelsWithTask(state, "replaced-token-detection")}`));
  const generators = namesWithTask(state, "fill-mask");
  if (generators.length === 0)
    return place.replaceChildren(note("No model here predicts masked words, which a generator does."));
  const walk = await walkOf(state), palette = paletteOf("sequential"), width = Math.min(720, place.clientWidth);
  place.replaceChildren(
    replacedControls(state, redraw, generators),
    colourBar(scaleOf(1, false, false), palette, "probability"),
    ...stations(walk, palette),
    note(`Drawn with seed ${walk.seed}. A draw that is right counts as original.`),
    judgements(walk, width),
    element("h2", { textContent: "What each of the two learns from" }),
    signal(walk, width));
  return `${walk.tokens.length} tokens, ${walk.signal.generator} masked`;
}
