// The API key: asked for in a dialog, kept in this page's memory and nowhere else.

import { byId } from "./dom.js";

export class Key {
  #key = null;
  #settled = null;

  constructor() {
    this.dialog = byId("key-dialog");
    this.input = byId("key");
    this.button = byId("key-button");
    this.button.addEventListener("click", () => this.ask());
    byId("key-form").addEventListener("submit", (event) => {
      event.preventDefault();
      const given = this.input.value.trim();
      this.#key = given === "" ? null : given;
      this.dialog.close("given");
    });
    byId("key-cancel").addEventListener("click", () => this.dialog.close("cancelled"));
    this.dialog.addEventListener("close", () => {
      this.input.value = "";
      this.#settled?.(this.dialog.returnValue === "given" && this.#key !== null);
      this.#settled = null;
      this.#label();
    });
  }

  get given() {
    return this.#key !== null;
  }

  /** The header that carries the key; none without one. */
  get headers() {
    return this.#key === null ? {} : { authorization: `Bearer ${this.#key}` };
  }

  /** Ask for the key; resolves to whether one was given. */
  ask(message = "") {
    byId("key-message").textContent = message;
    byId("key-message").hidden = message === "";
    this.button.hidden = false;
    this.dialog.returnValue = "";
    if (!this.dialog.open) this.dialog.showModal();
    this.input.focus();
    return new Promise((resolve) => {
      this.#settled?.(false);
      this.#settled = resolve;
    });
  }

  #label() {
    byId("key-button-text").textContent = this.given ? "Change key" : "Enter key";
  }
}
