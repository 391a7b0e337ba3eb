// The page: what is chosen, in the address too; tabs and keys; one view at a time.
import { element } from "./dom.js";
import { compareView } from "./explorer-compare.js";
import { SCALE_NAMES } from "./explorer-controls.js";
import { decoderView } from "./explorer-decoder.js";
import { distanceView } from "./explorer-distance.js";
import { positionsView } from "./explorer-positions.js";
import { replacedView } from "./explorer-replaced.js";
import { sizesView } from "./explorer-sizes.js";
import { makeSource } from "./explorer-source.js";
import { taskView, textsOf, wordsView } from "./explorer-tasks.js";
import { termsView } from "./explorer-terms.js";
import { headsView, matrixView } from "./explorer-views.js";

const byId = (id) => document.getElementById(id);

const source = makeSource(), isFile = source.data !== undefined;
// Each view: what draws it, and may return its summary; and a sentence that says what is seen. isDrawn: its pictures
// follow the width of the page; needsText: false where it shows something without a text; readsTerms: false where it
// asks for no attention of layers.
const VIEWS = {
  task: { draw: taskView, readsTerms: false, says: "What the model answers to the text." },
  terms: {
    draw: termsView,
    isDrawn: true,
    says: "The terms of one head side by side on one scale, their sum, and the weights that it becomes.",
  },
  matrix: {
    draw: matrixView,
    isDrawn: true,
    says: "One matrix of one head: each row is a token that asks (the query), each column one that is read (the key).",
  },
  distance: {
    draw: distanceView,
    isDrawn: true,
    says: "The terms that know positions, over the distance from key to query: which distances a head prefers.",
  },
  positions: {
    draw: positionsView,
    isDrawn: true,
    needsText: false,
    says: "Which row of the table of relative positions stands for each pair of tokens, and for each distance.",
  },
  heads: {
    draw: headsView,
    says: "The weights of every head as a small picture, each on a scale of its own, with its figures.",
  },
  words: {
    draw: wordsView,
    says: "How much the answer loses without each word, and how much the first token reads of each.",
  },
  decoder: {
    draw: decoderView,
    isDrawn: true,
    readsTerms: false,
    says: "What the mask decoder and the absolute positions that it adds change in the words for each mask.",
  },
  replaced: {
    draw: replacedView,
    isDrawn: true,
    readsTerms: false,
    says: "The text on its way through a generator, which fills masks, and the model, which judges every token.",
  },
  compare: {
    draw: compareView,
    isDrawn: true,
    says: "One head on two texts, or in two models, side by side on one scale.",
  },
  sizes: {
    draw: sizesView,
    isDrawn: true,
    needsText: false,
    readsTerms: false,
    says: "How many parameters and operations the parts of models have, all models on one scale.",
  },
};
const SERVER_VIEWS = ["task", "decoder", "replaced", "compare", "sizes"]; // a file has no model
if (isFile) for (const name of SERVER_VIEWS) delete VIEWS[name];
const [firstView] = Object.keys(VIEWS);
const TERMS_SHOWN = ["c2c", "c2p", "p2c", "sum", "softmax"];
const OF_SERVER = ["model", "text", "second", "labels", "threshold", "other", "otherModel"]; // a file has one text
// What is in the address only where it is chosen.
const UNCHOSEN = {
  second: "", labels: "", threshold: "0.5", other: "", otherModel: "", words: "", generator: "", share: "0.15",
  seed: "0", length: "128", sizes: "all", pass: 1,
};
const CHOSEN_IN_ADDRESS = ["view", "term", "order", "scale",
  ...(isFile ? [] : [...OF_SERVER, "words", "generator", "share", "seed", "length", "sizes"])];
const FIELDS = ["model", "text", "second", "labels", "threshold"];
const STEPS = { ArrowLeft: ["head", -1], ArrowRight: ["head", 1], ArrowUp: ["layer", 1], ArrowDown: ["layer", -1] };

const state = {
  view: firstView, layer: 1, head: 1, term: "softmax", order: "layer", scale: "linear", dropped: [],
  model: "", text: "", ...UNCHOSEN, // what is asked
  source, models: [], served: {}, texts: textsOf({}), about: null, compared: null, decoded: null,
};
let turn = 0, work = new AbortController(); // of what is being drawn

function say(text, isBad = false) {
  byId("status").textContent = text;
  byId("status").className = isBad ? "bad" : "";
}

const needsTerms = () => VIEWS[state.view].readsTerms !== false && state.text !== "";
const needsLabels = () => state.view === "task" && state.texts.labels !== undefined;
const modelOf = (name) => state.models.find((one) => one.name === name);

// The name of a text that the view or the task needs and does not have.
function missingText() {
  if (VIEWS[state.view].needsText === false) return "";
  const { first, second, isPair } = state.texts;
  if (!state.text) return first;
  if (isPair && !state.second) return second;
  return needsLabels() && !state.labels.trim() ? "Label" : "";
}

