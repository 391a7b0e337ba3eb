// Matrices as figures of a page: a title, what it says, and the values under the mouse.
import { element } from "./dom.js";
import { cellAt, drawMatrix } from "./explorer-draw.js";

// A picture under its title, which is no wider than the picture.
export function titledFigure(title, text, picture, width) {
  const caption = element("figcaption", {}, element("b", { textContent: title }), text ? `: ${text}` : "");
  const figure = element("figure", {}, caption, picture);
  figure.style.width = `${Math.max(width, 200)}px`;
  return figure;
}

// A matrix under its title; `picture` as drawMatrix() takes it.
export function matrixFigure(title, text, picture) {
  const canvas = element("canvas", { ariaLabel: title });
  canvas.setAttribute("role", "img");
  const layout = drawMatrix(canvas, picture);
  return { figure: titledFigure(title, text, canvas, layout.size), canvas, layout };
}

// The width of one of several figures that stand beside each other in `place`, as many as have `least` pixels and no
// more than `most`.
export function roomIn(place, most = 3, least = 330) {
  const width = place.clientWidth, gap = 16, columns = Math.max(1, Math.min(most, Math.floor(width / least)));
  return Math.floor((width - gap * (columns - 1)) / columns);
}

// The text beside matrices of the same tokens: of all of it, and of the pair under the mouse. shown: { name: values }.
export function readoutOf(figures, tokens, whole, shown, id = "readout") {
  const readout = element("p", { className: "readout", id, textContent: whole });
  const T = tokens.length;
  const pairText = ({ row, column }) => [
    `query ${row} ${tokens[row].text}`,
    `key   ${column} ${tokens[column].text}`,
    `distance ${row - column}`,
    ...Object.entries(shown).map(([name, values]) => `${name.padEnd(7)} ${values[row * T + column].toPrecision(4)}`),
  ].join("\n");
  for (const { canvas, layout } of figures) {
    canvas.addEventListener("mousemove", (event) => {
      const cell = cellAt(canvas, layout, event, T);
      readout.textContent = cell === null ? whole : pairText(cell);
    });
    canvas.addEventListener("mouseleave", () => { readout.textContent = whole; });
  }
  return readout;
}
