// Talks to the server that this page came from.

import { read } from "./json.js";

export class Server {
  /**
   * @param {string} base the path under which the server is published, with a slash at its end; empty for the page's own.
   * @param {import("./key.js").Key} key
   */
  constructor(base, key) {
    this.base = new URL(base, document.baseURI);
    this.key = key;
  }

  /** Where decisions are asked for. */
  get decisionUrl() {
    return new URL("v1/systemone", this.base).href;
  }

  /** Ask for a decision with a body that is JSON already. */
  async decide(text, signal) {
    const started = performance.now();
    const response = await fetch(this.decisionUrl, {
      method: "POST",
      headers: { "content-type": "application/json", ...this.key.headers },
      body: text,
      signal,
    });
    const answered = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      text: answered,
      body: read(answered).value,
      milliseconds: performance.now() - started,
    };
  }

  /** The checkpoints that can be asked by name, aliases left out: status and a list of `{id, note}`. */
  async checkpoints() {
    const response = await fetch(new URL("v1/models", this.base), { headers: this.key.headers });
    if (!response.ok) return { status: response.status, checkpoints: [] };
    const { data } = await response.json();
    return { status: response.status, checkpoints: data.filter(isNoAlias).map(offered) };
  }
}

function isNoAlias(entry) {
  return entry.checkpoint === undefined || entry.checkpoint === entry.id;
}

function offered(entry) {
  return { id: entry.id, note: entry.loaded ? "in memory" : "" };
}