function nameFields() {
  byId("text-name").textContent = state.texts.first;
  byId("second-name").textContent = state.texts.second;
  byId("second").required = state.texts.isPair;
  const hasLabels = state.texts.labels !== undefined && !isFile;
  for (const field of document.querySelectorAll(".of-labels")) field.hidden = !hasLabels;
  byId("labels").required = hasLabels;
}

// ---- the address

function readAddress() {
  const given = new URLSearchParams(location.hash.slice(1));
  for (const key of CHOSEN_IN_ADDRESS) if (given.has(key)) state[key] = given.get(key);
  for (const key of ["layer", "head", "pass"]) // which count from 1
    if (/^\d{1,3}$/.test(given.get(key) || "")) state[key] = Math.max(1, +given.get(key));
  state.dropped = (given.get("without") || "").split(",").filter((name) => TERMS_SHOWN.includes(name));
  if (!/^\d{1,12}$/.test(state.seed)) state.seed = UNCHOSEN.seed;
  if (!(state.view in VIEWS)) state.view = firstView;
  if (!TERMS_SHOWN.includes(state.term)) state.term = "softmax";
  if (!SCALE_NAMES.includes(state.scale)) state.scale = "linear";
}

function writeAddress() {
  const { view, model, text, layer, head, term, order, scale } = state;
  const fields = new URLSearchParams({ view, model, text, layer, head, term, order, scale });
  for (const [key, value] of Object.entries(UNCHOSEN)) if (state[key] !== value) fields.set(key, state[key]);
  if (state.dropped.length > 0) fields.set("without", state.dropped.join(","));
  history.replaceState(null, "", `#${fields}`);
}

// ---- what is shown

// Other views are empty: they would show another text, and have fields of the same name.
function showTabs() {
  for (const tab of document.querySelectorAll("[role=tab]:not([hidden])")) {
    const isChosen = tab.dataset.view === state.view, panel = byId(`view-${tab.dataset.view}`);
    tab.setAttribute("aria-selected", String(isChosen));
    tab.tabIndex = isChosen ? 0 : -1;
    panel.hidden = !isChosen;
    panel.setAttribute("aria-describedby", "says");
    if (!isChosen) panel.replaceChildren();
  }
  byId("says").textContent = VIEWS[state.view].says;
}

function summary() {
  if (!needsTerms()) return state.text ? "" : "Without a text.";
  const { tokens, layers, heads } = state.about;
  return `${tokens.length} tokens, ${layers} layers of ${heads} heads`;
}

// What is shown belongs to another text, or to nothing that is chosen now.
function giveUp(why, isBad = true) {
  byId(`view-${state.view}`).replaceChildren();
  say(why, isBad);
}

// Ends what is being drawn, and begins something else, or nothing.
function startWork(isAny) {
  work.abort();
  work = new AbortController();
  source.signal = work.signal;
  byId("work").hidden = !isAny;
  byId("progress").removeAttribute("value"); // how much there is to do is not known yet
  byId("progress-text").textContent = "";
}

// How much of a long view is done.
state.report = (done, total, what) => {
  Object.assign(byId("progress"), { max: total, value: done });
  byId("progress-text").textContent = `${done} of ${total} ${what}`;
};

function cancel() {
  if (byId("work").hidden) return;
  ++turn;
  startWork(false);
  giveUp("Cancelled.", false);
}

// Draws the view; a later change overtakes it.
async function redraw(change = {}) {
  Object.assign(state, change);
  const mine = ++turn, focused = document.activeElement.id;
  showTabs();
  writeAddress();
  startWork(!missingText());
  if (missingText()) return giveUp(`Give a ${missingText().toLowerCase()}.`, false);
  say("…");
  try {
    if (needsTerms() && state.about === null) await explain();
    if (mine !== turn) return;
    const told = await VIEWS[state.view].draw(byId(`view-${state.view}`), state, redraw);
    if (mine !== turn) return;
    if (document.activeElement === document.body) byId(focused)?.focus(); // a field that was drawn anew
    say(told ?? summary());
  } catch (error) {
    if (mine === turn) giveUp(error.message);
  } finally {
    if (mine === turn) byId("work").hidden = true;
  }
}

async function explain() {
  state.about = await state.source.explain(state.text, state.second);
  state.about.tokens.forEach((token, index) => { token.index = index; });
  state.layer = Math.min(state.layer, state.about.layers);
  state.head = Math.min(state.head, state.about.heads);
  if (!state.about.terms.includes(state.term) && !["sum", "softmax"].includes(state.term)) state.term = "softmax";
  writeAddress(); // what the model does not have was replaced
}

