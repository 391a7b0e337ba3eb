// Where numbers come from: a server, or the page itself when it is a file (`deberta analyze -o`).
(() => {
  const half = (bits) => {
    const sign = bits & 0x8000 ? -1 : 1, exponent = bits >> 10 & 31, fraction = bits & 1023;
    if (exponent === 0) return sign * fraction * 2 ** -24;
    return exponent === 31 ? (fraction ? NaN : sign * Infinity) : sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
  };
  const floatsOf = (buffer) => Float32Array.from(new Uint16Array(buffer), half);

  class Server {
    async json(path, body) {
      const response = await askServer(path, body && { method: "POST", headers: { "content-type": "application/json", "x-model": this.model }, body: JSON.stringify(body) });
      const told = await response.json();
      if (!response.ok) throw new Error(told.error && told.error.message || told.error || response.statusText);
      return told;
    }
    async bytes(path) {
      const response = await askServer(path);
      if (!response.ok) throw new Error((await response.json()).error);
      return response.arrayBuffer();
    }
    async models() { return (await this.json("info")).models; }
    async explain(text, second) {
      const about = await this.json("explain/tokens", second ? { text, text_pair: second } : { text });
      this.id = about.explain_id;
      this.kept = new Map();
      return about;
    }
    // [T * T] of one layer (from 1) and head (from 0); c2c, c2p, p2c, sum or softmax.
    async term(layer, head, term) {
      const path = `explain/terms?id=${this.id}&layer=${layer}&head=${head}&term=${term}&dtype=f16`;
      if (!this.kept.has(path)) this.kept.set(path, floatsOf(await this.bytes(path)));
      return this.kept.get(path);
    }
    async heads() { return (await this.json(`explain/heads?id=${this.id}`)).heads; }
    async thumbnails(size) { return new Uint8Array(await this.bytes(`explain/thumbnails?id=${this.id}&size=${size}`)); }
  }

  // `data`: what the program wrote into the page.
  class File {
    constructor(data) { this.data = data; }
    decode(text) { return Uint8Array.from(atob(text), (c) => c.charCodeAt(0)); }
    async models() { return [this.data.model]; }
    async explain() { return this.data.about; }
    async term(layer, head, term) {
      if (term === "sum" || term === "softmax") {
        const terms = await Promise.all(this.data.about.terms.map((name) => this.term(layer, head, name)));
        const sum = terms[0].map((_, i) => terms.reduce((total, one) => total + one[i], 0));
        return term === "sum" ? sum : explorer.softmaxRows(sum, this.data.about.tokens.length);
      }
      return floatsOf(this.decode(this.data.values[term][(layer - 1) * this.data.about.heads + head]).buffer);
    }
    async heads() { return this.data.heads; }
    async thumbnails() { return this.decode(this.data.thumbnails); }
  }

  explorer.makeSource = () => {
    const data = document.getElementById("data");
    return data ? new File(JSON.parse(data.textContent)) : new Server();
  };
})();
