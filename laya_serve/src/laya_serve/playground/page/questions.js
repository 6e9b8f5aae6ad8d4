// The questions as cards of a form.

import { announce, el, growing, newId } from "./dom.js";
import { icon } from "./icons.js";
import { compact, copy } from "./json.js";
import { choiceRows, levelRows, truthRows } from "./criteria.js";

const KINDS = [
  ["choice", "Choice of one"],
  ["score", "Score on a scale"],
  ["noul", "Yes or no"],
];
const SHOWN_KEYS = new Set(["type", "instructions", "criteria"]);

/** The list of question cards, drawn anew by `draw`. */
export class QuestionList {
  constructor(list, requestDocument, problems) {
    this.list = list;
    this.document = requestDocument;
    this.problems = problems;
  }

  draw() {
    this.list.replaceChildren(
      ...[...this.document.questions.keys()].map((id) => new QuestionCard(this, id).element),
    );
  }

  /** Append a question of this kind and go to it. */
  add(kind = "choice") {
    let number = this.document.questions.size + 1;
    while (this.document.questions.has(`question_${number}`)) number += 1;
    const id = `question_${number}`;
    this.document.edit((body) => {
      if (!(body.get("questions") instanceof Map)) body.set("questions", new Map());
      body.get("questions").set(id, blank(kind));
    });
    const card = new QuestionCard(this, id);
    this.list.append(card.element);
    card.element.querySelector("textarea").focus();
    announce(`Question ${id} added`);
  }
}

function blank(kind) {
  const question = new Map([["type", kind], ["instructions", ""]]);
  if (kind === "choice") question.set("criteria", new Map([["yes", null], ["no", null]]));
  if (kind === "score") question.set("criteria", ["low", "middle", "high"]);
  return question;
}

class QuestionCard {
  constructor(owner, id) {
    this.owner = owner;
    this.id = id;
    this.earlier = new Map();
    this.group = el("div", { class: "card question", role: "group" });
    this.element = el("li", {}, this.group);
    this.draw();
  }

  get question() {
    return this.owner.document.questions.get(this.id);
  }

  path = (...rest) => ["questions", this.id, ...rest];

  /** Change the question in place. */
  edit(change, ...changed) {
    this.owner.problems.forget(this.path(...changed));
    this.owner.problems.forget(this.path());
    this.owner.document.edit((body) => change(body.get("questions").get(this.id)));
  }

  draw() {
    const question = this.question;
    const readable = question instanceof Map && KINDS.some(([kind]) => kind === question.get("type"));
    this.group.setAttribute("aria-label", `Question ${this.id}`);
    this.group.replaceChildren(this.#head(readable), ...(readable ? this.#fields() : [this.#unreadable()]).filter(Boolean));
  }

  #head(readable) {
    const id = el("input", { id: newId("id"), class: "question-id", value: this.id, spellcheck: false, autocomplete: "off" });
    id.addEventListener("input", () => this.#rename(id));
    const remove = el(
      "button",
      { type: "button", class: "quiet square", "aria-label": `Remove question ${this.id}`, onclick: () => this.#remove() },
      icon("remove"),
    );
    return el(
      "div",
      { class: "question-head" },
      el("div", { class: "field grows" }, el("label", { for: id.id }, "Name"), id),
      readable && this.#kind(),
      remove,
      this.owner.problems.slot(() => this.path(), id),
    );
  }

  #kind() {
    const kind = el(
      "select",
      { id: newId("kind") },
      KINDS.map(([value, text]) => el("option", { value }, text)),
    );
    kind.value = this.question.get("type");
    kind.addEventListener("change", () => {
      this.#changeKind(kind.value);
      this.element.querySelector("select").focus();
    });
    return el("div", { class: "field" }, el("label", { for: kind.id }, "Kind"), kind, this.owner.problems.slot(() => this.path("type"), kind));
  }

  #fields() {
    const kind = this.question.get("type");
    const rows = { choice: choiceRows, score: levelRows, noul: truthRows }[kind];
    return [this.#instructions(), rows(this), this.#alsoSet()];
  }

  #instructions() {
    const value = this.question.get("instructions") ?? "";
    const plain = typeof value === "string";
    const area = growing(
      el("textarea", { id: newId("instructions"), rows: 1, value: plain ? value : compact(value), readOnly: !plain }),
    );
    area.addEventListener("input", () => {
      this.edit((question) => question.set("instructions", area.value), "instructions");
    });
    return el(
      "div",
      { class: "field" },
      el("label", { for: area.id }, plain ? "Question" : "Question (structured: change it in JSON)"),
      area,
      this.owner.problems.slot(() => this.path("instructions"), area),
    );
  }

  #alsoSet() {
    const more = [...this.question.keys()].filter((key) => !SHOWN_KEYS.has(key));
    return more.length > 0 && el("p", { class: "hint" }, `Also set, and changed in JSON only: ${more.join(", ")}`);
  }

  #unreadable() {
    return el("p", { class: "hint" }, "This question is of no kind that the form knows. Change it in JSON.");
  }

  #rename(input) {
    const { document, problems } = this.owner;
    const id = input.value;
    if (id === this.id) return problems.setLocal(input, "");
    if (!id.trim()) return problems.setLocal(input, "Give the question a name; the answer comes back under it.");
    if (document.questions.has(id)) return problems.setLocal(input, `Another question is called ${id}.`);
    problems.setLocal(input, "");
    const before = this.id;
    this.id = id;
    document.edit((body) => {
      const renamed = [...body.get("questions")].map(([key, question]) => [key === before ? id : key, question]);
      body.set("questions", new Map(renamed));
    });
    problems.forget(["questions", before]);
    this.group.setAttribute("aria-label", `Question ${id}`);
    this.element.querySelector(".square").setAttribute("aria-label", `Remove question ${id}`);
  }

  #changeKind(kind) {
    this.earlier.set(this.question.get("type"), copy(this.question));
    const instructions = this.question.get("instructions") ?? "";
    const next = this.earlier.get(kind) ?? blank(kind);
    next.set("instructions", instructions);
    this.owner.problems.forget(this.path("type"));
    this.owner.problems.forget(this.path("criteria"));
    this.owner.document.edit((body) => body.get("questions").set(this.id, copy(next)));
    this.draw();
  }

  #remove() {
    const { document, list } = this.owner;
    const place = [...list.children].indexOf(this.element);
    document.edit((body) => body.get("questions").delete(this.id));
    this.element.remove();
    const next = list.children[Math.min(place, list.children.length - 1)];
    (next?.querySelector("input") ?? list.parentElement.querySelector("[data-add]")).focus();
    announce(`Question ${this.id} removed`);
  }
}
