// Why the model says what it says of the node on the card, in words, in bars and as lines on the map.

import { breakable, byId, clip, focusCard, make, percent } from "./dom.js";
import { announce } from "./notices.js";
import { ServerError } from "./server.js";

const ROWS = 6;
/** Less than this of a label's influence is nothing to speak of. */
const LEAST = 0.05;

const signed = (number) => `${number < 0 ? "−" : "+"}${Math.abs(number).toPrecision(2)}`;

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
    const { label, probability, words, soft_neighbours: soft, labelled, neighbours, features, changes } = answer;
    const speaking = labelled.filter(({ influence }) => Math.abs(influence) >= LEAST);
    announce(`Explanation: ${words.join(" ")}`);
    this.#fill(
      [
        make("h3", {}, "Why ", make("bdi", { text: clip(label, 60) }), `, ${percent(probability)}`),
        ...words.map((sentence) => make("p", { text: clip(sentence, 600) })),
        this.#nodes(
          "soft",
          "Soft neighbours: their answers are weighed, linked or not",
          soft,
          "weight",
          (weight) => `${(100 * weight).toPrecision(2)} %`,
        ),
        this.#nodes("labelled", "Labels that speak for it or against it", speaking, "influence", signed),
        this.#nodes("neighbour", "Its neighbours in the graph", neighbours, "probability", percent),
        this.#features(features),
        this.#changes(changes.filter(({ flips }) => flips)),
      ].filter(Boolean),
    );
    this.#light({ soft, labelled: speaking, neighbours });
  }

  #nodes(kind, title, entries, measure, words) {
    if (!entries.length) return null;
    const largest = Math.max(...entries.map((entry) => Math.abs(entry[measure])), 1e-12);
    return make(
      "div",
      { class: `why ${kind}` },
      make("h4", {}, make("i", { class: "stroke" }), title),
      make(
        "ul",
        {},
        ...entries
          .slice(0, ROWS)
          .map((entry) =>
            make(
              "li",
              { class: entry[measure] < 0 ? "against" : null, "--share": Math.abs(entry[measure]) / largest },
              make("button", {
                type: "button",
                class: "link",
                text: clip(entry.id, 40),
                onclick: () => {
                  this.session.open(entry.node);
                  focusCard();
                },
              }),
              make("span", {}, ...breakable(clip(entry.label, 40))),
              make("span", { class: "amount", text: words(entry[measure]) }),
            ),
          ),
      ),
    );
  }

  #features(features) {
    if (!features.length) return null;
    const largest = Math.max(...features.map(({ effect }) => Math.abs(effect)), 1e-12);
    return make(
      "div",
      { class: "why" },
      make("h4", { text: "What its columns say" }),
      make(
        "ul",
        {},
        ...features
          .slice(0, ROWS)
          .map(({ name, effect, own }) =>
            make(
              "li",
              { class: effect < 0 ? "against" : null, "--share": Math.abs(effect) / largest },
              make("span", {}, ...breakable(clip(name, 60))),
              make("span", { class: "amount", text: own ? "" : "only others have it" }),
              make("span", { class: "amount", text: `${signed(100 * effect)} %` }),
            ),
          ),
      ),
    );
  }

  #changes(changes) {
    if (!changes.length) return null;
    return make(
      "div",
      { class: "why" },
      make("h4", { text: "What would change it" }),
      make(
        "ul",
        {},
        ...changes
          .slice(0, ROWS)
          .map(({ what, label, probability }) =>
            make(
              "li",
              { class: "change", "--share": 0 },
              make("span", { text: clip(what, 160) }),
              make("span", {}, "→ ", make("bdi", {}, ...breakable(clip(label, 40)))),
              make("span", { class: "amount", text: percent(probability) }),
            ),
          ),
      ),
    );
  }

  #light({ soft, labelled, neighbours }) {
    const links = (kind, entries, measure) => {
      const largest = Math.max(...entries.map((entry) => Math.abs(entry[measure])), 1e-12);
      return entries.map((entry) => ({ node: entry.node, kind, weight: Math.abs(entry[measure]) / largest }));
    };
    this.map.light([
      ...links("neighbour", neighbours, "probability"),
      ...links("soft", soft, "weight"),
      ...links("labelled", labelled, "influence"),
    ]);
  }
}
