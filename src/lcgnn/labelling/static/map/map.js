// The map: every shown node where the layout puts it, in its class's colour, paler where the model is less sure.

import { colourOf, cssColour, themeColours } from "../colours.js";
import { byId, calm, count, show } from "../dom.js";
import { Drawing } from "./drawing.js";
import { drawLegend, showTip } from "./legend.js";
import { Nearest } from "./nearest.js";
import { Overlay } from "./overlay.js";
import { point } from "./pointing.js";
import { differing, shadesOf } from "./shades.js";
import { View } from "./view.js";

const RECOLOUR = 450;
/** A frame that takes more milliseconds than this is drawn only when the map rests; until then its picture moves. */
const SLOW = 14;
const REST = 140;
const LATER = 1500;
/** A share of the nodes so small that another colour of theirs can wait. */
const FEW = 0.01;
/** How far a picture that will be moved reaches beyond the map, as a share of its width and height. */
const MARGIN = 0.25;
const FLIGHT = 400;
const REACH = 12;
const STRETCH = 1.7;

const eased = (share) => 1 - (1 - share) ** 3;

export class GraphMap {
  constructor(session) {
    this.session = session;
    this.box = byId("map");
    this.canvas = byId("graph");
    this.overlay = new Overlay(byId("overlay"));
    this.view = new View(new Float32Array());
    this.theme = themeColours();
    this.hovered = null;
    this.links = [];
    this.lit = null;
    this.marked = new Map();
    this.turnedAt = -Infinity;
    this.flight = null;
    /** Whether only pictures are moved here, the view that the picture shows, and whether it is out of date. */
    this.slow = false;
    this.drawn = null;
    this.stale = true;
    this.#listen();
  }

  #listen() {
    const { session } = this;
    session.on("graph", () => this.#receive());
    session.on("labels", () => this.#mark());
    session.on("answers", () => this.#recolour());
    session.on("state", () => this.#legend());
    session.on("card", ({ turned }) => this.#follow(turned));
    point(byId("overlay"), () => this.view, {
      moved: () => this.moved(),
      hovered: (x, y) => this.#hover(x, y),
      clicked: (x, y) => this.#click(x, y),
      fit: () => this.view.fit(),
    });
    const zoom = (factor) => () => {
      this.view.zoomAt(this.view.width / 2, this.view.height / 2, factor);
      this.moved();
    };
    byId("closer").addEventListener("click", zoom(1.5));
    byId("further").addEventListener("click", zoom(1 / 1.5));
    byId("all").addEventListener("click", () => {
      this.view.fit();
      this.moved();
    });
    new ResizeObserver(() => this.#resize()).observe(this.box);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      this.theme = themeColours();
      this.#recolour(false);
      this.#mark();
    });
    this.canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
    this.canvas.addEventListener("webglcontextrestored", () => {
      this.drawing = null;
      this.#prepare();
    });
  }

  #receive() {
    const { graph } = this.session;
    this.layout = this.#stretched(this.session.layout);
    this.view = new View(this.layout);
    this.nearest = new Nearest(this.layout, this.view.bounds);
    const names = `Map of ${count(graph.shown)} nodes${graph.sampled ? `, a sample of ${count(graph.nodes)}` : ""}`;
    byId("overlay").setAttribute("aria-label", names);
    this.colours = null;
    this.#resize(true);
    this.#prepare();
  }

  /** Distances in a layout have no unit: in a wide window it may be wider, so that its nodes have more room. */
  #stretched(layout) {
    const { width, height } = this.box.getBoundingClientRect();
    const { left, right, top, bottom } = new View(layout).bounds;
    const lacking = (width / Math.max(height, 1)) * ((bottom - top) / Math.max(right - left, 1e-9));
    const stretch = Math.min(STRETCH, Math.max(1 / STRETCH, lacking));
    return layout.map((place, at) => (at % 2 ? place : place * stretch));
  }

  /** Everything into the graphics memory; without WebGL the page goes on, with a word in the map's place. */
  #prepare() {
    const {
      layout,
      session: { edges },
    } = this;
    try {
      this.drawing ??= new Drawing(this.canvas, edges.length / 2);
    } catch (error) {
      this.drawing = null;
      byId("nomap").textContent = `${error.message} The map cannot be drawn; labelling works all the same.`;
      show(byId("nomap"), true);
      return;
    }
    this.drawing.setGraph(layout, edges);
    if (this.session.state) {
      this.#recolour(false);
      this.#mark();
    }
    this.#judge();
  }

