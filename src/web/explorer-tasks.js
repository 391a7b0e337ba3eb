// The model's own task, and which words of the text its answer depends on.
import { element, note } from "./dom.js";
import { colourOfSeries, cssOf, inkOn, paletteOf } from "./explorer-colours.js";

function labels(rows) {
  const table = element("table");
  for (const { label, score } of rows) {
    const bar = element("span", { className: "bar" });
    bar.style.width = `${Math.max(0, Math.min(1, score)) * 12}rem`;
    table.append(element("tr", {},
      element("td", { textContent: label, dir: "auto" }),
      element("td", { className: "number", textContent: score.toFixed(4) }),
      element("td", {}, bar)));
  }
  return table;
}

// One mark for spans that overlap, as strong as the one that is furthest from the middle: the pieces that stand for the
// bytes of a character all have its place.
function marksOf(spans) {
  const marks = [];
  for (const span of spans) {
    const last = marks.at(-1);
    if (last === undefined || span.start >= last.end) {
      marks.push({ ...span });
      continue;
    }
    if (Math.abs(span.strength - 0.5) > Math.abs(last.strength - 0.5))
      [last.strength, last.kind] = [span.strength, span.kind];
    last.end = Math.max(last.end, span.end);
    last.note += ` ${span.note}`;
  }
  return marks;
}

// The text with parts of it coloured. spans: [{ start, end, note }] in code points, in order, with a strength from 0 to
// 1, or with a kind and its colour.
function coloured(text, spans) {
  const palette = paletteOf("diverging"), points = [...text], line = element("p", { className: "tokens", dir: "auto" });
  let at = 0;
  for (const { start, end, strength, note, kind, colour } of marksOf(spans)) {
    if (start > at) line.append(points.slice(at, start).join(""));
    const ground = colour ?? palette[Math.round(Math.max(0, Math.min(1, strength)) * 255)];
    const mark = element("span", { className: "token", title: note }, points.slice(start, end).join(""));
    if (kind) mark.append(" ", element("small", { textContent: kind }));
    mark.style.background = cssOf(ground);
    mark.style.color = inkOn(ground);
    line.append(mark);
    at = end;
  }
  line.append(points.slice(at).join(""));
  return line;
}

export function tableOf(head, rows) {
  const cell = (value) => typeof value === "number" ? element("td", { textContent: value.toFixed(4) })
    : element("td", { textContent: value, dir: "auto" });
  return element("table", {},
    element("tr", {}, ...head.map((name) => element("th", { textContent: name }))),
    ...rows.map((row) => element("tr", {}, ...row.map(cell))));
}

// The labels of a model, as /info lists them.
const labelsOf = ({ model_type: kinds }) => Object.values(Object.values(kinds ?? {})[0]?.id2label ?? {});

// What a task reads: the names of its texts, whether it needs both, and an example of them; labels, where it finds
// entities by labels of the reader's own.
const TEXTS = {
  "fill-mask": { second: "Second text, for attention", example: ["The capital of France is [MASK] .", ""] },
  "text-classification": { example: ["a gorgeous , witty , seductive movie .", ""] },
  "token-classification": { second: "Second text, for attention",
    example: ["Ada Lovelace was born in London .", ""] },
  "entity-extraction": { second: "Second text, for attention", labels: "person, city",
    example: ["Ada Lovelace was born in London .", ""] },
  "replaced-token-detection": { second: "Second text, for attention",
    example: ["He drank a slowly of water and went to bed .", ""] },
  "question-answering": { first: "Question", second: "Context", isPair: true,
    example: ["Who wrote it ?", "Mary Shelley wrote it ."] },
  "feature-extraction": { first: "Text", second: "Text to compare it with", example: ["a fine film", "a good film"] },
};
// A model of one label gives a score: most of them to a query with a document, some to a single text.
const SCORE = { first: "Query", second: "Document",
  example: ["capital of France", "Paris is the capital of France ."] };
const ENTAILMENT = { first: "Premise", second: "Hypothesis", isPair: true,
  example: ["A man is playing a guitar .", "A man is playing an instrument ."] };

const USUAL = { first: "Text", second: "Second text", isPair: false,
  example: ["The capital of France is Paris .", ""] };

