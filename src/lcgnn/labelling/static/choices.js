// The classes as answers: number keys for the first nine, typing for any, and a new one by its name.

import { cssColour } from "./colours.js";
import { breakable, byId, clip, count, focusCard, make, percent, renew } from "./dom.js";
import { announce } from "./notices.js";

const SHOWN = 60;
const NUMBERED = 9;
const NAME_LIMIT = 200;
const ENTER = "⏎";

const keyOf = (text) => (text === null ? make("kbd", { class: "none" }) : make("kbd", { text }));

export class Choices {
  constructor(session) {
    this.session = session;
    /** The name of the row that the arrow keys led to; null where what was typed decides. */
    this.chosen = null;
    this.input = make("input", {
      id: "classbox",
      type: "text",
      autocomplete: "off",
      spellcheck: "false",
      oninput: () => this.#choose(null),
      onkeydown: (event) => this.#key(event),
    });
    this.rows = make("div", { class: "rows", role: "group", "aria-label": "Give a label" });
    this.hint = make("label", { for: "classbox" });
    byId("choices").append(this.hint, this.rows, this.input);
    session.on("state", () => this.draw());
    session.on("card", ({ turned }) => this.draw(turned));
    session.on("labels", () => this.draw());
  }

  /** Classes that the typed letters are in, as indices; the one of that name first, then those that begin with it.
   *
   * Where nothing is typed, those with a number keep their places, and the others follow, the likeliest first.
   */
  matches() {
    const written = this.input.value.trim();
    const typed = written.toLowerCase();
    const classes = this.session.state?.classes ?? [];
    const indices = classes.map((_, index) => index);
    if (!typed) return [...indices.slice(0, NUMBERED), ...this.#likeliestFirst(indices.slice(NUMBERED))];
    const name = (index) => classes[index].name.toLowerCase();
    const rank = (index) => {
      if (name(index) === typed) return classes[index].name === written ? 0 : 1;
      return name(index).startsWith(typed) ? 2 : 3;
    };
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

  /** What can be given, in the order of the rows: the typed name comes first, whether it is a class already or not.
   *
   * A class that has the typed letters in it is one to choose; to take it unasked would give a label that nobody meant.
   */
  #options() {
    const typed = this.input.value.trim().toLowerCase();
    const found = this.matches()
      .slice(0, SHOWN)
      .map((index) => ({ name: this.session.className(index), index }));
    if (!this.newName) return found;
    const made = { name: this.newName, index: null };
    return found[0]?.name.toLowerCase() === typed ? [...found, made] : [made, ...found];
  }

  /** The option that Enter gives: the chosen one, or else the typed name. */
  #taken(options) {
    const chosen = options.find(({ name }) => name === this.chosen);
    return chosen ?? (this.input.value.trim() ? options[0] : undefined);
  }

  #choose(name) {
    this.chosen = name;
    this.draw();
  }

  #step(by) {
    const options = this.#options();
    if (!options.length) return;
    const at = options.indexOf(this.#taken(options));
    const next = at < 0 && by < 0 ? options.length - 1 : (at + by + options.length) % options.length;
    this.#choose(options[next].name);
    this.rows.querySelector(".taken")?.scrollIntoView({ block: "nearest" });
    announce(`Enter gives ${options[next].index === null ? "the new class " : ""}${clip(options[next].name, 60)}`);
  }

  focus() {
    this.input.focus();
  }

  draw(turned = false) {
    const { session } = this;
    if (!session.state || !session.card) return;
    if (turned) this.#clear();
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
    const found = this.matches().length;
    this.rows.classList.toggle("few", found <= 7);
    renew(this.rows, ...this.#drawRows(found - SHOWN));
    this.rows.toggleAttribute("inert", over);
  }

  #drawRows(more) {
    const shares = this.#shares();
    const options = this.#options();
    const taken = this.#taken(options);
    const rows = options.map((option) =>
      option.index === null
        ? this.#newRow(option.name, option === taken)
        : this.#row(option.index, shares, option === taken),
    );
    if (more > 0) rows.push(make("p", { class: "hint", text: `${count(more)} more: type a part of the name.` }));
    return rows;
  }

  #clear() {
    this.input.value = "";
    this.chosen = null;
  }

  #row(index, shares, taken) {
    const { session } = this;
    const { node } = session.card;
    const share = shares.get(session.className(index)) ?? null;
    const chosen = session.labels.get(node) === index;
    const number = index < NUMBERED && !this.input.value.trim() ? index + 1 : null;
    return make(
      "button",
      {
        type: "button",
        class: taken ? "choice taken" : "choice",
        "--colour": cssColour(index),
        "--share": share ?? 0,
        "aria-pressed": String(chosen),
        title: clip(session.className(index), NAME_LIMIT),
        onclick: () => session.label(index),
      },
      keyOf(taken ? ENTER : number),
      make("i", { class: "swatch" }),
      make("span", { class: "name" }, ...breakable(clip(session.className(index), 60))),
      share === null ? null : make("span", { class: "share", text: percent(share) }),
    );
  }

  #newRow(name, taken) {
    return make(
      "button",
      {
        type: "button",
        class: taken ? "choice new taken" : "choice new",
        title: clip(name, NAME_LIMIT),
        onclick: () => this.session.labelAs(name),
      },
      keyOf(taken ? ENTER : null),
      make("span", { class: "name" }, "New class ", make("bdi", { text: clip(name, 60) }), " for this node"),
    );
  }

  async #key(event) {
    if (event.isComposing) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      this.#step(step);
    } else if (event.key === "Escape") {
      this.#clear();
      this.draw();
      this.input.blur();
    } else if (event.key === "Enter") {
      event.preventDefault();
      await this.#give(this.#taken(this.#options()));
    }
  }

  async #give(option) {
    if (!option) return;
    const { name, index } = option;
    const done = index === null ? await this.session.labelAs(name) : await this.session.label(index);
    // Whoever typed a name goes on with the keys.
    if (done) focusCard();
  }
}
