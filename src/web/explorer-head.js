// One head in numbers: its terms, their names, and what they make of the weights.
import { weightsWithout, worstDifference } from "./explorer-numbers.js";

export const NAMES = {
  c2c: "content to content",
  c2p: "content to position",
  p2c: "position to content",
  sum: "sum",
  softmax: "weights",
};

// { name: [T * T] } of the terms that the model has.
export async function termsOf(state) {
  const term = async (name) => [name, await state.source.term(state.layer, state.head, name)];
  return Object.fromEntries(await Promise.all(state.about.terms.map(term)));
}

// Whether the terms make the weights of the model's own pass. A file has no others than those that the terms make.
async function checkedWeights(state, terms) {
  if (state.source.data) return [];
  const weights = await state.source.term(state.layer, state.head, "softmax");
  const worst = worstDifference(weightsWithout(terms, [], state.about.tokens.length), weights);
  const names = Object.keys(terms).join(" + ");
  return [`max |softmax(${names}) - weights| ${worst.toExponential(1)} (values come in half precision)`];
}

// What holds for the whole head, in lines.
export async function aboutHead(state, terms) {
  const factor = `scores times 1 / sqrt(d terms) = ${state.about.scale.toPrecision(4)}`;
  return [factor, ...await checkedWeights(state, terms)];
}

export const fileOf = ({ layer, head }, what) => `layer${layer}-head${head}-${what}`;
