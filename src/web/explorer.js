// The page: what is chosen, in the address too; tabs and keys; one view at a time.
(() => {
  const at = (id) => document.getElementById(id);
  const source = explorer.makeSource(), isFile = source.data !== undefined;
  const VIEWS = { task: explorer.taskView, matrix: explorer.matrixView, distance: explorer.distanceView, heads: explorer.headsView, words: explorer.wordsView };
  if (isFile) delete VIEWS.task; // the model is not here
  const [firstView] = Object.keys(VIEWS);
  const TERMS = ["c2c", "c2p", "p2c", "sum", "softmax"];
  const state = { view: firstView, model: "", text: "", second: "", layer: 1, head: 0, term: "softmax", order: "layer", dropped: [], source, about: null, task: "" };
  let models = [], turn = 0;

  const say = (text, isBad = false) => { at("status").textContent = text; at("status").className = isBad ? "bad" : ""; };
  const needsTerms = () => state.view !== "task";

  function readAddress() {
    const given = new URLSearchParams(location.hash.slice(1));
    for (const key of isFile ? ["view", "term", "order"] : ["view", "model", "text", "second", "term", "order"]) if (given.has(key)) state[key] = given.get(key);
    for (const key of ["layer", "head"]) if (/^\d{1,3}$/.test(given.get(key) || "")) state[key] = +given.get(key);
    state.dropped = (given.get("without") || "").split(",").filter((name) => TERMS.includes(name));
    if (!(state.view in VIEWS)) state.view = firstView;
    if (!TERMS.includes(state.term)) state.term = "softmax";
  }
  function writeAddress() {
    const { view, model, text, second, layer, head, term, order } = state;
    const fields = new URLSearchParams({ view, model, text, ...(second ? { second } : {}), layer, head, term, order, ...(state.dropped.length ? { without: state.dropped.join(",") } : {}) });
    history.replaceState(null, "", `#${fields}`);
  }

  function showTabs() {
    for (const tab of document.querySelectorAll("[role=tab]:not([hidden])")) {
      const isChosen = tab.dataset.view === state.view;
      tab.setAttribute("aria-selected", String(isChosen));
      tab.tabIndex = isChosen ? 0 : -1;
      at(`view-${tab.dataset.view}`).hidden = !isChosen;
    }
  }

  // Draws the view; a later change overtakes it.
  async function redraw(change = {}) {
    Object.assign(state, change);
    const mine = ++turn;
    showTabs();
    writeAddress();
    if (!state.text) return say("Give a text.");
    say("…");
    try {
      if (needsTerms() && state.about === null) await explain();
      if (mine !== turn) return;
      await VIEWS[state.view](at(`view-${state.view}`), state, redraw);
      if (mine === turn) say(needsTerms() ? `${state.about.tokens.length} tokens, ${state.about.layers} layers of ${state.about.heads} heads` : "");
    } catch (error) {
      if (mine === turn) say(error.message, true);
    }
  }

  async function explain() {
    state.source.model = state.model;
    state.about = await state.source.explain(state.text, state.second);
    state.about.tokens.forEach((token, index) => { token.index = index; });
    state.layer = Math.min(Math.max(state.layer, 1), state.about.layers);
    state.head = Math.min(state.head, state.about.heads - 1);
    if (!state.about.terms.includes(state.term) && !["sum", "softmax"].includes(state.term)) state.term = "softmax";
  }

  function read() {
    Object.assign(state, { model: at("model").value, text: at("text").value, second: at("second").value, about: null });
    state.task = (models.find((one) => one.name === state.model) || {}).task || "";
    redraw();
  }

  const EXAMPLES = { "fill-mask": "The capital of France is [MASK] .", "text-classification": "a gorgeous , witty , seductive movie .", "token-classification": "Ada Lovelace was born in London .", "replaced-token-detection": "The capital of France is bread ." };

  function onKey(event) {
    if (/INPUT|SELECT|TEXTAREA/.test(event.target.tagName) || event.ctrlKey || event.metaKey || event.altKey) return;
    const names = Object.keys(VIEWS), about = state.about, step = { ArrowLeft: ["head", -1], ArrowRight: ["head", 1], ArrowUp: ["layer", 1], ArrowDown: ["layer", -1] }[event.key];
    if (event.key === "[" || event.key === "]") redraw({ view: names[(names.indexOf(state.view) + (event.key === "]" ? 1 : names.length - 1)) % names.length] });
    else if (about && step) {
      event.preventDefault();
      const [low, high] = step[0] === "head" ? [0, about.heads - 1] : [1, about.layers];
      redraw({ [step[0]]: Math.min(high, Math.max(low, state[step[0]] + step[1])) });
    } else if (about && /^[1-5]$/.test(event.key)) redraw({ term: [...about.terms, "sum", "softmax"][Math.min(+event.key, about.terms.length + 2) - 1], dropped: [] });
  }

  async function main() {
    readAddress();
    models = await state.source.models();
    at("model").append(...models.map((one) => explorer.element("option", { textContent: one.name, selected: one.name === state.model })));
    at("model").addEventListener("change", () => {
      const task = (models.find((one) => one.name === at("model").value) || {}).task;
      if (Object.values(EXAMPLES).includes(at("text").value) && EXAMPLES[task]) at("text").value = EXAMPLES[task];
      read();
    });
    const first = models.find((one) => one.name === state.model) || models[0];
    at("text").value = isFile ? source.data.text : state.text || EXAMPLES[first.task] || at("text").value;
    at("second").value = isFile ? source.data.second : state.second;
    at("ask").addEventListener("submit", (event) => { event.preventDefault(); read(); });
    for (const tab of document.querySelectorAll("[role=tab]")) tab.addEventListener("click", () => redraw({ view: tab.dataset.view }));
    document.addEventListener("keydown", onKey);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => redraw());
    if (isFile) {
      at("tab-task").hidden = at("view-task").hidden = true;
      for (const input of document.querySelectorAll("#ask input, #ask select, #ask button")) input.disabled = true;
    }
    if (state.model && !isFile && first.name !== state.model) return say(`There is no model ${state.model} here: choose one, and run.`, true);
    read();
  }

  main().catch((error) => say(error.message, true));
})();
