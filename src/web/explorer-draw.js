// Drawing: matrices on a canvas, curves as SVG, and files of both.
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  explorer.element = (name, properties = {}, ...children) => {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  };
  explorer.shape = (name, attributes = {}, ...children) => {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  };

  // A matrix of rows x columns in [0, 1] as an image, one pixel a value.
  explorer.image = (values, rows, columns, palette) => {
    const canvas = explorer.element("canvas", { width: columns, height: rows });
    const context = canvas.getContext("2d"), image = context.createImageData(columns, rows);
    for (let i = 0; i < rows * columns; ++i) {
      const [r, g, b] = palette[Math.min(255, Math.max(0, Math.round(values[i] * 255)))];
      image.data.set([r, g, b, 255], 4 * i);
    }
    context.putImageData(image, 0, 0);
    return canvas;
  };

  const labelOf = (token) => token.text.length > 12 ? token.text.slice(0, 11) + "…" : token.text;

  // A matrix with its tokens. scaled: [T * T] in [0, 1].
  explorer.drawMatrix = (canvas, scaled, tokens, palette) => {
    const T = tokens.length, cell = Math.max(3, Math.min(26, Math.floor(720 / T))), hasLabels = cell >= 9, margin = hasLabels ? 96 : 4;
    canvas.width = canvas.height = margin + T * cell;
    const context = canvas.getContext("2d");
    context.imageSmoothingEnabled = false;
    context.drawImage(explorer.image(scaled, T, T, palette), margin, margin, T * cell, T * cell);
    context.fillStyle = getComputedStyle(document.body).color;
    context.font = `${Math.min(13, cell)}px system-ui, sans-serif`;
    context.textBaseline = "middle";
    for (let i = 0; hasLabels && i < T; ++i) {
      const middle = margin + (i + 0.5) * cell;
      context.textAlign = "right";
      context.fillText(labelOf(tokens[i]), margin - 4, middle);
      context.save();
      context.translate(middle, margin - 4);
      context.rotate(-Math.PI / 2);
      context.textAlign = "left";
      context.fillText(labelOf(tokens[i]), 0, 0);
      context.restore();
    }
    return { margin, cell };
  };

  explorer.cellAt = (canvas, { margin, cell }, event, T) => {
    const box = canvas.getBoundingClientRect(), scale = canvas.width / box.width;
    const column = Math.floor(((event.clientX - box.left) * scale - margin) / cell), row = Math.floor(((event.clientY - box.top) * scale - margin) / cell);
    return row >= 0 && column >= 0 && row < T && column < T ? { row, column } : null;
  };

  // A matrix as SVG text: a rectangle for each value.
  explorer.matrixSvg = (scaled, tokens, palette) => {
    const T = tokens.length, cell = 14, margin = 90, size = margin + T * cell, lines = [];
    const escape = (text) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
    for (let i = 0; i < T; ++i) {
      lines.push(`<text x="${margin - 4}" y="${margin + i * cell + 10}" text-anchor="end">${escape(tokens[i].text)}</text>`,
        `<text transform="translate(${margin + i * cell + 10} ${margin - 4}) rotate(-90)">${escape(tokens[i].text)}</text>`);
      for (let j = 0; j < T; ++j)
        lines.push(`<rect x="${margin + j * cell}" y="${margin + i * cell}" width="${cell}" height="${cell}" fill="${explorer.css(palette[Math.round(scaled[i * T + j] * 255)])}"/>`);
    }
    return `<svg xmlns="${SVG}" width="${size}" height="${size}" font-family="sans-serif" font-size="10">${lines.join("\n")}</svg>\n`;
  };

  // Curves over x. series: [{ name, colour, points: [{ x, mean, low, high }] }]
  explorer.curves = (series, { width = 900, height = 290, x = "", y = "" } = {}) => {
    const left = 56, right = 12, top = 24, bottom = 54, all = series.flatMap((one) => one.points);
    const [x0, x1] = explorer.range(all.map((p) => p.x)), [y0, y1] = explorer.range(all.flatMap((p) => [p.low, p.high]));
    const atX = (value) => left + (value - x0) / (x1 - x0 || 1) * (width - left - right), atY = (value) => height - bottom - (value - y0) / (y1 - y0 || 1) * (height - top - bottom);
    const svg = explorer.shape("svg", { viewBox: `0 0 ${width} ${height}`, width: "100%", role: "img", "aria-label": `${series.map((one) => one.name).join(", ")} over ${x}` });
    for (let i = 0; i <= 4; ++i) {
      const valueY = y0 + (y1 - y0) * i / 4, valueX = x0 + (x1 - x0) * i / 4;
      svg.append(explorer.shape("line", { x1: left, x2: width - right, y1: atY(valueY), y2: atY(valueY), stroke: "currentColor", "stroke-opacity": 0.15 }),
        explorer.shape("text", { x: left - 5, y: atY(valueY) + 4, "text-anchor": "end" }, valueY.toPrecision(3)),
        explorer.shape("text", { x: atX(valueX), y: height - bottom + 15, "text-anchor": "middle" }, String(Math.round(valueX))));
    }
    svg.append(explorer.shape("text", { x: (left + width) / 2, y: height - 4, "text-anchor": "middle" }, x), explorer.shape("text", { x: 4, y: 11 }, y));
    for (const { name, colour, points } of series) {
      const band = [...points.map((p) => `${atX(p.x)},${atY(p.high)}`), ...[...points].reverse().map((p) => `${atX(p.x)},${atY(p.low)}`)].join(" ");
      svg.append(explorer.shape("polygon", { points: band, fill: colour, "fill-opacity": 0.18 }),
        explorer.shape("polyline", { points: points.map((p) => `${atX(p.x)},${atY(p.mean)}`).join(" "), fill: "none", stroke: colour, "stroke-width": 2 }, explorer.shape("title", {}, name)));
    }
    return { svg, atX, bottom: height - bottom };
  };

  explorer.save = (name, content, type) => {
    const url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
    explorer.element("a", { href: url, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(url), 60000);
  };
})();
