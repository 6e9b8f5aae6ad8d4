// Tabs as screen readers and keyboards expect them: one stop for Tab, arrow keys among them.

/**
 * Make the buttons in a `role=tablist` work.
 * @param {HTMLElement} list its buttons name their panels by aria-controls.
 * @param {(id: string) => void} selected is told the id of the chosen button.
 */
export function tabs(list, selected = () => {}) {
  const buttons = [...list.querySelectorAll('[role="tab"]')];

  function choose(chosen, focus = false) {
    for (const button of buttons) {
      const active = button === chosen;
      button.setAttribute("aria-selected", String(active));
      button.tabIndex = active ? 0 : -1;
      document.getElementById(button.getAttribute("aria-controls")).hidden = !active;
    }
    if (focus) chosen.focus();
    selected(chosen.id);
  }

  list.addEventListener("click", (event) => {
    const button = event.target.closest('[role="tab"]');
    if (button) choose(button);
  });
  list.addEventListener("keydown", (event) => {
    const from = buttons.indexOf(document.activeElement);
    const to = { ArrowRight: from + 1, ArrowLeft: from - 1, Home: 0, End: buttons.length - 1 }[event.key];
    if (to === undefined || from < 0) return;
    event.preventDefault();
    choose(buttons[(to + buttons.length) % buttons.length], true);
  });
  return { choose: (id) => choose(document.getElementById(id)) };
}