// { first, second, isPair, example } of a model, and the labels of the example.
export function textsOf(model) {
  const names = labelsOf(model), isScore = model.task === "text-classification" && names.length === 1;
  const isEntailment = names.some((label) => /^entail/i.test(label));
  return { ...USUAL, ...(isScore ? SCORE : isEntailment ? ENTAILMENT : TEXTS[model.task]) };
}

// The models of a task, and a sentence that names them.
export const namesWithTask = ({ models }, task) => models.filter((one) => one.task === task).map((one) => one.name);
export function modelsWithTask(state, task) {
  const names = namesWithTask(state, task);
  return names.length === 0 ? "None is served here." : `Choose ${names.join(" or ")}.`;
}

// The text, with a mask at its end where it has none.
export const maskedText = ({ text }) => text.includes("[MASK]") ? text : `${text} [MASK]`;

// What the model's route answers.
const answersOf = (state, body) => state.source.ask(`models/${state.model}`, body);

async function showLabels(state) {
  const inputs = state.second ? [[state.text, state.second]] : state.text;
  const rows = await state.source.ask("predict", { inputs });
  return [labels(state.second ? rows[0] : rows)];
}

// The kinds of entities: B-PER and I-PER are pieces of a PER.
const kindsOf = (model) =>
  labelsOf(model).map((label) => label.replace(/^[BIESLU]-/, "")).filter((kind) => kind !== "O");

// `kinds`: each has the colour of its place among them.
function entitiesOf(text, found, kinds) {
  const spans = found.map(({ start, end, score, entity_group: kind }) =>
    ({ start, end, kind, colour: colourOfSeries(kinds.indexOf(kind)), note: `${kind} ${score.toFixed(3)}` }));
  const rows = found.map((one) => [one.entity_group, one.word, one.score]);
  return [coloured(text, spans), tableOf(["entity", "text", "score"], rows)];
}

async function showEntities(state) {
  const parameters = { aggregation_strategy: "first" };
  const found = await answersOf(state, { inputs: state.text, parameters });
  return entitiesOf(state.text, found,
    [...new Set([...kindsOf(state.served), ...found.map((one) => one.entity_group)])]);
}

async function showOwnEntities(state) {
  const kinds = [...new Set(state.labels.split(",").map((label) => label.trim()).filter((label) => label))];
  const threshold = state.threshold === "" ? null : +state.threshold;
  const parameters = { candidate_labels: kinds, threshold };
  const found = await answersOf(state, { inputs: state.text, parameters });
  return [...entitiesOf(state.text, found, kinds), ...(found.length ? [] : [note("No entity above the threshold.")])];
}

async function showMasks(state) {
  const found = await answersOf(state, { inputs: maskedText(state), parameters: { top_k: 8 } });
  return (Array.isArray(found[0]) ? found : [found]).flatMap((words, i) => [
    element("h2", { textContent: `[MASK] ${i + 1}` }),
    labels(words.map((one) => ({ label: one.token_str, score: one.score }))),
  ]);
}

async function showReplaced(state) {
  const found = await answersOf(state, { inputs: state.text });
  const tokens = (found.tokens || found).filter((one) => one.start !== null && one.end !== null);
  const spans = tokens.map((one) => ({
    ...one, strength: 0.5 + one.score / 2, note: one.score.toFixed(3),
    ...(one.score >= 0.5 && { kind: one.score.toFixed(2) }),
  }));
  return [coloured(state.text, spans),
    note("Orange: how likely the model thinks it that the word was put in the place of another; a number where it is " +
      "one half or more. A small model sees words that break a sentence, hardly those that only change its sense, " +
      "and is wrong most often at the end of a text; its card has figures.")];
}

async function showAnswers(state) {
  const inputs = { question: state.text, context: state.second };
  const found = await answersOf(state, { inputs, parameters: { top_k: 3 } });
  const answers = Array.isArray(found) ? found : [found];
  return [tableOf(["answer", "score"], answers.map((one) => [one.answer, one.score]))];
}

