// Puts the page together.

import { announce, byId } from "./dom.js";
import { RequestDocument } from "./document.js";
import { JsonEditor } from "./editor.js";
import { Examples } from "./examples.js";
import { Form } from "./form.js";
import { icon } from "./icons.js";
import { Key } from "./key.js";
import { Problems } from "./problems.js";
import { problemsOf } from "./refusals.js";
import { Results } from "./results.js";
import { Server } from "./server.js";
import { CheckpointSelect } from "./settings-fields.js";
import { Snippets } from "./snippets.js";
import { tabs } from "./tabs.js";
import { theme } from "./theme.js";

const { base, key: keyNeed } = document.documentElement.dataset;
for (const place of document.querySelectorAll("[data-icon]")) place.prepend(icon(place.dataset.icon));

const request = new RequestDocument();
const problems = new Problems();
const key = new Key();
const server = new Server(base, key);
const views = tabs(byId("views"));
const editor = new JsonEditor(request);
const form = new Form(request, problems);
const checkpoint = new CheckpointSelect(request, problems);
const results = new Results(request);
const snippets = new Snippets(request, server);
const runButton = byId("run");
let running = null;

request.addEventListener("change", ({ detail }) => {
  checkpoint.draw();
  if (detail.origin !== "form") problems.setFromServer([]);
  editor.showRefusal(null);
});

function goTo(path) {
  const control = problems.controlAt(path);
  if (control) return control.focus();
  views.choose("json-tab");
  editor.showRefusal({ path, message: editor.refused?.message ?? "" });
  return editor.goToProblem();
}

/** Lead to what has to be mended before the request can be sent; whether there is anything. */
function needsMending() {
  if (request.error) {
    views.choose("json-tab");
    editor.goToProblem();
    announce(request.error.sentence);
    return true;
  }
  const mistaken = form.fields.inert ? null : problems.firstMistake;
  if (mistaken) {
    views.choose("form-tab");
    mistaken.focus();
  }
  return mistaken !== null;
}

async function run() {
  if (running || needsMending()) return;
  const asked = request.snapshot();
  running = new AbortController();
  showRunning(true);
  results.running();
  try {
    await ask(asked, running.signal);
  } catch (error) {
    if (error.name === "AbortError") results.dropped("Stopped");
    else results.failed("No answer", `The server at ${server.base.host} did not answer. Is it still running?`);
  } finally {
    running = null;
    showRunning(false);
  }
}

async function ask(asked, signal) {
  let response = await server.decide(asked.text, signal);
  while (response.status === 401) {
    results.dropped("The server wants a key");
    if (!(await unlock())) break;
    results.running();
    response = await server.decide(asked.text, signal);
  }
  const questions = asked.body instanceof Map ? asked.body.get("questions") : undefined;
  const known = questions instanceof Map ? questions : new Map();
  if (response.status === 200 && response.body instanceof Map) {
    problems.setFromServer([]);
    editor.showRefusal(null);
    return results.answered(response, known);
  }
  const found = problemsOf(response.body, known.keys());
  const located = found.filter(({ path }) => path.length > 0);
  problems.setFromServer(located);
  editor.showRefusal(located[0] ?? null);
  return results.refused(response, found, goTo);
}

function showRunning(active) {
  runButton.replaceChildren(icon(active ? "stop" : "run"), active ? "Stop" : "Run");
  runButton.classList.toggle("busy", active);
}

async function offerCheckpoints() {
  const { status, checkpoints } = await server.checkpoints().catch(() => ({ status: 0, checkpoints: [] }));
  checkpoint.offer(checkpoints);
  return status;
}

/** Ask for a key until the server takes it; whether it did. */
async function unlock() {
  do {
    const message = key.given ? "The server does not know this key." : "";
    if (!(await key.ask(message))) return false;
    snippets.draw();
  } while ((await offerCheckpoints()) === 401);
  return true;
}

runButton.addEventListener("click", () => (running ? running.abort() : run()));
document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || key.dialog.open) return;
  event.preventDefault();
  run();
});
byId("skip").addEventListener("click", (event) => {
  event.preventDefault();
  byId("results-title").focus();
});
for (const label of document.querySelectorAll("[data-modifier]")) {
  label.textContent = /Mac|iPhone|iPad/.test(navigator.platform) ? "⌘" : "Ctrl";
}

theme();
snippets.draw();
await new Examples(request).start();
if (keyNeed === "required") await unlock();
else await offerCheckpoints();