  /** Draws once and waits for it: a graphics card takes a millisecond or two, a processor without one a hundred. */
  async #judge() {
    const slow = (await this.drawing.timed(() => this.#paint(1))) > SLOW;
    if (slow === this.slow) return;
    this.slow = slow;
    this.#resize();
  }

  #resize(fit = false) {
    const { width, height } = this.box.getBoundingClientRect();
    this.ratio = Math.min(window.devicePixelRatio || 1, 2);
    const margin = this.slow ? MARGIN : 0;
    for (const [canvas, beyond] of [
      [this.canvas, margin],
      [this.overlay.canvas, 0],
    ]) {
      canvas.width = Math.round(width * this.ratio * (1 + 2 * beyond));
      canvas.height = Math.round(height * this.ratio * (1 + 2 * beyond));
    }
    this.canvas.style.setProperty("--beyond", `${-100 * margin}%`);
    this.stale = true;
    this.view.resize(width, height, this.#legendHeight(height));
    if (fit) this.view.fit();
    // A canvas of another size is empty until it is drawn upon; a frame later would be a flash.
    this.#frame(performance.now());
  }

  #recolour(slowly = true) {
    const { session } = this;
    if (!session.graph) return;
    const shades = shadesOf(session, this.theme);
    const changed = differing(this.colours, shades);
    if (!changed && slowly) return;
    const before = slowly && this.colours && !this.slow && !calm() ? this.colours : shades;
    this.colours = shades;
    this.turnedAt = before === shades ? -Infinity : performance.now();
    this.drawing?.setColours(before, shades);
    // A single label's node is marked above the picture anyway.
    if (this.slow && slowly && changed < FEW * session.graph.shown) this.#redraw(LATER);
    else this.#redraw(0);
  }

  /** Has the picture drawn anew, at once or after so many milliseconds in which the map rests. */
  #redraw(later) {
    if (later === LATER && this.resting) return;
    clearTimeout(this.resting);
    this.resting = later ? setTimeout(() => this.#redraw(this.#isHeld() ? REST : 0), later) : undefined;
    if (later) return;
    this.stale = true;
    this.moved();
  }