async function showCosine(state) {
  if (!state.second) return [element("p", { textContent: "A second text shows how alike the two are." })];
  const inputs = { source_sentence: state.text, sentences: [state.second] };
  const [cosine] = await state.source.ask("similarity", { inputs });
  return [element("p", { textContent: `cosine ${cosine.toFixed(4)}` })];
}

const SHOW = {
  "text-classification": showLabels,
  "token-classification": showEntities,
  "entity-extraction": showOwnEntities,
  "fill-mask": showMasks,
  "replaced-token-detection": showReplaced,
  "question-answering": showAnswers,
  "feature-extraction": showCosine,
};

export async function taskView(place, state) {
  const show = SHOW[state.served.task];
  const parts = show ? await show(state) : [element("p", { textContent: `No view for ${state.served.task}.` })];
  place.replaceChildren(element("h2", { textContent: state.served.task }), ...parts);
}

// Each word left out in turn: how much the score of the first label falls.
export async function wordsView(place, state) {
  const weights = await firstTokenView(state), found = await fallsOf(state);
  place.replaceChildren(
    ...(found ? fallsView(found, state.text)
      : [element("p", { textContent: "Leaving words out needs a model of labels." })]),
    ...weights,
    note("Attention is not an explanation. The first line changes the text and looks at the answer; the second is " +
      "what heads read, which may matter or not."));
}

async function firstTokenView(state) {
  const weights = await firstTokenWeights(state);
  const tokens = state.about.tokens.filter((one) => !one.special && one.segment === 0);
  const most = Math.max(...tokens.map((one) => weights[one.index]), 1e-9);
  const spans = tokens.map((one) => {
    const weight = weights[one.index];
    return { ...one, strength: 0.5 + weight / (2 * most), note: weight.toFixed(4) };
  });
  return [element("h2", { textContent: "Weights of the first token in the last layer, mean over heads" }),
    coloured(state.text, spans)];
}

async function firstTokenWeights(state) {
  const T = state.about.tokens.length, total = new Float32Array(T);
  for (let head = 1; head <= state.about.heads; ++head) {
    state.report(head - 1, state.about.heads, "heads");
    const weights = await state.source.term(state.about.layers, head, "softmax");
    for (let j = 0; j < T; ++j) total[j] += weights[j] / state.about.heads;
  }
  return total;
}

// { label, score, words: [{ start, end, fall }] }, or null of a model without labels.
async function fallsOf(state) {
  if (state.source.data) return state.source.data.occlusion;
  return state.served.task === "text-classification" ? askFalls(state) : null;
}

// The labels of many texts, asked in parts, so that one sees how far it is and may leave it.
async function askLabels(state, inputs) {
  const atOnce = 16, found = [];
  for (let at = 0; at < inputs.length; at += atOnce) {
    state.report(at, inputs.length, "texts");
    found.push(...await state.source.ask("predict", { inputs: inputs.slice(at, at + atOnce) }));
  }
  return found;
}

async function askFalls(state) {
  const lengthOf = (end) => [...state.text.slice(0, end)].length; // in code points
  const words = [...state.text.matchAll(/\S+/gu)].map((match) =>
    ({ start: lengthOf(match.index), end: lengthOf(match.index + match[0].length) }));
  const points = [...state.text];
  const without = words.map(({ start, end }) => points.slice(0, start).concat(points.slice(end)).join("") || " ");
  const inputs = [state.text, ...without].map((text) => state.second ? [text, state.second] : [text]);
  const [whole, ...others] = await askLabels(state, inputs);
  const { label, score } = whole[0];
  const fallOf = (rows) => score - rows.find((row) => row.label === label).score;
  return { label, score, words: words.map((one, i) => ({ ...one, fall: fallOf(others[i]) })) };
}

function fallsView({ label, score, words }, text) {
  const most = Math.max(...words.map((one) => Math.abs(one.fall)), 1e-9);
  const line = coloured(text, words.map((one) =>
    ({ ...one, strength: 0.5 + one.fall / (2 * most), note: one.fall.toFixed(4) })));
  line.id = "occlusion";
  return [element("h2", { textContent: `How much ${label} (${score.toFixed(4)}) loses without each word` }), line,
    note("Orange: without the word the score falls. Blue: it rises.")];
}
