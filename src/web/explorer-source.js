// Where numbers come from: a server, or the page itself when it is a file (`deberta analyze -o`).
import { askBytes, askJson } from "./api.js";
import { softmaxRows, sumAt } from "./explorer-numbers.js";

function half(bits) {
  const sign = bits & 0x8000 ? -1 : 1, exponent = bits >> 10 & 31, fraction = bits & 1023;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  return exponent === 31 ? (fraction ? NaN : sign * Infinity) : sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}
const floatsOf = (buffer) => Float32Array.from(new Uint16Array(buffer), half);

// `model`: whom to ask; `signal`: what ends the requests.
class ServerSource {
  ask(path, body) {
    return askJson(path, body, this.model, this.signal);
  }

  async models() {
    return (await this.ask("info")).models;
  }

  explain(text, second) {
    return this.keep("explain/tokens", second ? { text, text_pair: second } : { text });
  }

  // The mask decoder on a text: its passes are layers.
  async decode(text, words) {
    const about = await this.keep("explain/decoder", { text, words, top_k: 6 });
    return { ...about, layers: about.passes };
  }

  // What a route answers, and has kept under an id.
  async keep(path, body) {
    const about = await this.ask(path, body);
    Object.assign(this, { id: about.explain_id, kept: new Map(), renew: () => this.keep(path, body) });
    return about;
  }

  // What `ask` finds of the text. A server forgets texts after a while, and then this one is explained anew.
  async ofText(ask) {
    try {
      return await ask();
    } catch (error) {
      if (error.status !== 404) throw error;
      this.again ??= this.renew().finally(() => { this.again = null; });
      await this.again;
      return ask();
    }
  }

  // [T * T] of one layer and head, both from 1; c2c, c2p, p2c, sum or softmax.
  async term(layer, head, term) {
    const what = `layer=${layer}&head=${head}&term=${term}&dtype=f16`;
    const ask = () => askBytes(`explain/terms?id=${this.id}&${what}`, this.signal);
    const values = this.kept.get(what) ?? floatsOf(await this.ofText(ask));
    this.kept.set(what, values);
    return values;
  }

  async heads() {
    return (await this.ofText(() => this.ask(`explain/heads?id=${this.id}`))).heads;
  }

  // { rows, table_rows }: the row of the relative table for each distance from 1 - length to length - 1.
  positions(length) {
    return this.ask(`explain/positions?model=${this.model}&length=${length}`);
  }

  // A text through generator and discriminator.
  replaced(text, { generator, share, seed }) {
    return this.ask("explain/replaced", { text, share, seed, ...(generator && { generator }) });
  }

  // Of a model that is served, or of a published size.
  size(model, length) {
    return this.ask(`explain/size?model=${model}&length=${length}`);
  }

  async thumbnails(size) {
    const ask = () => askBytes(`explain/thumbnails?id=${this.id}&size=${size}`, this.signal);
    return new Uint8Array(await this.ofText(ask));
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
    return this.data.heads;
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