function readForm() {
  const [model, text, second, labels, threshold] = FIELDS.map((id) => byId(id).value);
  const served = modelOf(model) ?? {};
  source.model = model;
  Object.assign(state, { model, text, second, labels, threshold, about: null, served, texts: textsOf(served) });
  nameFields();
  redraw();
}

// ---- keys

// How many views further a key leads from a tab.
const TAB_STEPS = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity };

function stepView(step) {
  const names = Object.keys(VIEWS), count = names.length, place = names.indexOf(state.view) + step;
  const end = place < 0 ? 0 : count - 1;
  redraw({ view: names[Number.isFinite(place) ? (place + count) % count : end] });
}

function onTabKey(event) {
  if (!(event.key in TAB_STEPS) || isShortcut(event)) return;
  event.preventDefault();
  event.stopPropagation(); // an arrow here means tabs, not heads
  stepView(TAB_STEPS[event.key]);
  byId(`tab-${state.view}`).focus();
}

// Of the browser or the system. AltGr, without which many keyboards have no brackets, may count as Ctrl and Alt.
const isShortcut = (event) =>
  !event.getModifierState("AltGraph") && (event.ctrlKey || event.metaKey || event.altKey);

// What the arrows step through: layers, or in its view the passes of the mask decoder.
const shownHeads = () => state.view === "decoder" ? { about: state.decoded?.about, place: "pass" }
  : { about: state.about, place: "layer" };

function stepHead([what, step]) {
  const { about, place } = shownHeads(), isHead = what === "head", key = isHead ? "head" : place;
  const last = isHead ? about.heads : about.layers;
  redraw({ [key]: Math.min(last, Math.max(1, state[key] + step)) });
}

// A line ends the text, unless Shift is held, or the keys compose a word of another script.
function onTextKey(event) {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  byId("ask").requestSubmit();
}

function onKey(event) {
  if (event.key === "Escape") return cancel();
  if (/INPUT|SELECT|TEXTAREA/.test(event.target.tagName) || isShortcut(event)) return;
  const { about } = shownHeads();
  if (event.key === "[" || event.key === "]") {
    stepView(event.key === "]" ? 1 : -1);
  } else if (about && STEPS[event.key]) {
    event.preventDefault();
    stepHead(STEPS[event.key]);
  } else if (about && /^[1-5]$/.test(event.key)) {
    const terms = [...about.terms, "sum", "softmax"];
    redraw({ term: terms[Math.min(+event.key, terms.length) - 1], dropped: [] });
  }
}

// ---- the beginning

function showExample(model) {
  [byId("text").value, byId("second").value] = textsOf(model).example;
}

// Labels that the reader gave stay.
function keepLabels(model) {
  byId("labels").value ||= textsOf(model).labels ?? "";
}

function onModel() {
  const isExample = state.models.some((model) => textsOf(model).example[0] === byId("text").value);
  const model = modelOf(byId("model").value);
  if (isExample) showExample(model);
  keepLabels(model);
  readForm();
}

function followWidth() {
  let width = innerWidth, timer = 0;
  addEventListener("resize", () => {
    if (innerWidth === width) return; // a phone's bars come and go
    width = innerWidth;
    clearTimeout(timer);
    timer = setTimeout(() => VIEWS[state.view].isDrawn && redraw(), 150);
  });
}

function listen() {
  byId("model").addEventListener("change", onModel);
  byId("cancel").addEventListener("click", cancel);
  byId("ask").addEventListener("submit", (event) => {
    event.preventDefault();
    readForm();
  });
  for (const field of document.querySelectorAll("#ask textarea")) field.addEventListener("keydown", onTextKey);
  for (const tab of document.querySelectorAll("[role=tab]"))
    tab.addEventListener("click", () => redraw({ view: tab.dataset.view }));
  document.querySelector("[role=tablist]").addEventListener("keydown", onTabKey);
  document.addEventListener("keydown", onKey);
  followWidth();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => redraw());
}

// A file shows its one text.
function showFile() {
  byId("text").value = source.data.text;
  byId("second").value = source.data.second;
  for (const name of SERVER_VIEWS) byId(`tab-${name}`).hidden = byId(`view-${name}`).hidden = true;
  for (const field of document.querySelectorAll("#ask textarea, #ask select, #ask button")) field.disabled = true;
}

async function main() {
  readAddress();
  source.model = state.model;
  state.models = await state.source.models();
  byId("model").append(...state.models.map(({ name }) =>
    element("option", { textContent: name, selected: name === state.model })));
  const first = modelOf(state.model) || state.models[0];
  if (state.text) [byId("text").value, byId("second").value] = [state.text, state.second];
  else showExample(first);
  [byId("labels").value, byId("threshold").value] = [state.labels, state.threshold];
  keepLabels(first);
  if (isFile) showFile();
  listen();
  if (state.model && !isFile && first.name !== state.model)
    return say(`There is no model ${state.model} here: choose one, and run.`, true);
  readForm();
}

main().catch((error) => say(error.message, true));
