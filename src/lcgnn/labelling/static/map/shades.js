// The colours of the nodes: their class's, paler where the model is less sure.

import { colourOf } from "../colours.js";

/** How much of its class's colour a node has of which nothing at all is sure. */
const PALEST = 0.16;

/** Red, green and blue of every shown node, three bytes each. */
export function shadesOf(session, theme) {
  const { classes, sureness } = session.answers;
  const shades = new Uint8Array(3 * session.graph.shown);
  const known = session.state ? session.state.classes.length : 0;
  for (let at = 0; at < session.graph.shown; at += 1) {
    const said = classes[at] < known ? colourOf(classes[at]) : theme.faint;
    const share = PALEST + (1 - PALEST) * sureness[at];
    for (let channel = 0; channel < 3; channel += 1) {
      shades[3 * at + channel] = theme.faint[channel] + share * (said[channel] - theme.faint[channel]);
    }
  }
  return shades;
}

/** How many nodes have another colour than before. */
export function differing(before, shades) {
  if (before?.length !== shades.length) return shades.length / 3;
  let changed = 0;
  for (let at = 0; at < shades.length; at += 3) {
    if (shades[at] !== before[at] || shades[at + 1] !== before[at + 1] || shades[at + 2] !== before[at + 2])
      changed += 1;
  }
  return changed;
}