  /** Whether a hand is moving the map, and the picture still covers it. */
  #isHeld() {
    const { view, drawn } = this;
    if (!this.overlay.canvas.classList.contains("dragged") || !drawn || view.scale !== drawn.scale) return false;
    const [dx, dy] = [(drawn.x - view.x) * view.scale, (drawn.y - view.y) * view.scale];
    return Math.abs(dx) <= MARGIN * view.width && Math.abs(dy) <= MARGIN * view.height;
  }

  #mark() {
    const { session } = this;
    this.marked = new Map();
    for (const [node, index] of session.labels) {
      if (!session.positions.has(node)) continue;
      const colour = cssColour(index);
      if (!this.marked.has(colour)) this.marked.set(colour, []);
      this.marked.get(colour).push(session.positions.get(node));
    }
    this.moved();
  }

  #legend() {
    drawLegend(this.session);
    if (this.view.lower !== this.#legendHeight(this.view.height)) this.#resize();
  }

  /** What the legend takes of the map, a quarter at most. */
  #legendHeight(height) {
    return Math.min(byId("legend").offsetHeight, height / 4);
  }

  /** The card's node is pointed at, with lines to its neighbours. */
  #follow(turned) {
    const { card, positions } = this.session;
    if (turned) this.unlight();
    const at = (node) => positions.get(node);
    this.current = card.node === null ? null : (at(card.node) ?? null);
    const near = (card.neighbours ?? []).map(({ node }) => ({
      position: at(node),
      kind: "neighbour",
      weight: 0,
      lit: false,
    }));
    this.links = near.filter(({ position }) => position !== undefined);
    if (turned && this.current !== null) this.#reveal([this.current]);
    this.moved();
  }

  /** Lights what an explanation names: `links` of {node, kind, weight 0..1}. */
  light(links) {
    const { positions } = this.session;
    this.lit = links
      .filter(({ node }) => positions.has(node))
      .map(({ node, kind, weight }) => ({ position: positions.get(node), kind, weight, lit: true }));
    this.stale = true;
    this.moved();
  }

  unlight() {
    this.stale ||= this.lit !== null;
    this.lit = null;
    this.moved();
  }

  /** Moves just as far as is needed to have a node in sight. */
  #reveal(places) {
    const { view, layout } = this;
    const [x, y] = layout.subarray(2 * places[0], 2 * places[0] + 2);
    if (view.sees(x, y, Math.min(40, view.height / 5))) return;
    if (calm()) [view.x, view.y] = [x, y];
    else this.flight = { began: performance.now(), from: [view.x, view.y], to: [x, y] };
    this.moved();
  }

  #hover(x, y) {
    const found =
      x === null || !this.nearest ? null : this.nearest.find(...this.view.toLayout(x, y), REACH / this.view.scale);
    if (found === this.hovered) return;
    this.hovered = found;
    this.overlay.canvas.classList.toggle("over", found !== null);
    this.#tip(found);
    this.moved();
  }

  #tip(position) {
    const place =
      position === null ? null : this.view.toPage(this.layout[2 * position], this.layout[2 * position + 1]);
    showTip(this.session, position, place, this.view.width);
  }

  #click(x, y) {
    const found = this.nearest?.find(...this.view.toLayout(x, y), REACH / this.view.scale) ?? null;
    if (found !== null) this.session.open(this.session.graph.numbers[found]);
    else this.overlay.canvas.focus({ focusVisible: false });
  }

  /** Asks for one frame, however often it is called. */
  moved() {
    if (this.hovered !== null) this.#tip(this.hovered);
    this.asked ??= requestAnimationFrame((now) => this.#frame(now));
  }

  #frame(now) {
    this.asked = undefined;
    if (!this.session.graph || !this.drawing || this.drawing.gl.isContextLost()) return;
    const flying = this.#fly(now);
    const turned = Math.min(1, Math.max(0, (now - this.turnedAt) / RECOLOUR));
    const { view, theme, ratio, drawn } = this;
    const away = !drawn || drawn.x !== view.x || drawn.y !== view.y || drawn.scale !== view.scale;
    if (this.stale || turned < 1 || (away && !this.slow)) this.#paint(turned);
    else if (away) this.#shift();
    this.overlay.draw(view, ratio, theme, {
      layout: this.layout,
      current: this.current ?? null,
      hovered: this.hovered,
      links: this.lit ?? this.links,
      lit: this.lit !== null,
      marked: this.marked,
      markSize: Math.max(1.5 * this.nodeSize, 12),
      colour: (position) => {
        const index = this.session.classAt(position);
        return index === null ? theme.faint : colourOf(index);
      },
    });
    if (flying || turned < 1) this.moved();
  }

  /** Larger where there is room, in pixels of the page. */
  get nodeSize() {
    const room = Math.sqrt((this.view.width * this.view.height) / Math.max(this.session.graph.shown, 1));
    return Math.min(22, Math.max(3, 0.42 * room) * Math.sqrt(this.view.zoom));
  }

  #paint(turned) {
    const { view, theme, ratio } = this;
    const beyond = this.slow ? 1 + 2 * MARGIN : 1;
    const { nodeSize } = this;
    const { x, y, scale, zoom } = view;
    const seen = { x, y, scale, zoom, width: view.width * beyond, height: view.height * beyond };
    this.drawing.draw(seen, { theme, turned, dimmed: this.lit ? 1 : 0, nodeSize, ratio });
    this.drawn = seen;
    this.stale = false;
    this.canvas.style.removeProperty("transform");
  }

  /** Moves the picture that is there, and draws it anew once the map rests. */
  #shift() {
    const { view, drawn } = this;
    const [dx, dy] = [(drawn.x - view.x) * view.scale, (drawn.y - view.y) * view.scale];
    this.canvas.style.setProperty("transform", `translate(${dx}px, ${dy}px) scale(${view.scale / drawn.scale})`);
    this.#redraw(REST);
  }

  #fly(now) {
    if (!this.flight) return false;
    const { began, from, to } = this.flight;
    const share = Math.min(1, (now - began) / FLIGHT);
    for (const [at, axis] of ["x", "y"].entries()) this.view[axis] = from[at] + eased(share) * (to[at] - from[at]);
    if (share === 1) this.flight = null;
    return share < 1;
  }
}
