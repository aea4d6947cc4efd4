// What the server has to say, one line each, above everything else; and what a screen reader should hear.

import { byId, make, renew } from "./dom.js";

export class Notices {
  constructor(session) {
    this.session = session;
    this.said = [];
    this.dismissed = new Set();
    this.trouble = null;
    this.connection = null;
    session.on("trouble", (words) => {
      this.trouble = words;
      this.#draw();
    });
    session.on("connection", (words) => this.#connect(words));
    session.on("state", () => this.#hear(session.state.messages));
  }

  /** An answer that could not be sent is not saved for the same reason as long as there is one. */
  #connect(words) {
    if (this.#isCut()) this.trouble = words && this.trouble.replace(this.connection, words);
    this.connection = words;
    this.#draw();
  }

  #isCut() {
    return Boolean(this.connection && this.trouble?.includes(this.connection));
  }

  /** What the server no longer says is mended, also where it was the answer to a key. */
  #hear(said) {
    const mended = (words) => this.said.includes(words) && !said.includes(words);
    if (mended(this.trouble)) this.trouble = null;
    for (const words of this.dismissed) if (!said.includes(words)) this.dismissed.delete(words);
    this.said = said;
    this.#draw();
  }

  #dismiss(words) {
    if (this.trouble === words) this.trouble = null;
    if (this.said.includes(words)) this.dismissed.add(words);
    this.#draw();
  }

  /** Every sentence stands on one line only, that of the worst it means. */
  #draw() {
    const { connection, trouble } = this;
    const cut = this.#isCut();
    const lines = [
      connection && this.#line("lost", cut ? trouble : connection),
      trouble && !cut && this.#line("trouble", trouble),
      ...this.said
        .filter((words) => words !== trouble && !this.dismissed.has(words))
        .map((words) => this.#line("message", words)),
    ].filter(Boolean);
    // An alert that stands already is left alone, or it would be read out again.
    renew(byId("notices"), ...lines);
  }

  #line(kind, words) {
    const dismiss = () => this.#dismiss(words);
    return make(
      "p",
      { class: `notice ${kind}`, role: kind === "message" ? "status" : "alert" },
      make("span", { text: String(words).slice(0, 600) }),
      kind === "lost"
        ? null
        : make("button", { type: "button", "aria-label": "Dismiss this message", text: "×", onclick: dismiss }),
    );
  }
}

/** Words for people who do not see the page change. */
export function announce(words) {
  byId("announcer").textContent = words;
}
