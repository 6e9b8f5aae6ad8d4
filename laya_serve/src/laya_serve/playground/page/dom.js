// Builds elements. Text is always text: nothing here reads HTML.

/**
 * An element. Properties that begin with "on" are listeners, "class" and names with a dash are attributes, a function
 * as `ref` receives the element; children that are null or false are left out.
 */
export function el(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "ref") value(element);
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class" || name === "for" || name === "role" || name === "list" || name.includes("-"))
      element.setAttribute(name, value === true ? "" : value);
    else element[name] = value;
  }
  element.append(...children.flat(2).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export function byId(id) {
  return document.getElementById(id);
}

let numbered = 0;

/** An id that no other element has. */
export function newId(prefix) {
  numbered += 1;
  return `${prefix}-${numbered}`;
}

/** Say something to a screen reader, and show it in the status line. */
export function announce(text) {
  byId("status").textContent = text;
}

/** A text area as tall as its text; after setting its value call its `fit`. */
export function growing(area) {
  const fit = () => {
    area.style.blockSize = "auto";
    area.style.blockSize = `${area.scrollHeight + area.offsetHeight - area.clientHeight}px`;
  };
  area.fit = fit;
  area.addEventListener("input", fit);
  new ResizeObserver(([entry]) => {
    if (entry.contentRect.width !== area.fittedWidth) {
      area.fittedWidth = entry.contentRect.width;
      fit();
    }
  }).observe(area);
  return area;
}
