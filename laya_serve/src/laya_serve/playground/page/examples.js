// Requests to start from, out of examples.json.

import { announce, byId, el } from "./dom.js";
import { copy, read } from "./json.js";

export class Examples {
  constructor(requestDocument) {
    this.document = requestDocument;
    this.list = byId("examples");
    this.back = byId("undo-example");
    this.edited = false;
    this.back.addEventListener("click", () => this.#bringBack());
    requestDocument.addEventListener("change", ({ detail }) => {
      if (detail.origin === "load") return;
      this.edited = true;
      this.back.hidden = true;
    });
  }

  /** Fetch the examples, offer them, and start with the first. */
  async start() {
    const response = await fetch(new URL("examples.json", import.meta.url));
    const examples = read(await response.text()).value;
    const buttons = examples.map((example) => {
      const choose = () => this.#choose(example);
      return el("li", {}, el("button", { type: "button", class: "chip", onclick: choose }, example.get("title")));
    });
    this.list.replaceChildren(...buttons);
    this.document.load(copy(examples[0].get("request")));
  }

  #choose(example) {
    const kept = this.edited ? this.document.text : null;
    this.document.load(copy(example.get("request")));
    this.edited = false;
    this.kept = kept;
    this.back.hidden = kept === null;
    announce(`Loaded: ${example.get("title")}`);
  }

  #bringBack() {
    this.document.setText(this.kept, "load");
    this.back.hidden = true;
    this.edited = true;
    this.list.querySelector("button").focus();
    announce("Your request is back");
  }
}
