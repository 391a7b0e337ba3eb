// The views of attention: one head, the terms by distance, all heads.
(() => {
  const { element, shape } = explorer;
  const NAMES = { c2c: "content to content", c2p: "content to position", p2c: "position to content", sum: "sum", softmax: "softmax" };
  const SERIES = { c2p: "#0072b2", p2c: "#d55e00" };

  const choices = (id, label, values, chosen, change) => {
    const select = element("select", { id });
    select.append(...values.map(([value, name]) => element("option", { value, textContent: name, selected: String(value) === String(chosen) })));
    select.addEventListener("change", () => change(select.value));
    return element("label", {}, label, select);
  };

  explorer.headControls = (state, redraw) => {
    const numbers = (count, first) => Array.from({ length: count }, (_, i) => [i + first, i + first]);
    return [choices("layer", "Layer", numbers(state.about.layers, 1), state.layer, (value) => redraw({ layer: +value })),
      choices("head", "Head", numbers(state.about.heads, 0), state.head, (value) => redraw({ head: +value }))];
  };

  const termsOf = async (state) => Object.fromEntries(await Promise.all(state.about.terms.map(async (name) => [name, await state.source.term(state.layer, state.head, name)])));

  // Values for the palette, which has nothing in its middle where they have a sign.
  const scaled = (values, isWeights) => {
    const most = isWeights ? Math.max(...explorer.range(values)) : Math.max(...explorer.range(values).map(Math.abs));
    return { most, at: values.map((value) => isWeights ? value / (most || 1) : 0.5 + value / (2 * most || 1)) };
  };

  const csvOf = (values, tokens) => {
    const quoted = (text) => `"${text.replaceAll('"', '""')}"`, T = tokens.length;
    const rows = tokens.map((token, i) => [quoted(token.text), ...values.slice(i * T, i * T + T)].join(","));
    return [["query \\ key", ...tokens.map((token) => quoted(token.text))].join(","), ...rows, ""].join("\n");
  };

  async function matrixValues(state) {
    const T = state.about.tokens.length, terms = await termsOf(state);
    if (state.dropped.length > 0) return { values: explorer.without(terms, state.dropped, T), isWeights: true, terms };
    return { values: await state.source.term(state.layer, state.head, state.term), isWeights: state.term === "softmax", terms };
  }

  explorer.matrixView = async (place, state, redraw) => {
    const tokens = state.about.tokens, T = tokens.length, { values, isWeights, terms } = await matrixValues(state);
    const palette = explorer.palette(isWeights ? "weights" : "terms", explorer.isDark()), { most, at } = scaled(values, isWeights);
    const begun = performance.now(), canvas = element("canvas", { id: "matrix", tabIndex: 0, ariaLabel: `layer ${state.layer}, head ${state.head}: ${NAMES[state.term]}` });
    canvas.setAttribute("role", "img");
    const layout = explorer.drawMatrix(canvas, at, tokens, palette);
    canvas.dataset.milliseconds = (performance.now() - begun).toFixed(1);
    const sum = await state.source.term(state.layer, state.head, "sum"), worst = explorer.worstSum(terms, sum);
    const about = `scores times 1 / sqrt(d (1 + terms)) = ${state.about.scale.toPrecision(4)}\nlargest ${isWeights ? "weight" : "magnitude"} ${most.toPrecision(4)}\nmax |c2c + c2p + p2c - sum| ${worst.toExponential(1)} (values come in half precision)`;
    const readout = element("p", { className: "readout", id: "readout", textContent: about });
    canvas.addEventListener("mousemove", (event) => {
      const cell = explorer.cellAt(canvas, layout, event, T);
      readout.textContent = cell === null ? about : [`query ${cell.row} ${tokens[cell.row].text}`, `key   ${cell.column} ${tokens[cell.column].text}`, `distance ${cell.row - cell.column}`,
        ...Object.entries({ ...terms, sum, shown: values }).map(([name, of]) => `${name.padEnd(6)} ${of[cell.row * T + cell.column].toPrecision(4)}`)].join("\n");
    });
    const names = [...state.about.terms, "sum", "softmax"];
    const drops = state.about.terms.map((name) => {
      const box = element("input", { type: "checkbox", checked: state.dropped.includes(name), id: `drop-${name}` });
      box.addEventListener("change", () => redraw({ dropped: box.checked ? [...state.dropped, name] : state.dropped.filter((one) => one !== name) }));
      return element("label", { className: "row" }, box, `without ${name}`);
    });
    const save = (label, act) => { const button = element("button", { type: "button", textContent: label, id: `save-${label.toLowerCase()}` }); button.addEventListener("click", act); return button; };
    const file = `layer${state.layer}-head${state.head}-${state.term}`;
    place.replaceChildren(
      element("div", { className: "controls" }, ...explorer.headControls(state, redraw), choices("term", "Show", names.map((name) => [name, NAMES[name]]), state.term, (value) => redraw({ term: value, dropped: [] })), ...drops,
        save("SVG", () => explorer.save(`${file}.svg`, explorer.matrixSvg(at, tokens, palette), "image/svg+xml")),
        save("PNG", () => canvas.toBlob((blob) => explorer.save(`${file}.png`, blob))),
        save("CSV", () => explorer.save(`${file}.csv`, csvOf(values, tokens), "text/csv"))),
      ...(state.dropped.length > 0 ? [element("p", { className: "note", textContent: `A counterfactual: the weights as they would be without ${state.dropped.join(" and ")}. The model was not trained so, and the layers below are as they were.` })] : []),
      element("div", { className: "matrix" }, canvas, readout));
  };

  // Below the curves: which distances share a row of the relative table.
  const ruler = (svg, state, atX, y) => {
    const rows = state.about.rows, T = state.about.tokens.length;
    for (let i = 0, begin = 0; i <= rows.length; ++i) {
      if (i < rows.length && rows[i] === rows[begin]) continue;
      const x = atX(begin + 1 - T - 0.5), width = Math.max(1, atX(i - T + 0.5) - x);
      svg.append(shape("rect", { x, y: y + 20, width, height: 7, fill: "currentColor", "fill-opacity": begin % 2 ? 0.25 : 0.55, stroke: "none" }, shape("title", {}, `row ${rows[begin]}: distances ${begin + 1 - T} to ${i - T}`)));
      begin = i;
    }
  };

  explorer.distanceView = async (place, state, redraw) => {
    const T = state.about.tokens.length, names = state.about.terms.filter((name) => name in SERIES);
    const series = await Promise.all(names.map(async (name) => ({ name, colour: SERIES[name], points: explorer.byDistance(await state.source.term(state.layer, state.head, name), T).map((p) => ({ ...p, x: p.distance })) })));
    const controls = element("div", { className: "controls" }, ...explorer.headControls(state, redraw));
    if (series.length === 0) return place.replaceChildren(controls, element("p", { textContent: "This model has no term of positions." }));
    const { svg, atX, bottom } = explorer.curves(series, { x: "distance query - key", y: "score" });
    svg.id = "distance";
    if (state.about.rows.length > 0) ruler(svg, state, atX, bottom);
    const key = element("p", {}, ...series.flatMap(({ name, colour }) => [element("span", { className: "bar", title: name }), ` ${NAMES[name]}   `]));
    key.querySelectorAll(".bar").forEach((bar, i) => Object.assign(bar.style, { width: "1.5rem", background: series[i].colour }));
    const save = element("button", { type: "button", textContent: "SVG", id: "save-distance" });
    save.addEventListener("click", () => explorer.save(`layer${state.layer}-head${state.head}-distance.svg`, new XMLSerializer().serializeToString(svg), "image/svg+xml"));
    controls.append(save);
    place.replaceChildren(controls, key, svg, element("p", { className: "note", textContent: "Lines are means over all pairs of tokens at a distance, bands hold eight tenths of them. The bar below shows the rows of the relative table: far distances share one." }));
  };

  const ORDERS = { layer: ["layer and head", (a, b) => a.layer - b.layer || a.head - b.head], entropy: ["entropy, sharpest first", (a, b) => a.entropy - b.entropy], distance: ["mean distance, nearest first", (a, b) => a.distance - b.distance],
    cls: ["weight on the first token", (a, b) => b.cls - a.cls], position: ["share of the terms of positions", (a, b) => (b.shares.c2p || 0) + (b.shares.p2c || 0) - (a.shares.c2p || 0) - (a.shares.p2c || 0)] };

  explorer.headsView = async (place, state, redraw) => {
    const size = 40, [heads, pixels] = await Promise.all([state.source.heads(), state.source.thumbnails(size)]);
    const side = Math.round(Math.sqrt(pixels.length / heads.length)), palette = explorer.palette("weights", explorer.isDark());
    const list = element("div", { className: "thumbnails" });
    for (const one of [...heads].sort(ORDERS[state.order][1])) {
      const index = (one.layer - 1) * state.about.heads + one.head, values = Float32Array.from(pixels.subarray(index * side * side, (index + 1) * side * side), (v) => v / 255);
      const image = explorer.image(values, side, side, palette), isChosen = one.layer === state.layer && one.head === state.head;
      image.style.width = image.style.height = "80px";
      const button = element("button", { type: "button", ariaPressed: String(isChosen), title: `layer ${one.layer}, head ${one.head}` }, image, `${one.layer}.${one.head}  H ${one.entropy.toFixed(2)}`, element("br"), `|d| ${one.distance.toFixed(1)}  cls ${one.cls.toFixed(2)}`);
      button.addEventListener("click", () => redraw({ layer: one.layer, head: one.head, view: "matrix", term: "softmax", dropped: [] }));
      list.append(button);
    }
    place.replaceChildren(element("div", { className: "controls" }, choices("order", "Order by", Object.entries(ORDERS).map(([value, [name]]) => [value, name]), state.order, (value) => redraw({ order: value }))), list,
      element("p", { className: "note", textContent: "H: entropy of a row's weights in nats, mean over rows. |d|: mean distance that is read. cls: weight on the first token." }));
  };
})();
