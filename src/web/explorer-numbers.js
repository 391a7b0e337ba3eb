// Arithmetic on matrices of one head: [T * T], row of the query, column of the key.
(() => {
  explorer.softmaxRows = (scores, T) => {
    const out = new Float32Array(scores.length);
    for (let i = 0; i < T; ++i) {
      let most = -Infinity, total = 0;
      for (let j = 0; j < T; ++j) most = Math.max(most, scores[i * T + j]);
      for (let j = 0; j < T; ++j) total += out[i * T + j] = Math.exp(scores[i * T + j] - most);
      for (let j = 0; j < T; ++j) out[i * T + j] /= total;
    }
    return out;
  };

  // What the weights would be without a term: the others alone, not scaled anew.
  explorer.without = (terms, dropped, T) => {
    const left = Object.entries(terms).filter(([name]) => !dropped.includes(name)).map(([, values]) => values);
    if (left.length === 0) return new Float32Array(T * T).fill(1 / T);
    return explorer.softmaxRows(left[0].map((_, i) => left.reduce((total, one) => total + one[i], 0)), T);
  };

  // The largest difference between the sum of the terms and what the server says it is.
  explorer.worstSum = (terms, sum) => {
    let worst = 0;
    for (let i = 0; i < sum.length; ++i) worst = Math.max(worst, Math.abs(Object.values(terms).reduce((total, one) => total + one[i], 0) - sum[i]));
    return worst;
  };

  // Mean, and the tenth and ninetieth of a hundred, over all pairs of tokens at each distance query - key.
  explorer.byDistance = (values, T) => {
    const found = [];
    for (let distance = 1 - T; distance < T; ++distance) {
      const at = [];
      for (let i = Math.max(0, distance); i < Math.min(T, T + distance); ++i) at.push(values[i * T + i - distance]);
      at.sort((a, b) => a - b);
      found.push({ distance, mean: at.reduce((a, b) => a + b, 0) / at.length, low: at[Math.floor(at.length * 0.1)], high: at[Math.min(at.length - 1, Math.floor(at.length * 0.9))] });
    }
    return found;
  };

  explorer.range = (values) => values.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [Infinity, -Infinity]);
})();
