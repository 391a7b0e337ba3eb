// How large models are, by part: those that are served, and the published sizes.
import { element, note } from "./dom.js";
import { colourOf } from "./explorer-colours.js";
import { choices } from "./explorer-controls.js";
import { drawBars } from "./explorer-curves.js";
import { titledFigure } from "./explorer-figures.js";

const LENGTHS = ["32", "128", "512", "1024", "4096"];
const SHOWN = { all: "all", served: "models served here", published: "published sizes" };
const PARTS = ["words", "positions", "embeddings", "layers", "relative", "convolution", "head"];
const WORK = ["linear", "attention", "relative"];

// 12.3 M, 4.56 G: three digits and the power of a thousand.
function shortNumber(value) {
  const units = ["", " k", " M", " G", " T"];
  let power = 0;
  while (value >= 999.5 && power < units.length - 1) [value, power] = [value / 1000, power + 1];
  return `${+value.toPrecision(3)}${units[power]}`;
}

// The sizes of the models of a page, each asked once.
async function sizesOf(state, length) {
  const asked = state.sizesKnown ??= new Map();
  const sizeOf = async (name) => {
    const key = `${name} ${length}`;
    if (!asked.has(key)) asked.set(key, await state.source.size(name, length));
    return asked.get(key);
  };
  const served = state.models.map((one) => one.name), { published } = await sizeOf(state.model);
  const names = [...served, ...published.filter((name) => !served.includes(name))], found = [];
  for (const name of names) {
    state.report(found.length, names.length, "models");
    found.push({ ...await sizeOf(name), isServed: served.includes(name) });
  }
  return found;
}

// The parts of each model behind each other, all on one scale.
function sizeFigure(title, sizes, kind, parts, x, width) {
  const rows = sizes.map((size) => ({
    name: size.model.length > 17 ? `${size.model.slice(0, 16)}…` : size.model,
    text: shortNumber(size[kind].total),
    parts: parts.map((name, i) => ({ name, colour: colourOf(`c${i}`), value: size[kind][name] })),
  }));
  const most = Math.max(...sizes.map((size) => size[kind].total));
  const svg = drawBars(rows, { width, most, x, label: title, names: 124, textOf: shortNumber });
  return titledFigure(title, "", svg, width);
}

// The same in numbers. It may be wider than a narrow screen.
function sizeTable(sizes) {
  const head = ["model", ...PARTS, "parameters", ...WORK, "FLOPs", "× without relative terms"];
  const cell = (textContent) => element("td", { className: "number", textContent });
  const rows = sizes.map(({ model, parameters, flops }) => element("tr", {},
    element("th", { scope: "row", textContent: model }),
    ...[...PARTS, "total"].map((part) => cell(shortNumber(parameters[part]))),
    ...[...WORK, "total"].map((part) => cell(shortNumber(flops[part]))),
    cell((flops.total / (flops.total - flops.relative)).toFixed(3))));
  const table = element("table", { id: "sizes-table" },
    element("tr", {}, ...head.map((name) => element("th", { scope: "col", textContent: name }))), ...rows);
  const region = element("div", { className: "wide", tabIndex: 0, ariaLabel: "Sizes in numbers" }, table);
  region.setAttribute("role", "region");
  return region;
}

export async function sizesView(place, state, redraw) {
  if (!LENGTHS.includes(state.length)) state.length = "128";
  if (!(state.sizes in SHOWN)) state.sizes = "all";
  const all = await sizesOf(state, state.length);
  const sizes = all.filter(({ isServed }) => state.sizes === "all" || isServed === (state.sizes === "served"));
  const width = Math.min(760, place.clientWidth);
  place.replaceChildren(
    element("div", { className: "controls" },
      choices("length", "Tokens of the text", LENGTHS.map((one) => [one, one]), state.length,
        (value) => redraw({ length: value })),
      choices("sizes", "Show", Object.entries(SHOWN), state.sizes, (value) => redraw({ sizes: value }))),
    element("div", { className: "figures" },
      sizeFigure("Parameters by part", sizes, "parameters", PARTS, "parameters", width),
      sizeFigure(`Operations of the encoder for ${state.length} tokens`, sizes, "flops", WORK,
        "floating-point operations", width)),
    sizeTable(sizes),
    note("Linear: products with weights. Attention: queries with keys, weights with values. Relative: what the terms " +
      "of positions add to attention. The head is not among the operations."));
  return `${sizes.length} models`;
}
