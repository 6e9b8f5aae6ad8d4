// The right-hand side: answers, or why there are none.

import { answerCard } from "./answers.js";
import { announce, byId, el } from "./dom.js";
import { write } from "./json.js";
import { figures, rawResponse, routing, warnings } from "./report.js";

export class Results {
  constructor(requestDocument) {
    this.panel = byId("results");
    this.stale = byId("stale");
    requestDocument.addEventListener("change", () => this.#outdate());
  }

  running() {
    this.panel.setAttribute("aria-busy", "true");
    announce("Asking …");
  }

  /** Show the answers to these questions. */
  answered(response, questions) {
    const answers = response.body.get("answers") ?? new Map();
    const cards = [...answers].map(([id, answer]) => answerCard(id, answer, questions.get(id)));
    this.#show(
      warnings(response.body.get("usage")),
      el("ol", { class: "answers", "aria-label": "Answers" }, cards),
      routing(response),
      figures(response),
      rawResponse(response, write),
    );
    announce(`${answers.size} ${answers.size === 1 ? "answer" : "answers"} in ${response.milliseconds.toFixed(0)} ms`);
  }

  /** Show a refusal; `goTo` leads to what a problem names. */
  refused(response, problems, goTo) {
    const { title, advice } = explained(response);
    this.#show(
      el(
        "section",
        { class: "refusal", role: "alert" },
        el("h3", {}, title),
        problems.map(({ path, message }) => el("p", {}, message, path.length > 0 && place(path, () => goTo(path)))),
        advice && el("p", { class: "hint" }, advice),
      ),
      figures({ ...response, body: new Map() }),
    );
    announce("");
  }

  /** Show that the server could not be asked. */
  failed(title, advice) {
    this.#show(el("section", { class: "refusal", role: "alert" }, el("h3", {}, title), el("p", {}, advice)));
    announce("");
  }

  /** Back to what was there before the call; `why` is said. */
  dropped(why) {
    this.panel.removeAttribute("aria-busy");
    announce(why);
  }

  #show(...parts) {
    this.panel.removeAttribute("aria-busy");
    this.panel.classList.remove("stale");
    this.stale.hidden = true;
    this.panel.replaceChildren(...parts.filter(Boolean));
    byId("no-results").hidden = true;
    if (matchMedia("(max-width: 60rem)").matches) byId("results-title").scrollIntoView({ behavior: motion() });
  }

  #outdate() {
    const shows = this.panel.childElementCount > 0;
    this.panel.classList.toggle("stale", shows);
    this.stale.hidden = !shows;
  }
}

function motion() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth";
}

function place(path, go) {
  return el("button", { type: "button", class: "quiet", onclick: go }, `Go to ${path.slice(-1)[0]}`);
}

function explained({ status, headers }) {
  const wait = headers.get("retry-after");
  const known = {
    401: ["The server wants a key", "Enter it with the button at the top."],
    413: ["The request is too large", null],
    500: ["The server could not answer", "The cause is in the server's log, under the request id below."],
    503: ["The server is busy", wait && `Try again in ${wait} s.`],
  }[status] ?? [`The server refused the request (${status})`, null];
  return { title: known[0], advice: known[1] };
}
