// Elements made of plain data. Text becomes text nodes only: nothing from outside is ever read as HTML.

const SVG = "http://www.w3.org/2000/svg";

export const byId = (id) => document.getElementById(id);

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "text") element.textContent = value;
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name.startsWith("--")) element.style.setProperty(name, value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** An element with attributes, `text`, listeners (`onclick`) and style variables (`--share`). */
export const make = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);

export const makeSvg = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS(SVG, tag), attributes, children);

const focusable = (box) => [...box.querySelectorAll("button, input, select, a[href]")];

/** Puts children into a box and leaves those alone that look as before: whoever is about to press one can go on. */
export function renew(box, ...children) {
  const focused = focusable(box).indexOf(document.activeElement);
  children.forEach((child, at) => {
    const old = box.children[at];
    if (!old) box.append(child);
    else if (old !== child && (child.isConnected || !old.isEqualNode(child))) old.replaceWith(child);
  });
  while (box.children.length > children.length) box.lastElementChild.remove();
  if (focused >= 0 && !box.contains(document.activeElement))
    focusable(box)[focused]?.focus({ preventScroll: true });
}

/** Whoever opened a node goes on with the keys. */
export const focusCard = () => byId("card").focus({ preventScroll: true });

export function show(element, shown) {
  element.hidden = !shown;
}

/** A text cut to what a line holds; the whole of it is where it is opened. */
export function clip(text, limit = 120) {
  const letters = String(text);
  return letters.length > limit ? `${letters.slice(0, limit - 1)}…` : letters;
}

/** A name with places where a line may break: names of classes and columns often have no spaces. */
export const breakable = (text) =>
  String(text)
    .split(/(?<=[_\-./:])/)
    .flatMap((part, at) => (at ? [document.createElement("wbr"), part] : [part]));

const whole = new Intl.NumberFormat("en");
export const count = (number) => whole.format(number);
export const counted = (number, noun) => `${count(number)} ${noun}${number === 1 ? "" : "s"}`;
export const percent = (share, digits = 0) => `${(100 * share).toFixed(digits)}\u00a0%`;

export const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
