// What the server has to say, one line each, above everything else; and what a screen reader should hear.

import { byId, make } from "./dom.js";

export class Notices {
  constructor(session) {
    this.session = session;
    this.dismissed = new Set();
    this.trouble = null;
    this.connection = null;
    session.on("trouble", (words) => this.#set("trouble", words));
    session.on("connection", (words) => this.#set("connection", words));
    session.on("state", () => this.#draw());
  }

  #set(what, words) {
    if (this[what] === words) return;
    this[what] = words;
    this.#draw();
  }

  #draw() {
    const said = this.session.state?.messages ?? [];
    for (const words of this.dismissed) if (!said.includes(words)) this.dismissed.delete(words);
    const lines = [
      this.connection && this.#line("lost", this.connection, null),
      this.trouble && this.#line("trouble", this.trouble, () => this.#set("trouble", null)),
      ...said
        .filter((words) => !this.dismissed.has(words))
        .map((words) =>
          this.#line("message", words, () => {
            this.dismissed.add(words);
            this.#draw();
          }),
        ),
    ].filter(Boolean);
    // An alert that stands already is left alone, or it would be read out again.
    const box = byId("notices");
    const before = [...box.children].map((line) => line.dataset.words);
    if (before.join("\n") !== lines.map((line) => line.dataset.words).join("\n")) box.replaceChildren(...lines);
  }

  #line(kind, words, dismiss) {
    const shown = String(words).slice(0, 600);
    return make(
      "p",
      { class: `notice ${kind}`, role: kind === "message" ? "status" : "alert", "data-words": shown },
      make("span", { text: shown }),
      dismiss &&
        make("button", { type: "button", "aria-label": "Dismiss this message", text: "×", onclick: dismiss }),
    );
  }
}

/** Words for people who do not see the page change. */
export function announce(words) {
  byId("announcer").textContent = words;
}
