// The model's own task, and which words of the text its answer depends on.
(() => {
  const { element } = explorer;
  const POST = async (path, model, body) => {
    const response = await askServer(path, { method: "POST", headers: { "content-type": "application/json", "x-model": model }, body: JSON.stringify(body) });
    const told = await response.json();
    if (!response.ok) throw new Error(told.error);
    return told;
  };

  const labels = (rows) => {
    const table = element("table");
    for (const { label, score } of rows) {
      const bar = element("span", { className: "bar" });
      bar.style.width = `${Math.max(0, Math.min(1, score)) * 12}rem`;
      table.append(element("tr", {}, element("td", { textContent: label }), element("td", { className: "number", textContent: score.toFixed(4) }), element("td", {}, bar)));
    }
    return table;
  };

  // The text with parts of it coloured. spans: [{ start, end, text, strength, title }] in code points, in order.
  const coloured = (text, spans, palette) => {
    const points = [...text], line = element("p", { className: "tokens" });
    let at = 0;
    for (const { start, end, strength, note } of spans) {
      if (start > at) line.append(points.slice(at, start).join(""));
      const colour = palette[Math.round(Math.max(0, Math.min(1, strength)) * 255)];
      const mark = element("span", { className: "token", textContent: points.slice(start, end).join(""), title: note });
      mark.style.background = explorer.css(colour);
      mark.style.color = explorer.inkOn(colour);
      line.append(mark);
      at = end;
    }
    line.append(points.slice(at).join(""));
    return line;
  };

  const table = (head, rows) => {
    const made = element("table", {}, element("tr", {}, ...head.map((name) => element("th", { textContent: name }))));
    made.append(...rows.map((row) => element("tr", {}, ...row.map((value) => element("td", { textContent: typeof value === "number" ? value.toFixed(4) : value })))));
    return made;
  };

  const SHOW = {
    "text-classification": async (state) => {
      const rows = await POST("predict", state.model, { inputs: state.second ? [[state.text, state.second]] : state.text });
      return [labels(state.second ? rows[0] : rows)];
    },
    "token-classification": async (state) => {
      const found = await POST(`models/${state.model}`, state.model, { inputs: state.text, parameters: { aggregation_strategy: "first" } });
      const palette = explorer.palette("terms", explorer.isDark());
      return [coloured(state.text, found.map((one) => ({ ...one, strength: 0.5 + one.score / 2, note: `${one.entity_group} ${one.score.toFixed(3)}` })), palette), table(["entity", "text", "score"], found.map((one) => [one.entity_group, one.word, one.score]))];
    },
    "fill-mask": async (state) => {
      const text = state.text.includes("[MASK]") ? state.text : `${state.text} [MASK]`, found = await POST(`models/${state.model}`, state.model, { inputs: text, parameters: { top_k: 8 } });
      return (Array.isArray(found[0]) ? found : [found]).flatMap((words, i) => [element("h2", { textContent: `[MASK] ${i + 1}` }), labels(words.map((one) => ({ label: one.token_str, score: one.score })))]);
    },
    "replaced-token-detection": async (state) => {
      const found = await POST(`models/${state.model}`, state.model, { inputs: state.text }), tokens = found.tokens || found;
      return [coloured(state.text, tokens.filter((one) => one.start !== null && one.end !== null).map((one) => ({ ...one, strength: 0.5 + one.score / 2, note: one.score.toFixed(3) })), explorer.palette("terms", explorer.isDark())),
        element("p", { className: "note", textContent: "Orange: the model takes the word for one that was put in the place of another." })];
    },
    "question-answering": async (state) => {
      const found = await POST(`models/${state.model}`, state.model, { inputs: { question: state.text, context: state.second }, parameters: { top_k: 3 } }), answers = Array.isArray(found) ? found : [found];
      return [table(["answer", "score"], answers.map((one) => [one.answer, one.score]))];
    },
    "feature-extraction": async (state) => {
      if (!state.second) return [element("p", { textContent: "A second text shows how alike the two are." })];
      const [cosine] = await POST("similarity", state.model, { inputs: { source_sentence: state.text, sentences: [state.second] } });
      return [element("p", { textContent: `cosine ${cosine.toFixed(4)}` })];
    },
  };
  SHOW["text-ranking"] = async (state) => [table(["document", "score"], (await POST("rerank", state.model, { query: state.text, texts: [state.second || ""] })).map((one) => [state.second, one.score]))];

  explorer.taskView = async (place, state) => {
    const show = SHOW[state.task];
    place.replaceChildren(element("h2", { textContent: state.task }), ...(show ? await show(state) : [element("p", { textContent: `No view for ${state.task}.` })]));
  };

  // Each word left out in turn: how much the score of the first label falls.
  explorer.wordsView = async (place, state) => {
    const cls = await clsWeights(state), tokens = state.about.tokens.filter((one) => !one.special && one.segment === 0), most = Math.max(...tokens.map((one) => cls[one.index]), 1e-9);
    const read = coloured(state.text, tokens.map((one) => ({ ...one, strength: 0.5 + cls[one.index] / (2 * most), note: cls[one.index].toFixed(4) })), explorer.palette("terms", explorer.isDark()));
    const parts = [element("h2", { textContent: "Weights of the first token in the last layer, mean over heads" }), read];
    const found = state.source.data ? state.source.data.occlusion : state.task === "text-classification" ? await occlusion(state) : null;
    parts.unshift(...(found ? occlusionView(found, state.text) : [element("p", { textContent: "Leaving words out needs a model of labels." })]));
    place.replaceChildren(...parts, element("p", { className: "note", textContent: "Attention is not an explanation. The first line changes the text and looks at the answer; the second is what heads read, which may matter or not." }));
  };

  async function occlusion(state) {
    const words = [...state.text.matchAll(/\S+/gu)].map((match) => ({ start: [...state.text.slice(0, match.index)].length, end: [...state.text.slice(0, match.index + match[0].length)].length }));
    const points = [...state.text], without = words.map(({ start, end }) => points.slice(0, start).concat(points.slice(end)).join("") || " ");
    const inputs = [state.text, ...without].map((text) => state.second ? [text, state.second] : [text]);
    const [whole, ...others] = await POST("predict", state.model, { inputs });
    const { label, score } = whole[0];
    return { label, score, words: words.map((one, i) => ({ ...one, fall: score - others[i].find((row) => row.label === label).score })) };
  }

  function occlusionView({ label, score, words }, text) {
    const most = Math.max(...words.map((one) => Math.abs(one.fall)), 1e-9);
    const line = coloured(text, words.map((one) => ({ ...one, strength: 0.5 + one.fall / (2 * most), note: one.fall.toFixed(4) })), explorer.palette("terms", explorer.isDark()));
    line.id = "occlusion";
    return [element("h2", { textContent: `How much ${label} (${score.toFixed(4)}) loses without each word` }), line, element("p", { className: "note", textContent: "Orange: without the word the score falls. Blue: it rises." })];
  }

  async function clsWeights(state) {
    const T = state.about.tokens.length, total = new Float32Array(T);
    for (let head = 0; head < state.about.heads; ++head) {
      const weights = await state.source.term(state.about.layers, head, "softmax");
      for (let j = 0; j < T; ++j) total[j] += weights[j] / state.about.heads;
    }
    return total;
  }
})();
