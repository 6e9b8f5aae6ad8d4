// Icons as outlines of 16 by 16. They are for the eye only: the control around one has the words.

const OUTLINES = {
  add: "M8 3v10M3 8h10",
  remove: "M4 4l8 8M12 4l-8 8",
  up: "M8 13V3.5M4 7.5l4-4 4 4",
  copy: "M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z",
  done: "M3 8.5l3.5 3.5L13 4.5",
  key: "M10.5 2.5a3 3 0 1 0 0 6 3 3 0 0 0 0-6M8.4 7.6L2.5 13.5M4.3 11.7l1.9 1.9",
  light: "M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6M8 1v1.5M8 13.5V15M1 8h1.5M13.5 8H15M3 3l1 1M12 12l1 1M13 3l-1 1M4 12l-1 1",
  dark: "M13.5 9.5A6 6 0 0 1 6.5 2.5a6 6 0 1 0 7 7z",
  system: "M2 3h12v8H2zM5.5 14h5M8 11v3",
  warning: "M8 2.2l6.3 11.3H1.7zM8 6.5v3.2M8 11.6v.1",
  run: "M5 3.2v9.6l8-4.8z",
  stop: "M4.5 4.5h7v7h-7z",
};

const SVG = "http://www.w3.org/2000/svg";

/** An icon by name. */
export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", OUTLINES[name]);
  svg.append(path);
  return svg;
}
