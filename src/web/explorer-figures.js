// Matrices as figures of a page, with the values under the mouse.
import { element } from "./dom.js";
import { cellAt } from "./explorer-draw.js";

// The text beside matrices of the same tokens: of all of it, and of the pair under the mouse. shown: { name: values }.
export function readoutOf(figures, tokens, whole, shown) {
  const readout = element("p", { className: "readout", id: "readout", textContent: whole });
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
