// Finding a node by its id: a box with what the server found beneath, for mouse and keys.

import { byId, clip, focusCard, make, show } from "./dom.js";
import { get, ServerError } from "./server.js";

const PAUSE = 120;

export class Search {
  constructor(session) {
    this.session = session;
    this.input = byId("search");
    this.list = byId("found");
    this.found = [];
    this.at = -1;
    this.input.addEventListener("input", () => this.#later());
    this.input.addEventListener("keydown", (event) => this.#key(event));
    this.input.addEventListener("blur", () => this.#close());
  }

  #later() {
    clearTimeout(this.timer);
    // What was found for fewer letters is not what Enter opens.
    this.found = [];
    this.timer = setTimeout(() => this.#ask(), PAUSE);
  }

  async #ask() {
    const typed = this.input.value.trim();
    if (!typed) return this.#close();
    try {
      const { found } = await get(`/api/search?q=${encodeURIComponent(typed.slice(0, 200))}`);
      if (typed === this.input.value.trim()) this.#offer(found);
    } catch (error) {
      if (!(error instanceof ServerError)) throw error;
      this.session.tell("trouble", error.message);
    }
    return undefined;
  }

  #offer(found) {
    this.found = found;
    this.at = found.length ? 0 : -1;
    this.list.replaceChildren(
      ...(found.length
        ? found.map(({ id, node, position }, index) =>
            make(
              "li",
              {
                id: `found-${index}`,
                role: "option",
                onpointerdown: (event) => {
                  event.preventDefault();
                  this.#open(node);
                },
              },
              make("span", { text: clip(id, 80) }),
              position === null ? make("small", { text: "not on the map" }) : null,
            ),
          )
        : [make("li", { class: "none", text: "No node has such an id." })]),
    );
    show(this.list, true);
    this.input.setAttribute("aria-expanded", "true");
    this.#choose();
  }

  #choose() {
    [...this.list.children].forEach((line, index) =>
      line.setAttribute("aria-selected", String(index === this.at)),
    );
    if (this.at >= 0) {
      this.input.setAttribute("aria-activedescendant", `found-${this.at}`);
      this.list.children[this.at].scrollIntoView({ block: "nearest" });
    } else this.input.removeAttribute("aria-activedescendant");
  }

  #close() {
    clearTimeout(this.timer);
    show(this.list, false);
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
    this.found = [];
  }

  #open(node) {
    this.session.open(node);
    this.input.value = "";
    this.#close();
    this.input.blur();
    focusCard();
  }

  async #key(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && this.found.length) {
      event.preventDefault();
      this.at = (this.at + step + this.found.length) % this.found.length;
      this.#choose();
    } else if (event.key === "Enter") {
      event.preventDefault();
      clearTimeout(this.timer);
      if (!this.found.length) await this.#ask();
      if (this.found.length) this.#open(this.found[this.at].node);
    } else if (event.key === "Escape") {
      this.input.value = "";
      this.#close();
      this.input.blur();
    }
  }
}
