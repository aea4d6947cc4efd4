// What the labels have brought: expected accuracy, classes and how often they occur, labels and regions to look at.

import { cssColour } from "./colours.js";
import { curveTable, drawCurve } from "./curve.js";
import { breakable, byId, clip, count, counted, make, percent, renew } from "./dom.js";

const CLASSES = 200;

export class Brings {
  constructor(session, { editClass }) {
    this.session = session;
    this.editClass = editClass;
    session.on("state", () => this.#draw());
    session.on("graph", () => this.#head());
  }

  #head() {
    const { name, nodes, edges } = this.session.graph;
    byId("name").textContent = clip(name, 60);
    byId("size").textContent = `${counted(nodes, "node")}, ${counted(edges, "edge")}`;
    document.title = `${clip(name, 60)} · lcgnn label`;
  }

  #draw() {
    this.#training();
    renew(byId("expected"), ...this.#expected());
    renew(byId("classlist"), ...this.#classes());
    renew(byId("looklist"), ...this.#look());
  }

  #training() {
    const { training } = this.session.state;
    const pill = byId("training");
    pill.dataset.state = training.state;
    if (pill.textContent !== training.words) pill.textContent = training.words;
    pill.title = training.words;
  }

  #tally() {
    const { labelled, skipped, unsure } = this.session.state;
    const parts = [counted(labelled.length, "label")];
    if (skipped) parts.push(`${count(skipped)} skipped`);
    if (unsure) parts.push(`${count(unsure)} not sure`);
    return make("p", { id: "tally", text: parts.join(", ") });
  }

  #expected() {
    const { curve, advice, next_ten: nextTen } = this.session.state;
    if (!curve.length) {
      return [
        this.#tally(),
        make("p", {
          class: "empty",
          text:
            advice ||
            "Once a few labels are given, a curve here shows how many of the other answers to expect right.",
        }),
      ];
    }
    const last = curve.at(-1);
    const before =
      last.labels === this.session.state.labelled.length ? "" : ` with ${counted(last.labels, "label")}`;
    return [
      make(
        "div",
        { class: "figure" },
        make("p", { class: "big", text: percent(last.expected) }),
        make(
          "div",
          {},
          make("p", {
            text: `of all answers expected right${before} (${percent(last.low)} to ${percent(last.high)})`,
          }),
          this.#tally(),
        ),
      ),
      // Above the curve, so that whether to go on is read without scrolling.
      advice ? make("p", { class: "advice", text: advice }) : null,
      drawCurve(curve),
      curveTable(curve),
      nextTen ? make("p", { class: "next", text: nextTen }) : null,
    ].filter(Boolean);
  }

  #classes() {
    const { classes } = this.session.state;
    if (!classes.length)
      return [
        make("p", { class: "empty", text: "There is no class yet. Name the first one on the card, or here." }),
      ];
    const most = Math.max(1, ...classes.map(({ predicted }) => predicted));
    const rows = classes
      .slice(0, CLASSES)
      .map(({ name, given, predicted }, index) =>
        make(
          "tr",
          { "--colour": cssColour(index), "--share": predicted / most },
          make(
            "th",
            { scope: "row", title: clip(name, 300) },
            make("i", { class: "swatch" }),
            make("span", {}, ...breakable(clip(name, 60))),
          ),
          make("td", { text: count(given) }),
          make("td", { text: count(predicted) }),
          make(
            "td",
            {},
            make("button", {
              type: "button",
              class: "dots",
              "aria-label": `Rename or merge ${clip(name, 60)}`,
              title: "Rename or merge",
              text: "⋯",
              onclick: () => this.editClass(index),
            }),
          ),
        ),
      );
    const head = make(
      "tr",
      {},
      ...["class", "given", "predicted", ""].map((text) => make("th", { scope: "col", text })),
    );
    const more =
      classes.length > CLASSES
        ? make("p", { class: "hint", text: `and ${count(classes.length - CLASSES)} more classes` })
        : null;
    return [make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows)), more].filter(Boolean);
  }

  #look() {
    const { doubtful, least_sure: leastSure } = this.session.state;
    const { session } = this;
    const lists = [];
    if (doubtful.length) {
      lists.push(
        make("h3", { text: "Labels that look wrong" }),
        make(
          "ul",
          { class: "look" },
          ...doubtful.map(({ node, id, given, instead, reason }) =>
            make(
              "li",
              {},
              make(
                "button",
                { type: "button", onclick: () => session.open(node) },
                make("b", { text: clip(id, 40) }),
                make("span", { class: "change" }, this.#named(given), " → ", this.#named(instead)),
                make("small", { title: clip(reason, 600), text: clip(reason, 130) }),
              ),
            ),
          ),
        ),
      );
    }
    if (leastSure.length) {
      lists.push(
        make("h3", { text: "Least sure regions" }),
        make(
          "ul",
          { class: "look" },
          ...leastSure.map(({ node, id, words }) =>
            make(
              "li",
              {},
              make(
                "button",
                { type: "button", onclick: () => session.open(node) },
                make("b", { text: clip(id, 40) }),
                make("small", { title: clip(words, 600), text: clip(words, 130) }),
              ),
            ),
          ),
        ),
      );
    }
    return lists.length
      ? lists
      : [
          make("p", {
            class: "empty",
            text: "Labels that look wrong and regions where the model is least sure are listed here once it is trained.",
          }),
        ];
  }

  #named(name) {
    return make(
      "span",
      { class: "named" },
      make("i", { class: "swatch", "--colour": cssColour(this.session.indexOf(name)) }),
      make("bdi", { text: clip(name, 30) }),
    );
  }
}
