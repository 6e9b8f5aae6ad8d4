// What a response says besides its answers: who answered and why, what was cut, how long it took.

import { el } from "./dom.js";
import { icon } from "./icons.js";
import { compact, isContainer } from "./json.js";

const DETECTION = {
  language: "Language",
  script: "Script",
  is_english: "English",
  language_undecided: "Language undecided",
  non_latin_fraction: "Letters of other scripts",
  mixed_segment: "Mixed part",
};

/** The checkpoint and the reason, from the body or, where that has no room for them, from the headers. */
export function routing({ body, headers }) {
  const block = body.get("routing");
  const told = block instanceof Map ? block : new Map();
  const model = told.get("model") ?? headers.get("x-laya-model");
  const reason = told.get("reason") ?? headers.get("x-laya-route-reason");
  if (!model && !reason) return null;
  return el(
    "section",
    { class: "routing", "aria-label": "Routing" },
    el("p", {}, "Answered by ", el("strong", {}, model ?? "a checkpoint it does not name"), reason && el("span", { class: "reason" }, reason)),
    detection(told.get("detection")),
  );
}

function detection(found) {
  if (!(found instanceof Map)) return null;
  const rows = Object.entries(DETECTION).filter(([key]) => found.has(key) && found.get(key) !== null);
  return el(
    "details",
    {},
    el("summary", {}, "What was noticed in the text"),
    el("dl", { class: "pairs" }, rows.map(([key, name]) => [el("dt", {}, name), el("dd", {}, shown(found.get(key)))])),
  );
}

function shown(value) {
  if (value === true) return "yes";
  if (value === false) return "no";
  return typeof value === "string" ? value : compact(value);
}

/** Warnings about what the model did not get to read. */
export function warnings(usage) {
  if (!(usage instanceof Map)) return null;
  const texts = [...stateCut(usage), ...optionsCut(usage.get("options"))];
  return texts.length > 0 && el("ul", { class: "warnings", "aria-label": "Warnings" }, texts.map((text) => el("li", {}, icon("warning"), text)));
}

function stateCut(usage) {
  if (!isTrue(usage.get("truncated"))) return [];
  const questions = usage.get("truncated_questions");
  const named = Array.isArray(questions) && questions.length > 0 ? ` (${questions.join(", ")})` : "";
  const dropped = usage.get("state_tokens_dropped");
  const total = usage.get("state_tokens");
  const amount = dropped === undefined ? "part" : `${compact(dropped)} of ${compact(total ?? null)} tokens`;
  return [`The state was too long: ${amount} of it were not read${named}. Shorten it, or raise the token budget.`];
}

function optionsCut(options) {
  if (!(options instanceof Map)) return [];
  return [...options].map(([id, cut]) => {
    const of = (key) => (cut instanceof Map && cut.has(key) ? compact(cut.get(key)) : "?");
    return `The options of ${id} were cut to ${of("tokens_per_option")} tokens each; of ${of("total")} only ${of("distinct")} still differ.`;
  });
}

function isTrue(value) {
  return value === true || Number(value) > 0;
}

/** Times, tokens and the id of the request, on one line. */
export function figures({ body, headers, milliseconds }) {
  const usage = body.get("usage");
  const tokens = usage instanceof Map ? usage.get("input_tokens") : undefined;
  const inference = headers.get("x-inference-time-ms");
  const parts = [
    inference && `${Number(inference).toFixed(0)} ms inference`,
    `${milliseconds.toFixed(0)} ms in all`,
    tokens !== undefined && `${compact(tokens)} tokens`,
    headers.get("x-request-id") && `request ${headers.get("x-request-id")}`,
  ];
  return el("p", { class: "figures" }, parts.filter(Boolean).map((part) => el("span", {}, part)));
}

/** The response itself. */
export function rawResponse({ text, body }, write) {
  const pretty = isContainer(body) ? write(body) : text;
  return el("details", { class: "raw" }, el("summary", {}, "Response"), el("pre", { class: "code", tabIndex: 0 }, pretty));
}
