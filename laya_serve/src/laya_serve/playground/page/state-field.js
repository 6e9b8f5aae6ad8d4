// The state: a text, or any JSON.

import { byId } from "./dom.js";
import { compact, isContainer, read, write } from "./json.js";

export class StateField {
  constructor(requestDocument, problems) {
    this.document = requestDocument;
    this.problems = problems;
    this.area = byId("state");
    this.kinds = { text: byId("state-is-text"), json: byId("state-is-json") };
    this.area.after(problems.slot(() => ["state"], this.area));
    this.area.addEventListener("input", () => this.#typed());
    this.kinds.text.addEventListener("change", () => this.#become("text"));
    this.kinds.json.addEventListener("change", () => this.#become("json"));
  }

  /** Show what the document says. */
  draw() {
    const { body } = this.document;
    const state = body.has("state") ? body.get("state") : "";
    const kind = typeof state === "string" ? "text" : "json";
    this.kinds[kind].checked = true;
    this.#show(kind === "text" ? state : write(state, { width: 60 }), kind);
    this.problems.setLocal(this.area, "");
  }

  #show(text, kind) {
    this.area.value = text;
    this.area.classList.toggle("code", kind === "json");
    this.area.spellcheck = kind === "text";
    this.area.fit();
  }

  #typed() {
    this.problems.forget(["state"]);
    const text = this.area.value;
    if (this.kinds.text.checked) return this.#take(text);
    const { value, error } = read(text);
    this.problems.setLocal(this.area, error?.sentence ?? "");
    if (!error) this.#take(value);
  }

  #take(state) {
    this.problems.setLocal(this.area, "");
    const before = this.document.body.get("state");
    if (before !== undefined && compact(before) === compact(state)) return;
    this.document.edit((body) => body.set("state", state));
  }

  /** Text that is JSON of a record or a list is taken as it is; other text becomes a record with one field. */
  #become(kind) {
    const text = this.area.value;
    const { value, error } = read(text);
    if (kind === "json") {
      this.#show(write(!error && isContainer(value) ? value : new Map([["text", text]]), { width: 60 }), kind);
    } else {
      const wrapped = !error && value instanceof Map && value.size === 1 && typeof value.get("text") === "string";
      this.#show(wrapped ? value.get("text") : text, kind);
    }
    this.#typed();
  }
}
