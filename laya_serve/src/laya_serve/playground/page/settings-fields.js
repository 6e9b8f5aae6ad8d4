// The controls of a request besides state and questions, each a key of the body that is there only when it is filled in.

import { byId, el } from "./dom.js";
import { JsonNumber, compact } from "./json.js";

const FIELDS = { min_confidence: "number", lang: "text", max_len: "number", head_max_len: "number" };
const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?$/;

export class SettingsFields {
  constructor(requestDocument, problems) {
    this.document = requestDocument;
    this.inputs = Object.keys(FIELDS).map((name) => {
      const input = byId(name);
      input.after(problems.slot(() => [name], input));
      input.addEventListener("input", () => {
        problems.forget([name]);
        this.#set(name, input.value.trim());
      });
      return input;
    });
  }

  draw() {
    for (const input of this.inputs) {
      const value = this.document.body.get(input.id) ?? "";
      input.value = typeof value === "string" ? value : compact(value);
    }
    if (this.inputs.some((input) => input.value !== "")) byId("settings").open = true;
  }

  #set(name, text) {
    const value = FIELDS[name] === "number" && NUMBER.test(text) ? new JsonNumber(text) : text;
    this.document.edit((body) => (text === "" ? body.delete(name) : body.set(name, value)));
  }
}

/** The checkpoint to ask, or none, which lets the router choose. */
export class CheckpointSelect {
  constructor(requestDocument, problems) {
    this.document = requestDocument;
    this.select = byId("model");
    this.select.closest(".field").append(problems.slot(() => ["model"], this.select));
    this.select.addEventListener("change", () => {
      problems.forget(["model"]);
      const { value } = this.select;
      this.document.edit((body) => (value === "" ? body.delete("model") : body.set("model", value)), "checkpoint");
    });
  }

  /** Offer these checkpoints: `{id, note}` each. */
  offer(checkpoints) {
    const options = checkpoints.map(({ id, note }) => el("option", { value: id }, note ? `${id} (${note})` : id));
    this.select.replaceChildren(this.select.options[0], ...options);
    this.draw();
  }

  draw() {
    const model = this.document.body instanceof Map ? (this.document.body.get("model") ?? "") : "";
    const value = typeof model === "string" ? model : compact(model);
    for (const option of this.select.querySelectorAll("[data-typed]")) option.remove();
    if (![...this.select.options].some((option) => option.value === value)) {
      this.select.append(el("option", { value, "data-typed": true }, value));
    }
    this.select.value = value;
  }
}
