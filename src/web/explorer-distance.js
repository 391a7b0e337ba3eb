// The terms of positions over the distance, and which distances share a row of the relative table.
import { element, note, shape } from "./dom.js";
import { colourOf } from "./explorer-colours.js";
import { actionButton, headControls, scaleChoice } from "./explorer-controls.js";
import { drawCurves } from "./explorer-curves.js";
import { saveSvg } from "./explorer-draw.js";
import { NAMES, fileOf } from "./explorer-head.js";
import { byDistance, runsOf } from "./explorer-numbers.js";

const SERIES = { c2p: "c0", p2c: "c1" };

// Below the curves: which distances share a row of the relative table. Neighbouring rows differ in shade.
function ruler(svg, runs, atX, y) {
  if (runs.length > 0) svg.append(shape("text", { x: 4, y: y + 28 }, "rows"));
  runs.forEach(({ row, from, to }, i) => {
    const x = atX(Math.max(from - 0.5, runs[0].from)), end = atX(Math.min(to + 0.5, runs.at(-1).to));
    const width = Math.max(1, end - x), opacity = i % 2 ? 0.25 : 0.55;
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
    return { name: NAMES[name], colour: colourOf(SERIES[name]), points };
  }));
}

export async function distanceView(place, state, redraw) {
  const series = await seriesOf(state);
  const controls = element("div", { className: "controls" },
    ...headControls(state, redraw), scaleChoice(state, redraw));
  if (series.length === 0)
    return place.replaceChildren(controls, element("p", { textContent: "This model has no term of positions." }));
  const { svg, atX, bottom } = drawCurves(series,
    { width: place.clientWidth, title: `Layer ${state.layer}, head ${state.head}: terms of positions by distance`,
      x: "distance query - key", y: "score", isLogarithmic: state.scale === "log" });
  svg.id = "distance";
  const runs = runsOf(state.about.rows);
  ruler(svg, runs, atX, bottom);
  controls.append(actionButton("SVG", "save-distance", () => saveSvg(fileOf(state, "distance.svg"), svg)));
  place.replaceChildren(controls, svg,
    note("Lines are means over all pairs of tokens at a distance, bands hold eight tenths of them." + aboutRows(runs)));
}
