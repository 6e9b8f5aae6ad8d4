// What is wrong, shown beside the field that it is about. Fields are known by their path in the request.

import { el, newId } from "./dom.js";
import { pathKey } from "./json.js";

export class Problems {
  #fields = new Map();
  #local = new Map();
  #fromServer = new Map();

  /** The line that shows the problem of a control; `path` is asked each time, since question ids change. */
  slot(path, control) {
    const line = el("p", { class: "problem", id: newId("problem"), hidden: true });
    const described = control.getAttribute("aria-describedby");
    control.setAttribute("aria-describedby", described ? `${described} ${line.id}` : line.id);
    this.#fields.set(control, { path, line });
    this.#draw(control);
    return line;
  }

  /** A mistake that the page itself notices in a control; an empty message takes it back. */
  setLocal(control, message) {
    if (message) this.#local.set(control, message);
    else this.#local.delete(control);
    this.#draw(control);
  }

  /** Show what the server refused: `{path, message}` each. */
  setFromServer(problems) {
    this.#fromServer = new Map(problems.map(({ path, message }) => [pathKey(path), message]));
    this.#drawAll();
  }

  /** The field was edited, so what the server said about it is out of date. */
  forget(path) {
    if (this.#fromServer.delete(pathKey(path))) this.#drawAll();
  }

  /** The first control with a mistake of the page's own; null if there is none. */
  get firstMistake() {
    this.#forgetDetached();
    return [...this.#fields.keys()].find((control) => this.#local.has(control)) ?? null;
  }

  /** The visible control closest to a path: of the path itself or of what surrounds it. */
  controlAt(path) {
    this.#forgetDetached();
    for (let length = path.length; length > 0; length -= 1) {
      const wanted = pathKey(path.slice(0, length));
      for (const [control, field] of this.#fields) {
        if (pathKey(field.path()) !== wanted || control.closest("[hidden]")) continue;
        control.closest("details")?.setAttribute("open", "");
        return control;
      }
    }
    return null;
  }

  #forgetDetached() {
    for (const control of this.#fields.keys()) {
      if (control.isConnected) continue;
      this.#fields.delete(control);
      this.#local.delete(control);
    }
  }

  #drawAll() {
    for (const control of this.#fields.keys()) this.#draw(control);
  }

  #draw(control) {
    const { path, line } = this.#fields.get(control);
    const message = this.#local.get(control) ?? this.#fromServer.get(pathKey(path())) ?? "";
    line.textContent = message;
    line.hidden = message === "";
    if (message) control.setAttribute("aria-invalid", "true");
    else control.removeAttribute("aria-invalid");
  }
}
