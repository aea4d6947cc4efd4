// The card: one node as a person reads it, why it was suggested, and its neighbours.

import { Choices } from "./choices.js";
import { cssColour } from "./colours.js";
import { byId, clip, count, focusCard, make, renew } from "./dom.js";
import { Explanation } from "./explanation.js";
import { announce } from "./notices.js";

const LONG = 420;

export class Card {
  constructor(session, map) {
    this.session = session;
    this.choices = new Choices(session);
    this.explanation = new Explanation(session, map);
    this.opened = new Set();
    session.on("card", ({ turned }) => this.#turn(turned));
    session.on("state", () => this.#draw());
    session.on("busy", () => byId("card").classList.toggle("busy", session.busy));
    for (const action of ["skip", "unsure", "undo"])
      byId(action).addEventListener("click", () => session[action]());
    byId("explain").addEventListener("click", () => this.explanation.toggle());
  }

  #turn(turned) {
    if (turned) {
      this.opened.clear();
      byId("about").scrollTop = 0;
      this.#announce();
    }
    this.#draw();
  }

  #announce() {
    const { card, suggested } = this.session;
    if (card.node === null) announce(card.reason);
    else announce(`${suggested ? "Next node" : "Node"} ${clip(card.id, 80)}. ${card.reason ?? ""}`);
  }

  #draw() {
    const { session } = this;
    const { card } = session;
    if (!card || !session.state) return;
    for (const action of ["skip", "unsure", "explain"]) byId(action).disabled = card.node === null;
    renew(byId("about"), ...(card.node === null ? this.#end() : this.#node()));
  }

  #end() {
    const { card, state } = this.session;
    return [
      make("p", { class: "kicker", text: "No suggestion" }),
      make("h2", { id: "card-title", text: state.labelled.length ? "That was the last one" : "Nothing to label" }),
      make("p", { class: "reason", text: card.reason }),
    ];
  }

  #node() {
    const { session } = this;
    const { card } = session;
    const given = session.labels.get(card.node);
    const hidden =
      card.position === null
        ? make("p", { class: "hint", text: "This node is not on the map, which shows a sample." })
        : null;
    return [
      make(
        "div",
        { class: "top" },
        make("p", { class: "kicker", text: session.suggested ? "Next to label" : "Opened by you" }),
        session.suggested
          ? null
          : make(
              "button",
              {
                type: "button",
                class: "quiet",
                id: "next",
                onclick: () => {
                  session.next();
                  focusCard();
                },
              },
              make("kbd", { text: "n" }),
              " Back to the next one",
            ),
      ),
      make("h2", { id: "card-title", title: clip(card.id, 2000), text: clip(card.id, 160) }),
      given === undefined
        ? null
        : make(
            "p",
            { class: "given" },
            make("i", { class: "swatch", "--colour": cssColour(given) }),
            "Labelled ",
            make("b", { text: clip(session.className(given), 60) }),
          ),
      card.reason ? make("p", { class: "reason", text: card.reason }) : null,
      hidden,
      this.explanation.element,
      this.#columns(card.columns ?? [], card.cut ?? {}),
      this.#neighbours(card),
    ].filter(Boolean);
  }

  #columns(columns, cut) {
    if (!columns.length)
      return make("p", {
        class: "hint",
        text: "This node has no columns: its place among its neighbours is all there is to see.",
      });
    return make(
      "dl",
      { class: "columns" },
      ...columns.flatMap((cell) => [
        make("dt", { text: clip(cell.name, 80) }),
        this.#cell(cell, cut[cell.name]),
      ]),
    );
  }

  /** A cell's text; of one that is far too long only the first part came, and `whole` is how many letters it has. */
  #cell({ name, text }, whole) {
    const sent = [...text].length;
    const hint = whole && `the first ${count(sent)} of ${count(whole)} letters`;
    if (text.length <= LONG || this.opened.has(name))
      return make("dd", {}, make("bdi", { text }), whole ? make("small", { text: ` … (${hint})` }) : null);
    return make(
      "dd",
      {},
      make("bdi", { text: `${text.slice(0, LONG)}…` }),
      " ",
      make("button", {
        type: "button",
        class: "quiet",
        text: whole ? `Show ${hint}` : `Show all (${count(sent)} letters)`,
        onclick: () => {
          this.opened.add(name);
          this.#draw();
        },
      }),
    );
  }

  #neighbours({ neighbours = [], more_neighbours: more = 0 }) {
    const total = neighbours.length + more;
    if (!total) return make("p", { class: "hint", text: "It has no neighbours." });
    const list = neighbours.map(({ node, id, label, given }) =>
      make(
        "li",
        {},
        make(
          "button",
          {
            type: "button",
            class: given ? "chip given" : "chip",
            "--colour": cssColour(this.session.indexOf(label)),
            onclick: () => {
              this.session.open(node);
              focusCard();
            },
            title: label === null ? "no class yet" : `${clip(label, 60)}${given ? ", labelled" : ", predicted"}`,
          },
          make("i", { class: "swatch" }),
          clip(id, 40),
        ),
      ),
    );
    if (more) list.push(make("li", { class: "hint", text: `and ${count(more)} more` }));
    return make(
      "section",
      { class: "neighbours" },
      make("h3", { text: total === 1 ? "Its neighbour" : `Its ${count(total)} neighbours` }),
      make("ul", {}, ...list),
    );
  }
}
