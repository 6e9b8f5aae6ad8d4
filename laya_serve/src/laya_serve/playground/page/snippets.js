// The request as a call of curl or as a Python program. A key never appears in them: both read it from LAYA_API_KEY.

import { announce, byId } from "./dom.js";
import { icon } from "./icons.js";
import { write } from "./json.js";
import { tabs } from "./tabs.js";

const PYTHON_WORDS = { true: "True", false: "False", null: "None" };

/** A command line for a POSIX shell. */
export function curl(url, text, withKey) {
  const lines = [`curl -s ${shellQuoted(url)}`, "-H 'content-type: application/json'"];
  if (withKey) lines.push('-H "authorization: Bearer $LAYA_API_KEY"');
  lines.push(`-d ${shellQuoted(text)}`);
  return lines.join(" \\\n  ");
}

function shellQuoted(text) {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** A program that needs httpx. */
export function python(url, body, withKey) {
  const literal = write(body, { words: PYTHON_WORDS, comma: ",", step: "    " });
  const lines = [
    ...(withKey ? ["import os", ""] : []),
    "import httpx",
    "",
    `request = ${literal}`,
    "response = httpx.post(",
    `    ${JSON.stringify(url)},`,
    ...(withKey ? [`    headers={"Authorization": f"Bearer {os.environ['LAYA_API_KEY']}"},`] : []),
    "    json=request,",
    "    timeout=60,",
    ")",
    "response.raise_for_status()",
    'for question, answer in response.json()["answers"].items():',
    "    print(question, answer)",
  ];
  return lines.join("\n") + "\n";
}

/** The panel that shows and copies them. */
export class Snippets {
  constructor(requestDocument, server) {
    this.document = requestDocument;
    this.server = server;
    tabs(byId("snippet-tabs"));
    this.texts = { curl: byId("curl-text"), python: byId("python-text") };
    for (const name of Object.keys(this.texts)) {
      byId(`copy-${name}`).addEventListener("click", (event) => this.#copy(name, event.currentTarget));
    }
    requestDocument.addEventListener("change", () => this.draw());
  }

  draw() {
    const { text, body, error } = this.document;
    byId("snippets").classList.toggle("outdated", error !== null);
    if (error) return;
    const { decisionUrl, key } = this.server;
    const withKey = key.given || document.documentElement.dataset.key === "required";
    this.texts.curl.textContent = curl(decisionUrl, text.trim(), withKey);
    this.texts.python.textContent = python(decisionUrl, body, withKey);
  }

  async #copy(name, button) {
    const text = this.texts[name].textContent;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      copyBySelection(text); // no clipboard over plain HTTP
    }
    announce(`Copied as ${name === "curl" ? "curl" : "Python"}`);
    button.querySelector(".icon").replaceWith(icon("done"));
    setTimeout(() => button.querySelector(".icon").replaceWith(icon("copy")), 1600);
  }
}

function copyBySelection(text) {
  const area = document.createElement("textarea");
  const focused = document.activeElement;
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
  focused?.focus();
}
