// Words on the map: what its colours mean, and what is under the pointer.

import { cssColour } from "../colours.js";
import { byId, clip, count, make, percent, show } from "../dom.js";

const CLASSES = 8;

const swatch = (index) => make("i", { class: "swatch", "--colour": cssColour(index) });

/** What of the graph is not drawn, in words. */
function samples(graph) {
  const words = [];
  if (graph.sampled) words.push(`A sample: ${count(graph.shown)} of ${count(graph.nodes)} nodes`);
  if (graph.edges_sampled) words.push(`A sample of ${count(graph.edges_shown)} edges is drawn`);
  return words;
}

export function drawLegend({ graph, state: { classes } }) {
  const entries = classes
    .slice(0, CLASSES)
    .map(({ name }, index) => make("li", {}, swatch(index), clip(name, 28)));
  if (classes.length > CLASSES) entries.push(make("li", { text: `and ${count(classes.length - CLASSES)} more` }));
  entries.unshift(...samples(graph).map((text) => make("li", { class: "sample", text })));
  entries.push(make("li", {}, make("i", { class: "paler" }), "paler: less sure"));
  entries.push(make("li", {}, make("i", { class: "ringed" }), "ringed: labelled"));
  byId("legend").replaceChildren(...entries);
}

/** What is known of the node under the pointer, beside it; hidden where there is none. */
export function showTip(session, position, place, width) {
  const tip = byId("tip");
  show(tip, position !== null);
  if (position === null) return;
  const index = session.classAt(position);
  const given = session.labels.has(session.graph.numbers[position]);
  const words = index === null ? "no class yet" : clip(session.className(index), 40);
  const how = given ? ", labelled" : index === null ? "" : `, ${percent(session.answers.sureness[position])} sure`;
  const id = clip(session.graph.ids[position], 60);
  tip.replaceChildren(make("b", { text: id }), make("span", {}, swatch(index), make("bdi", { text: words }), how));
  const [x, y] = place;
  tip.style.setProperty("--x", `${Math.min(Math.max(x, 90), width - 90)}px`);
  tip.style.setProperty("--y", `${y}px`);
  tip.classList.toggle("below", y < 80);
}
