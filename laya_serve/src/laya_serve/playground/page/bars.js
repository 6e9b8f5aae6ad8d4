// Probabilities as bars: a table, so that it reads well without seeing it.

import { el } from "./dom.js";

const SHOWN_AT_FIRST = 12;

export function percent(share) {
  return `${(100 * share).toFixed(1)}%`;
}

/**
 * A chart.
 * @param {string} caption
 * @param {{label: string, share: number, chosen: boolean}[]} rows in the order of the question; of very many the
 *   likeliest come first and the rest waits behind a button.
 */
export function bars(caption, rows) {
  const many = rows.length > SHOWN_AT_FIRST;
  const sorted = many ? rows.toSorted((one, other) => other.share - one.share) : rows;
  const body = el("tbody", {}, sorted.slice(0, SHOWN_AT_FIRST).map(bar));
  const table = el("table", { class: "bars" }, el("caption", { class: "unseen" }, caption), body);
  if (!many) return table;
  const more = el("button", { type: "button", class: "quiet" }, `Show all ${rows.length}`);
  more.addEventListener("click", () => {
    body.replaceChildren(...sorted.map(bar));
    more.remove();
  });
  return el("div", {}, table, more);
}

function bar({ label, share, chosen }) {
  const fill = el("span", { class: "fill" });
  fill.style.inlineSize = percent(Math.min(1, Math.max(0, share)));
  return el(
    "tr",
    { class: chosen ? "chosen" : "" },
    el("th", { scope: "row" }, label, chosen && el("span", { class: "unseen" }, " (the answer)")),
    el("td", { class: "track", "aria-hidden": "true" }, fill),
    el("td", { class: "share" }, percent(share)),
  );
}

/** A line from the lowest to the highest level with a dot at the score. */
export function scale(score, highest) {
  const dot = el("span", { class: "dot" });
  dot.style.insetInlineStart = percent(highest > 0 ? score / highest : 0);
  const ticks = Array.from({ length: highest + 1 }, (_, level) => {
    const tick = el("span", { class: "tick" });
    tick.style.insetInlineStart = percent(highest > 0 ? level / highest : 0);
    return tick;
  });
  return el("div", { class: "scale", "aria-hidden": "true" }, ticks, dot);
}
