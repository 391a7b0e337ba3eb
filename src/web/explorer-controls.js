// The fields and buttons that views have in common.
import { element } from "./dom.js";

export function choices(id, label, values, chosen, change) {
  const select = element("select", { id });
  select.append(...values.map(([value, name]) =>
    element("option", { value, textContent: name, selected: String(value) === String(chosen) })));
  select.addEventListener("change", () => change(select.value));
  return element("label", {}, label, select);
}

// Which layer, or pass of the mask decoder, and which head: both count from 1.
export function headControls(state, redraw, { about = state.about, place = "layer", name = "Layer" } = {}) {
  const numbers = (count) => Array.from({ length: count }, (_, i) => [i + 1, i + 1]);
  return [choices(place, name, numbers(about.layers), state[place], (value) => redraw({ [place]: +value })),
    choices("head", "Head", numbers(about.heads), state.head, (value) => redraw({ head: +value }))];
}

// A field of a text that a view has beside those of the page.
export function textField(id, label, value, change) {
  const field = element("textarea", { id, rows: 1, dir: "auto", autocomplete: "off", value });
  const run = () => change(field.value);
  field.addEventListener("change", run);
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    run();
  });
  return element("label", { className: "grows" }, label, field);
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
