// The answers a question allows, as rows of a form: labels of a choice, levels of a score, the two sides of a yes or no.

import { el, growing, newId } from "./dom.js";
import { icon } from "./icons.js";
import { JsonNumber, compact, isContainer } from "./json.js";

function shown(value) {
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? value : compact(value);
}

/** Rows of a label and what it means. */
export function choiceRows(card) {
  const given = card.question.get("criteria");
  const entries = given instanceof Map ? [...given] : Array.isArray(given) ? given.map((label) => [label, null]) : [];
  const rows = entries.map(([label, description]) => ({ label, description }));
  const table = rowTable(card, "Options", "Add an option", rows, () => ({ label: "", description: null }), write, cells);

  function write() {
    const named = rows.filter((row) => shown(row.label) !== "" || shown(row.description) !== "");
    const labels = named.map((row) => shown(row.label));
    for (const row of rows) card.owner.problems.setLocal(row.input, mistake(row, labels));
    if (rows.some((row) => mistake(row, labels))) return;
    const bare = named.every((row) => row.description === null);
    const criteria = bare ? named.map((row) => row.label) : new Map(named.map((row) => [shown(row.label), row.description]));
    card.edit((question) => question.set("criteria", criteria), "criteria");
  }

  function mistake(row, labels) {
    const label = shown(row.label);
    if (label === "") return shown(row.description) === "" ? "" : "Give this option a label.";
    return labels.indexOf(label) === labels.lastIndexOf(label) ? "" : `Two options are called ${label}.`;
  }

  function cells(row, number) {
    row.input = el("input", { value: shown(row.label), "aria-label": `Label of option ${number}`, spellcheck: false, class: "label-cell" });
    row.input.addEventListener("input", () => {
      row.label = row.input.value;
      write();
    });
    const description = structuredOr(row.description, `Meaning of option ${number}`, (text) => {
      row.description = text === "" ? null : text;
      write();
    });
    description.placeholder = "what it means (may stay empty)";
    return [row.input, description, card.owner.problems.slot(() => card.path("criteria", shown(row.label)), row.input)];
  }

  return table;
}

/** Rows of levels from lowest to highest. */
export function levelRows(card) {
  const given = card.question.get("criteria");
  const rows = (Array.isArray(given) ? given : []).map((level) => ({ level }));

  function write() {
    const levels = rows.map((row) => row.level).filter((level) => level !== "");
    card.edit((question) => question.set("criteria", levels), "criteria");
  }

  function cells(row, number) {
    row.input = structuredOr(row.level, `Level ${number - 1}`, (text) => {
      row.level = text;
      write();
    });
    const mark = el("span", { class: "level-number", "aria-hidden": "true" }, String(number - 1));
    return [mark, row.input, card.owner.problems.slot(() => card.path("criteria", number - 1), row.input)];
  }

  return rowTable(card, "Levels, lowest first", "Add a level", rows, () => ({ level: "" }), write, cells);
}

/** What yes and no mean. */
export function truthRows(card) {
  const side = (key, label, placeholder) => {
    const given = card.question.get("criteria");
    const name = given instanceof Map ? [...given.keys()].find((entry) => entry.toLowerCase() === key) : undefined;
    const control = structuredOr(name === undefined ? "" : given.get(name), label, (text) => {
      card.edit((question) => {
        const criteria = question.get("criteria") instanceof Map ? question.get("criteria") : new Map();
        if (text === "") criteria.delete(name ?? key);
        else criteria.set(name ?? key, text);
        if (criteria.size > 0) question.set("criteria", criteria);
        else question.delete("criteria");
      }, "criteria");
    });
    control.placeholder = placeholder;
    control.id = newId("truth");
    return el("div", { class: "field" }, el("label", { for: control.id }, label), control);
  };
  return el(
    "div",
    { class: "pair" },
    side("true", "Yes means", "may stay empty"),
    side("false", "No means", "may stay empty"),
  );
}

/** A text area for a text; read-only with the JSON of it for anything else, which only JSON can change. */
function structuredOr(value, label, changed) {
  const fixed = isContainer(value) || value instanceof JsonNumber || typeof value === "boolean";
  const area = growing(el("textarea", { rows: 1, value: shown(value), readOnly: fixed, "aria-label": label }));
  if (fixed) area.title = "Not a text: change it in JSON";
  area.addEventListener("input", () => changed(area.value));
  area.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.ctrlKey && !event.metaKey) event.preventDefault();
  });
  return area;
}

function rowTable(card, title, addText, rows, emptyRow, write, cells) {
  const titleId = newId("rows");
  const list = el("ol", { class: "rows", "aria-labelledby": titleId });
  const singular = addText.split(" ").at(-1);

  function draw() {
    list.replaceChildren(...rows.map((row, index) => el("li", { class: "row" }, cells(row, index + 1), remove(row, index + 1))));
  }

  function remove(row, number) {
    const button = el("button", { type: "button", class: "quiet square", "aria-label": `Remove ${singular} ${number}` }, icon("remove"));
    button.addEventListener("click", () => {
      rows.splice(rows.indexOf(row), 1);
      draw();
      write();
      (list.children[Math.min(number, rows.length) - 1]?.querySelector("button") ?? add).focus();
    });
    return button;
  }

  function append() {
    rows.push(emptyRow());
    draw();
    rows.at(-1).input.focus();
  }

  list.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.ctrlKey || event.metaKey || event.target.tagName === "BUTTON") return;
    event.preventDefault();
    append();
  });
  const add = el("button", { type: "button", class: "quiet", onclick: append }, icon("add"), addText);
  draw();
  return el(
    "div",
    { class: "criteria" },
    el("span", { class: "label", id: titleId }, title),
    list,
    add,
    card.owner.problems.slot(() => card.path("criteria"), add),
  );
}
