// Light, dark, or as the system has it.

import { announce, byId } from "./dom.js";
import { icon } from "./icons.js";

const STORE = "laya-playground-theme";
const THEMES = ["system", "light", "dark"];

function stored() {
  try {
    return localStorage.getItem(STORE);
  } catch {
    return null; // storage may be forbidden; the choice then lasts as long as the page
  }
}

function store(theme) {
  try {
    localStorage.setItem(STORE, theme);
  } catch {
    // as above
  }
}

/** Make the theme button work. */
export function theme() {
  const button = byId("theme");
  let current = THEMES.includes(stored()) ? stored() : "system";

  function show() {
    document.documentElement.dataset.theme = current;
    button.replaceChildren(icon(current));
    button.setAttribute("aria-label", `Colours: ${current}. Change`);
    button.title = `Colours: ${current}`;
  }

  button.addEventListener("click", () => {
    current = THEMES[(THEMES.indexOf(current) + 1) % THEMES.length];
    store(current);
    show();
    announce(`Colours: ${current}`);
  });
  show();
}
