// Arithmetic on matrices of one head: [T * T], row of the query, column of the key.

export function softmaxRows(scores, T) {
  const out = new Float32Array(scores.length);
  for (let i = 0; i < T; ++i) {
    let most = -Infinity, total = 0;
    for (let j = 0; j < T; ++j) most = Math.max(most, scores[i * T + j]);
    for (let j = 0; j < T; ++j) total += out[i * T + j] = Math.exp(scores[i * T + j] - most);
    for (let j = 0; j < T; ++j) out[i * T + j] /= total;
  }
  return out;
}

// The sum of several matrices at one place.
export const sumAt = (matrices, i) => matrices.reduce((total, values) => total + values[i], 0);

// What the weights would be without a term: the others alone, not scaled anew.
export function weightsWithout(terms, dropped, T) {
  const left = Object.entries(terms).filter(([name]) => !dropped.includes(name)).map(([, values]) => values);
  if (left.length === 0) return new Float32Array(T * T).fill(1 / T);
  return softmaxRows(left[0].map((_, i) => sumAt(left, i)), T);
}

export const worstDifference = (some, others) =>
  some.reduce((worst, value, i) => Math.max(worst, Math.abs(value - others[i])), 0);

// Mean, and the tenth and ninetieth of a hundred, over all pairs of tokens at each distance query - key.
export function byDistance(values, T) {
  const found = [];
  for (let distance = 1 - T; distance < T; ++distance) {
    const at = [];
    for (let i = Math.max(0, distance); i < Math.min(T, T + distance); ++i) at.push(values[i * T + i - distance]);
    at.sort((a, b) => a - b);
    found.push({
      distance,
      mean: at.reduce((a, b) => a + b, 0) / at.length,
      low: at[Math.floor(at.length * 0.1)],
      high: at[Math.min(at.length - 1, Math.floor(at.length * 0.9))],
    });
  }
  return found;
}

export function rangeOf(values) {
  let low = Infinity, high = -Infinity;
  for (let i = 0; i < values.length; ++i) {
    if (values[i] < low) low = values[i];
    if (values[i] > high) high = values[i];
  }
  return [low, high];
}

// The round numbers from low to high: about `most` of them, a step of 1, 2 or 5 times a power of ten apart, and no less
// than `least`.
export function ticksOf(low, high, most, least = 0) {
  const rough = Math.max((high - low) / most, least) || 1, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((times) => times * power).find((one) => one >= rough * (1 - 1e-9));
  const first = Math.ceil(low / step - 1e-9), last = Math.floor(high / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, i) => (first + i) * step);
}

// The lowest value, the first quarter, the median, the third quarter and the highest, each between its neighbours.
export function quantilesOf(values) {
  const sorted = Float32Array.from(values).sort();
  return [0, 0.25, 0.5, 0.75, 1].map((share) => {
    const place = share * (sorted.length - 1), low = Math.floor(place), high = Math.ceil(place);
    return sorted[low] + (sorted[high] - sorted[low]) * (place - low);
  });
}

// The rows of the relative table in the order of distances from 1 - T: [{ row, from, to }], the distances of each.
export function runsOf(rows) {
  const T = (rows.length + 1) / 2, runs = [];
  rows.forEach((row, i) => {
    if (i > 0 && row === rows[i - 1]) runs.at(-1).to = i + 1 - T;
    else runs.push({ row, from: i + 1 - T, to: i + 1 - T });
  });
  return runs;
}

export const mostOf = (values) => Math.max(...rangeOf(values).map(Math.abs));

// Where values stand in a palette, from 0 to 1; the largest magnitude, `most`, is at an end. Of values with a sign,
// nothing is in the middle. A logarithmic scale tells a thousandth of `most` from nothing. `ticks`: round values.
export function scaleOf(most, isSigned, isLogarithmic) {
  const whole = most || 1, linear = ticksOf(0, whole, 3).slice(1);
  const powers = isSigned ? [0, 1] : [0, 1, 2]; // a half of the palette has room for fewer
  const tens = powers.map((i) => 10 ** (Math.floor(Math.log10(whole)) - i));
  const share = (size) => isLogarithmic ? Math.log1p(999 * size / whole) / Math.log(1000) : size / whole;
  const above = isLogarithmic ? tens : linear;
  return {
    place: (value) => isSigned ? 0.5 + Math.sign(value) * share(Math.abs(value)) / 2 : share(value),
    ticks: [...(isSigned ? above.map((value) => -value) : []), 0, ...above],
  };
}

// The same of distances: the whole line, where 0 is between those below and those above it.
export const logarithmOf = (distance) => Math.sign(distance) * Math.log1p(Math.abs(distance));

// 0, 1, 2, 5, 10, 20, ... on both sides, from low to high.
export function ticksByTen(low, high) {
  const above = [0, 1, 2, 3].flatMap((power) => [1, 2, 5].map((times) => times * 10 ** power));
  return [...above.map((value) => -value).reverse(), 0, ...above].filter((value) => value >= low && value <= high);
}
