// The request as JSON. The text area lies over a copy of its text that has the colours and the line numbers; both wrap
// alike, so the copy gives the height and nothing scrolls but the page.

import { byId, el } from "./dom.js";

const LONGEST_COLOURED = 100_000;

export class JsonEditor {
  constructor(requestDocument) {
    this.document = requestDocument;
    this.area = byId("json");
    this.colours = byId("json-colours");
    this.problem = byId("json-problem");
    this.message = byId("json-problem-text");
    this.refused = null;
    this.area.addEventListener("input", () => {
      this.refused = null;
      requestDocument.setText(this.area.value);
    });
    byId("json-problem-go").addEventListener("click", () => this.goToProblem());
    requestDocument.addEventListener("change", ({ detail }) => {
      if (detail.origin !== "text") this.area.value = requestDocument.text;
      this.draw();
    });
  }

  /** Mark what the server refused: `{path, message}`; null takes the mark away. */
  showRefusal(refusal) {
    this.refused = refusal;
    this.draw();
  }

  /** Put the cursor where the problem is. */
  goToProblem() {
    const offset = this.#offset() ?? 0;
    this.area.focus();
    this.area.setSelectionRange(offset, offset);
    this.colours.querySelector(".wrong")?.scrollIntoView({ block: "nearest" });
  }

  #offset() {
    if (this.document.error) return this.document.error.offset;
    return this.refused && this.document.place(this.refused.path);
  }

  draw() {
    const { error } = this.document;
    const sentence = error ? `${error.sentence}.` : (this.refused?.message ?? "");
    this.problem.hidden = sentence === "";
    if (this.message.textContent !== sentence) this.message.textContent = sentence;
    this.area.toggleAttribute("aria-invalid", sentence !== "");
    if (sentence) this.area.setAttribute("aria-invalid", "true");
    this.#colour(this.#offset());
  }

  #colour(wrongAt) {
    const { text, reading } = this.document;
    const tokens = text.length > LONGEST_COLOURED ? [] : reading.tokens;
    const lines = [];
    let start = 0;
    let next = 0;
    for (const content of text.split("\n")) {
      const end = start + content.length;
      const pieces = [];
      let at = start;
      const plain = (until) => until > at && pieces.push(text.slice(at, until));
      while (next < tokens.length && tokens[next].start < end) {
        const token = tokens[next];
        plain(token.start);
        pieces.push(el("span", { class: token.kind }, text.slice(token.start, token.end)));
        at = token.end;
        next += 1;
      }
      plain(end);
      const wrong = typeof wrongAt === "number" && wrongAt >= start && wrongAt <= end;
      lines.push(el("div", { class: wrong ? "line wrong" : "line" }, pieces.length > 0 ? pieces : "\u200b"));
      start = end + 1;
    }
    this.colours.replaceChildren(...lines);
  }
}
