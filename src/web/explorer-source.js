// Where numbers come from: a server, or the page itself when it is a file (`deberta analyze -o`).
import { askBytes, askJson } from "./api.js";
import { softmaxRows, sumAt } from "./explorer-numbers.js";

function half(bits) {
  const sign = bits & 0x8000 ? -1 : 1, exponent = bits >> 10 & 31, fraction = bits & 1023;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  return exponent === 31 ? (fraction ? NaN : sign * Infinity) : sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}
const floatsOf = (buffer) => Float32Array.from(new Uint16Array(buffer), half);

// Routes and files count heads from 0, the page counts them from 1, as layers.
const countedFromOne = (figures) => ({ ...figures, head: figures.head + 1 });

// `model`: whom to ask; `signal`: what ends the requests.
class ServerSource {
  ask(path, body) {
    return askJson(path, body, this.model, this.signal);
  }

  async models() {
    return (await this.ask("info")).models;
  }

  async explain(text, second) {
    const about = await this.ask("explain/tokens", second ? { text, text_pair: second } : { text });
    this.id = about.explain_id;
    this.kept = new Map();
    return about;
  }

  // [T * T] of one layer and head, both from 1; c2c, c2p, p2c, sum or softmax.
  async term(layer, head, term) {
    const path = `explain/terms?id=${this.id}&layer=${layer}&head=${head - 1}&term=${term}&dtype=f16`;
    if (!this.kept.has(path)) this.kept.set(path, floatsOf(await askBytes(path, this.signal)));
    return this.kept.get(path);
  }

  async heads() {
    return (await this.ask(`explain/heads?id=${this.id}`)).heads.map(countedFromOne);
  }

  // { rows, table_rows }: the row of the relative table for each distance from 1 - length to length - 1.
  positions(length) {
    return this.ask(`explain/positions?model=${this.model}&length=${length}`);
  }

  async thumbnails(size) {
    return new Uint8Array(await askBytes(`explain/thumbnails?id=${this.id}&size=${size}`, this.signal));
  }
}

const decode = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));

// `data`: what the program wrote into the page.
class PageSource {
  constructor(data) {
    this.data = data;
  }

  async models() {
    return [this.data.model];
  }

  async explain() {
    return this.data.about;
  }

  async term(layer, head, term) {
    const { about, values } = this.data;
    if (term !== "sum" && term !== "softmax")
      return floatsOf(decode(values[term][(layer - 1) * about.heads + head - 1]).buffer);
    const terms = await Promise.all(about.terms.map((name) => this.term(layer, head, name)));
    const sum = terms[0].map((_, i) => sumAt(terms, i));
    return term === "sum" ? sum : softmaxRows(sum, about.tokens.length);
  }

  async heads() {
    return this.data.heads.map(countedFromOne);
  }

  // Of the distances in the text alone.
  async positions() {
    const { rows } = this.data.about;
    return { rows, table_rows: rows.length ? 2 * rows[(rows.length - 1) / 2] : 0 };
  }

  async thumbnails() {
    return decode(this.data.thumbnails);
  }
}

export function makeSource() {
  const data = document.getElementById("data");
  return data ? new PageSource(JSON.parse(data.textContent)) : new ServerSource();
}
