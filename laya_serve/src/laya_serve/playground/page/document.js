// The request being edited: one text of JSON and what it says. The form and the JSON editor both work on it.

import { copy, pathKey, read, write } from "./json.js";

/** Events: "change", whose detail.origin says who changed it ("text", "form" or "load"). */
export class RequestDocument extends EventTarget {
  constructor() {
    super();
    this.text = "";
    this.body = new Map();
    this.reading = read("{}");
  }

  /** What is wrong with the text; null if nothing. `body` is then what the last good text said. */
  get error() {
    return this.reading.error;
  }

  /** Take a text as it was typed. */
  setText(text, origin = "text") {
    if (text === this.text && origin === "text") return;
    this.text = text;
    this.reading = read(text);
    if (!this.error) this.body = this.reading.value;
    this.#changed(origin);
  }

  /** Take a whole request. */
  load(body) {
    this.setText(write(body), "load");
  }

  /** Change the body in place; the text is written anew. */
  edit(change, origin = "form") {
    change(this.body);
    this.text = write(this.body);
    this.reading = read(this.text);
    this.#changed(origin);
  }

  /** Give up a text with an error for the last good one. */
  discardText() {
    this.edit(() => {}, "load");
  }

  get questions() {
    const questions = this.body instanceof Map ? this.body.get("questions") : undefined;
    return questions instanceof Map ? questions : new Map();
  }

  /** Where the key at this path begins in the text, or the closest one around it; 0 if there is none. */
  place(path) {
    for (let length = path.length; length > 0; length -= 1) {
      const offset = this.reading.places.get(pathKey(path.slice(0, length)));
      if (offset !== undefined) return offset;
    }
    return 0;
  }

  snapshot() {
    return { text: this.text, body: copy(this.body) };
  }

  #changed(origin) {
    this.dispatchEvent(new CustomEvent("change", { detail: { origin } }));
  }
}
