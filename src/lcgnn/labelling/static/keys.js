// One letter or number for everything that is done often. They can be turned off for people who dictate.

import { byId } from "./dom.js";

const KEPT = "lcgnn label: keys";

const typing = (element) => element.matches?.("input:not([type=checkbox]), textarea, select, [contenteditable]");

export class Keys {
  constructor(session, { card, dialogs }) {
    this.on = localStorage.getItem(KEPT) !== "off";
    const { choices, explanation } = card;
    this.actions = {
      s: () => session.skip(),
      u: () => session.unsure(),
      z: () => session.undo(),
      Backspace: () => session.undo(),
      n: () => session.next(),
      e: () => explanation.toggle(),
      f: () => byId("search").focus(),
      m: () => byId("overlay").focus(),
      "/": () => choices.focus(),
      "?": () => dialogs().help(),
    };
    for (let digit = 1; digit <= 9; digit += 1) this.actions[digit] = () => session.label(digit - 1);
    document.addEventListener("keydown", (event) => this.#press(event));
  }

  turn(on) {
    this.on = on;
    localStorage.setItem(KEPT, on ? "on" : "off");
  }

  #press(event) {
    if (!this.on || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing)
      return;
    if (event.repeat || typing(event.target) || byId("dialog").open) return;
    if (event.key === "Escape") {
      byId("exports").open = false;
      return;
    }
    const act = this.actions[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }
}
