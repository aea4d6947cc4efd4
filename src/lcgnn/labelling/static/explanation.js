// Why the model says what it says of the node on the card, in words, in bars and as lines on the map.

import { byId, clip, make, percent } from "./dom.js";
import { announce } from "./notices.js";
import { ServerError } from "./server.js";

const ROWS = 6;

export class Explanation {
  constructor(session, map) {
    this.session = session;
    this.map = map;
    this.element = make("section", { class: "explanation", "aria-label": "Explanation", hidden: true });
    session.on("card", ({ turned }) => turned && this.close());
  }

  close() {
    this.element.hidden = true;
    byId("explain").setAttribute("aria-expanded", "false");
    this.map.unlight();
  }

  async toggle() {
    const { node } = this.session.card;
    if (!this.element.hidden) return this.close();
    if (node === null) return undefined;
    this.#fill([make("p", { class: "hint", text: "Asking the model…" })]);
    try {
      const answer = await this.session.explain(node);
      if (this.session.card.node === node && !this.element.hidden) this.#show(answer);
    } catch (error) {
      if (!(error instanceof ServerError)) throw error;
      this.close();
      this.session.tell("trouble", error.message);
    }
    return undefined;
  }

  #fill(children) {
    this.element.replaceChildren(...children);
    this.element.hidden = false;
    byId("explain").setAttribute("aria-expanded", "true");
    byId("about").scrollTop = 0;
  }

  #show(answer) {
    const { label, probability, words = [], soft_neighbours: soft = [], labelled = [], neighbours = [], features = [] } = answer;
    announce(`Explanation: ${words.join(" ")}`);
    this.#fill([
      make("h3", {}, "Why ", make("b", { text: clip(label, 60) }), probability === undefined ? "" : `, ${percent(probability)}`),
      ...words.map((sentence) => make("p", { text: clip(sentence, 600) })),
      this.#nodes("soft", "Soft neighbours: nodes with the same answer, linked or not", soft, "weight"),
      this.#nodes("labelled", "Labels that speak for it", labelled, "influence"),
      this.#nodes("neighbour", "Its neighbours in the graph", neighbours, "probability"),
      this.#features(features),
    ].filter(Boolean));
    this.#light({ soft, labelled, neighbours });
  }

  #nodes(kind, title, entries, measure) {
    if (!entries.length) return null;
    const largest = Math.max(...entries.map((entry) => Math.abs(entry[measure] ?? 0)), 1e-12);
    return make("div", { class: `why ${kind}` }, make("h4", {}, make("i", { class: "stroke" }), title), make("ul", {}, ...entries.slice(0, ROWS).map((entry) =>
      make("li", { "--share": Math.abs(entry[measure] ?? 0) / largest }, make("button", { type: "button", class: "link", text: clip(entry.id, 40), onclick: () => this.session.open(entry.node) }),
        make("span", { text: clip(entry.label ?? "", 40) }), make("span", { class: "amount", text: percent(entry[measure] ?? 0, 1) })))));
  }

  #features(features) {
    if (!features.length) return null;
    const largest = Math.max(...features.map(({ effect }) => Math.abs(effect)), 1e-12);
    return make("div", { class: "why features" }, make("h4", { text: "Columns that matter" }), make("ul", {}, ...features.slice(0, ROWS).map(({ name, effect }) =>
      make("li", { class: effect < 0 ? "against" : "for", "--share": Math.abs(effect) / largest }, make("span", { text: clip(name, 40) }),
        make("span", { text: effect < 0 ? "against" : "for" }), make("span", { class: "amount", text: effect.toPrecision(2) })))));
  }

  #light({ soft, labelled, neighbours }) {
    const links = (kind, entries, measure) => {
      const largest = Math.max(...entries.map((entry) => Math.abs(entry[measure] ?? 0)), 1e-12);
      return entries.map((entry) => ({ node: entry.node, kind, weight: Math.abs(entry[measure] ?? 0) / largest }));
    };
    this.map.light([...links("neighbour", neighbours, "probability"), ...links("soft", soft, "weight"), ...links("labelled", labelled, "influence")]);
  }
}
