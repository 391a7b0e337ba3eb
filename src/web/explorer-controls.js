// The fields and buttons that views have in common.
import { element } from "./dom.js";

export function choices(id, label, values, chosen, change) {
  const select = element("select", { id });
  select.append(...values.map(([value, name]) =>
    element("option", { value, textContent: name, selected: String(value) === String(chosen) })));
  select.addEventListener("change", () => change(select.value));
  return element("label", {}, label, select);
}

export function headControls(state, redraw) {
  const numbers = (count) => Array.from({ length: count }, (_, i) => [i + 1, i + 1]);
  const { layers, heads } = state.about;
  return [choices("layer", "Layer", numbers(layers), state.layer, (value) => redraw({ layer: +value })),
    choices("head", "Head", numbers(heads), state.head, (value) => redraw({ head: +value }))];
}

export function actionButton(label, id, act) {
  const button = element("button", { type: "button", textContent: label, id });
  button.addEventListener("click", act);
  return button;
}

// How colours, and distances, follow from values.
const SCALES = [["linear", "linear"], ["log", "logarithmic"]];
export const SCALE_NAMES = SCALES.map(([value]) => value);
export const scaleChoice = (state, redraw) =>
  choices("scale", "Scale", SCALES, state.scale, (value) => redraw({ scale: value }));
