// The classes as answers: number keys for the first nine, typing for any, and a new one by its name.

import { cssColour } from "./colours.js";
import { breakable, byId, clip, count, make, percent, renew } from "./dom.js";

const SHOWN = 60;
const NUMBERED = 9;
const NAME_LIMIT = 200;

export class Choices {
  constructor(session) {
    this.session = session;
    this.input = make("input", {
      id: "classbox",
      type: "text",
      autocomplete: "off",
      spellcheck: "false",
      oninput: () => this.draw(),
      onkeydown: (event) => this.#key(event),
    });
    this.rows = make("div", { class: "rows", role: "group", "aria-label": "Give a label" });
    this.hint = make("label", { for: "classbox" });
    byId("choices").append(this.hint, this.rows, this.input);
    session.on("state", () => this.draw());
    session.on("card", ({ turned }) => this.draw(turned));
    session.on("labels", () => this.draw());
  }

  /** Classes that the typed letters are in, as indices; those that begin with them first.
   *
   * Where nothing is typed, those with a number keep their places, and the others follow, the likeliest first.
   */
  matches() {
    const typed = this.input.value.trim().toLowerCase();
    const classes = this.session.state?.classes ?? [];
    const indices = classes.map((_, index) => index);
    if (!typed) return [...indices.slice(0, NUMBERED), ...this.#likeliestFirst(indices.slice(NUMBERED))];
    const name = (index) => classes[index].name.toLowerCase();
    const rank = (index) => (name(index) === typed ? 0 : name(index).startsWith(typed) ? 1 : 2);
    return indices.filter((index) => name(index).includes(typed)).sort((one, other) => rank(one) - rank(other));
  }

  #likeliestFirst(indices) {
    const shares = this.#shares();
    const share = (index) => shares.get(this.session.className(index)) ?? 0;
    return indices.sort((one, other) => share(other) - share(one) || one - other);
  }

  #shares() {
    return new Map((this.session.card?.thinks ?? []).map((thought) => [thought.class, thought.probability]));
  }

  get newName() {
    const typed = this.input.value.trim();
    return typed && !this.session.state.classes.some(({ name }) => name === typed) ? typed : null;
  }

  focus() {
    this.input.focus();
  }

  draw(turned = false) {
    const { session } = this;
    if (!session.state || !session.card) return;
    if (turned) this.input.value = "";
    const { classes } = session.state;
    const none = classes.length === 0;
    const over = session.card.node === null;
    byId("answer").hidden = over && none;
    this.hint.textContent = none ? "Name the first class" : "What is it?";
    this.hint.classList.toggle("first", none);
    this.input.placeholder = none
      ? "for example: spam. Then press Enter"
      : classes.length > NUMBERED
        ? "Press / and type: any class, or a new one"
        : "Press / to type a class, or a new one";
    const found = this.matches();
    this.rows.classList.toggle("few", found.length <= 7);
    const shares = this.#shares();
    const rows = found.slice(0, SHOWN).map((index) => this.#row(index, shares));
    if (found.length > SHOWN)
      rows.push(
        make("p", { class: "hint", text: `${count(found.length - SHOWN)} more: type a part of the name.` }),
      );
    if (this.newName) rows.push(this.#newRow(this.newName, found.length === 0));
    renew(this.rows, ...rows);
    this.rows.toggleAttribute("inert", over);
  }

  #row(index, shares) {
    const { session } = this;
    const { node } = session.card;
    const share = shares.get(session.className(index)) ?? null;
    const chosen = session.labels.get(node) === index;
    const typing = this.input.value.trim() !== "";
    return make(
      "button",
      {
        type: "button",
        class: "choice",
        "--colour": cssColour(index),
        "--share": share ?? 0,
        "aria-pressed": String(chosen),
        title: clip(session.className(index), NAME_LIMIT),
        onclick: () => session.label(index),
      },
      index < NUMBERED && !typing ? make("kbd", { text: index + 1 }) : make("kbd", { class: "none" }),
      make("i", { class: "swatch" }),
      make("span", { class: "name" }, ...breakable(clip(session.className(index), 60))),
      share === null ? null : make("span", { class: "share", text: percent(share) }),
    );
  }

  #newRow(name, first) {
    return make(
      "button",
      { type: "button", class: "choice new", onclick: () => this.session.labelAs(name) },
      make("kbd", { text: first ? "⏎" : "+" }),
      make("span", { class: "name" }, "New class ", make("b", { text: clip(name, 60) }), " for this node"),
    );
  }

  async #key(event) {
    if (event.key === "Escape") {
      this.input.value = "";
      this.draw();
      this.input.blur();
    } else if (event.key === "Enter" && !event.isComposing) {
      event.preventDefault();
      const [found] = this.matches();
      if (!this.input.value.trim()) return;
      const done =
        found !== undefined ? await this.session.label(found) : await this.session.labelAs(this.newName);
      // Whoever typed a name goes on with the keys.
      if (done) byId("card").focus({ preventScroll: true });
    }
  }
}
