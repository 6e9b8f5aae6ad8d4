// One card for each answer.

import { bars, percent, scale } from "./bars.js";
import { el } from "./dom.js";
import { compact } from "./json.js";

/** The card of an answer; `question` is what was asked, if it is known. */
export function answerCard(id, answer, question) {
  const described = question instanceof Map ? question : new Map();
  const { headline, chart } = (READERS[answer.get("type")] ?? readUnknown)(id, answer, described);
  const asked = described.get("instructions");
  return el(
    "li",
    { class: "card answer" },
    el(
      "div",
      { class: "answer-head" },
      el("h3", {}, id),
      asked !== undefined && asked !== "" && el("p", { class: "asked" }, typeof asked === "string" ? asked : compact(asked)),
    ),
    el("p", { class: "headline" }, headline),
    facts(answer),
    chart,
    gate(answer),
  );
}

const READERS = { choice: readChoice, score: readScore, noul: readNoul };

function readChoice(id, answer) {
  const chosen = compactLabel(answer.get("choice"));
  const rows = entries(answer.get("probabilities")).map(([label, share]) => ({ label, share, chosen: label === chosen }));
  const narrowed = answer.get("x_tournament");
  return {
    headline: chosen,
    chart: [bars(`Probabilities of ${id}`, rows), narrowed && el("p", { class: "hint" }, tournament(narrowed, rows.length))],
  };
}

function readScore(id, answer) {
  const legend = answer.get("legend");
  const shares = entries(answer.get("probabilities"));
  const likeliest = Math.max(...shares.map(([, share]) => share));
  const rows = shares.map(([level, share]) => {
    const text = legend instanceof Map ? compactLabel(legend.get(level)) : "";
    return { label: text ? `${level} · ${text}` : level, share, chosen: share === likeliest };
  });
  const score = Number(answer.get("score"));
  const highest = Math.max(rows.length - 1, 0);
  return {
    headline: [score.toFixed(2), el("small", {}, ` of ${highest}`)],
    chart: [scale(score, highest), bars(`Probabilities of ${id}`, rows)],
  };
}

function readNoul(id, answer, question) {
  const yes = Number(answer.get("noul"));
  const labels = question.get("labels");
  const word = (key, usual) => (labels instanceof Map ? compactLabel(labels.get(key) ?? usual) : usual);
  const holds = yes >= 0.5;
  const rows = [
    { label: word("true", "yes"), share: yes, chosen: holds },
    { label: word("false", "no"), share: 1 - yes, chosen: !holds },
  ];
  return { headline: rows.find((row) => row.chosen).label, chart: bars(`Probabilities of ${id}`, rows) };
}

function readUnknown(id, answer) {
  return { headline: String(answer.get("type") ?? "answer"), chart: el("pre", { class: "code" }, compact(answer)) };
}

function entries(probabilities) {
  return probabilities instanceof Map ? [...probabilities].map(([label, share]) => [label, Number(share)]) : [];
}

function compactLabel(value) {
  return typeof value === "string" ? value : compact(value ?? null);
}

function facts(answer) {
  const known = [
    ["confidence", "How far from a tie the answer is"],
    ["answer_confidence", "The probability of the reported answer"],
    ["x_jev_confidence", "Confidence as TypeSafe defines it"],
  ].filter(([name]) => answer.has(name));
  const acting = answer.get("action");
  const act = acting instanceof Map ? acting.get("act_probability") : undefined;
  if (act !== undefined && Number(act) < 1) known.push(["act_probability", "The probability that acting beats handing over", Number(act)]);
  return (
    known.length > 0 &&
    el(
      "dl",
      { class: "facts" },
      known.map(([name, meaning, value = Number(answer.get(name))]) =>
        el("div", { title: meaning }, el("dt", {}, name), el("dd", {}, percent(value))),
      ),
    )
  );
}

function gate(answer) {
  const state = answer.get("abstention");
  if (state === undefined) return null;
  const threshold = Number(answer.get("abstention_threshold"));
  const texts = {
    passed: `At or above the gate of ${percent(threshold)}`,
    abstained: `Below the gate of ${percent(threshold)}: do not act on it unseen`,
    unevaluated: `The gate of ${percent(threshold)} could not decide`,
  };
  return el("p", { class: state === "passed" ? "gate passed" : "gate" }, texts[state] ?? String(state));
}

function tournament(narrowed, options) {
  const rounds = narrowed instanceof Map ? narrowed.get("rounds") : undefined;
  return `Narrowed from ${options} options${rounds === undefined ? "" : ` in ${compact(rounds)} rounds`}.`;
}
