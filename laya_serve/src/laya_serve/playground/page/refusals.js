// What a refusal of the server is about: its text or list of details as problems with a path in the request.

import { isContainer, compact } from "./json.js";

const FIELDS = ["state", "questions", "model", "task", "lang_guess", "lang", "head_max_len", "max_len", "min_confidence"];

const QUESTION_PARTS = [
  [/^instructions/, "instructions"],
  [/^type/, "type"],
  [/^(criteria|the label|labels? |level)/, "criteria"],
];

/**
 * The problems of a refusal: `{path, message}` each; an empty path is about no field.
 * @param {*} body the answer's body, read.
 * @param {Iterable<string>} ids of the questions that were asked.
 */
export function problemsOf(body, ids) {
  const detail = body instanceof Map ? body.get("detail") : undefined;
  if (Array.isArray(detail)) return detail.filter((entry) => entry instanceof Map).map(located);
  const message = detail instanceof Map ? (detail.get("message") ?? compact(detail)) : detail;
  const text = typeof message === "string" ? message : isContainer(message) ? compact(message) : "";
  return text === "" ? [] : [inQuestion(text, [...ids]) ?? { path: fieldIn(text), message: text }];
}

function located(entry) {
  const loc = (entry.get("loc") ?? []).map((step) => (typeof step === "string" ? step : Number(step)));
  return { path: loc[0] === "body" ? loc.slice(1) : loc, message: String(entry.get("msg") ?? compact(entry)) };
}

/** A refusal that begins with "question 'id': " belongs to that question, and to its part that is named next. */
function inQuestion(text, ids) {
  for (const id of ids.sort((one, other) => other.length - one.length)) {
    const prefix = quoted(id).map((name) => `question ${name}: `).find((start) => text.startsWith(start));
    if (prefix === undefined) continue;
    const message = text.slice(prefix.length);
    const part = QUESTION_PARTS.find(([pattern]) => pattern.test(message));
    return { path: ["questions", id, ...(part ? [part[1]] : [])], message };
  }
  return null;
}

function quoted(id) {
  return [`'${id}'`, `"${id}"`, JSON.stringify(id)];
}

function fieldIn(text) {
  const field = FIELDS.find((name) => new RegExp(`(^|\\W)${name}(\\W|$)`).test(text));
  return field === undefined ? [] : [field];
}
