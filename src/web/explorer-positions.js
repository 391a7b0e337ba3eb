// The rows of the relative table: which of them a head reads for each pair of tokens, and for each distance.
import { element, note } from "./dom.js";
import { colourOf, paletteOf } from "./explorer-colours.js";
import { scaleChoice } from "./explorer-controls.js";
import { drawCurves } from "./explorer-curves.js";
import { colourBar } from "./explorer-draw.js";
import { matrixFigure } from "./explorer-figures.js";
import { mostOf, runsOf, scaleOf } from "./explorer-numbers.js";

const FARTHEST = 2048; // tokens of the text that the curve is for
const WITHOUT_TEXT = 8; // tokens

// The row of each pair of tokens, coloured by how far it is from the row of distance 0.
function rowsFigure(rows, tokens, isLogarithmic, room) {
  const T = tokens.length, middle = (rows.length - 1) / 2, palette = paletteOf("diverging");
  const values = Float32Array.from({ length: T * T }, (_, i) => rows[middle + Math.floor(i / T) - i % T]);
  const away = values.map((row) => row - rows[middle]), scale = scaleOf(mostOf(away), true, isLogarithmic);
  const picture = { values, at: away.map(scale.place), tokens, palette, room, digits: 0 };
  const { figure, canvas } = matrixFigure("row of the relative table", "", picture);
  canvas.id = "rows";
  const whole = { ...scale, ticks: scale.ticks.filter(Number.isInteger) };
  return element("div", {}, colourBar(whole, palette, `rows away from ${rows[middle]}, that of distance 0`), figure);
}

// Beside the rows those that distances would have without buckets, as far as the table goes.
function rowsCurve(rows, tableRows, isLogarithmic, width) {
  const farthest = (rows.length - 1) / 2;
  const seriesOf = (name, colour, all) => ({ name, colour: colourOf(colour),
    points: all.map((row, i) => ({ x: i - farthest, mean: row, low: row, high: row })) });
  const linear = rows.map((_, i) => Math.min(Math.max(rows[farthest] + i - farthest, 0), tableRows - 1));
  const hasBuckets = rows.some((row, i) => row > 0 && row !== linear[i]);
  const series = [seriesOf("of the model", "c0", rows),
    ...(hasBuckets ? [seriesOf("a row for each distance", "c1", linear)] : [])];
  const { svg } = drawCurves(series,
    { width, title: "Row of each distance", x: "distance query - key", y: "row", isLogarithmic });
  svg.id = "row-curve";
  return svg;
}

// From which distance on rows are shared, and from which on nothing tells distances apart.
function aboutTable(rows, tableRows) {
  const runs = runsOf(rows), shared = runs.find(({ from, to }) => from >= 0 && from !== to);
  if (!shared) return `The table has ${tableRows} rows; each of these distances has its own.`;
  const last = runs.at(-1), isLast = last.row === tableRows - 1 && last.from !== last.to;
  return `The table has ${tableRows} rows. From distance ${shared.from} on several distances share one` +
    `${isLast ? `, and all from ${last.from} on share the last` : ""}.`;
}

export async function positionsView(place, state, redraw) {
  const { rows, table_rows: tableRows } = await state.source.positions(FARTHEST);
  if (rows.length === 0)
    return place.replaceChildren(note("This model has no table of relative positions."));
  const isLogarithmic = state.scale === "log";
  const tokens = state.about?.tokens ?? Array.from({ length: WITHOUT_TEXT }, (_, i) => ({ text: String(i) }));
  place.replaceChildren(
    element("div", { className: "controls" }, scaleChoice(state, redraw)),
    rowsFigure(rows, tokens, isLogarithmic, Math.min(720, place.clientWidth)),
    rowsCurve(rows, tableRows, isLogarithmic, place.clientWidth),
    note(aboutTable(rows, tableRows)));
}
