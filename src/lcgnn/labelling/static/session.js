// What the page knows of the graph, the labels and the node in front of the person, and what can be done with it.
// Views listen for: graph, state, labels, answers, card, busy, trouble, connection.

import { count } from "./dom.js";
import { get, getBytes, listen, post, ServerError } from "./server.js";

const NO_CLASS = 65535;
const SURPRISE = 500;
/** Characters of a class's name; what is longer is not even sent. */
const LONGEST_NAME = 200;

export class Session extends EventTarget {
  graph = null;
  state = null;
  card = null;
  /** Whether the card is the server's suggestion, not a node that the person opened. */
  suggested = true;
  /** An answer is on its way and no other card could be shown: a key would be for one that is gone. */
  get busy() {
    return this.#waiting > 0;
  }

  #waiting = 0;
  /** The card that will probably come next, fetched while the person reads this one. */
  #ahead = null;
  /** Changes on their way to the server, one after the other. */
  #sending = Promise.resolve();
  #underway = new Map();
  /** When a card came that the person did not ask for: a key right after it was meant for the one before. */
  #surprised = -Infinity;
  /** Node number to class index: as the server says, and what was pressed a moment ago. */
  labels = new Map();
  positions = new Map();
  layout = new Float32Array();
  edges = new Uint32Array();
  answers = { classes: new Uint16Array(), sureness: new Float32Array() };
  #refreshing = false;
  #again = false;

  tell(what, detail) {
    this.dispatchEvent(new CustomEvent(what, { detail }));
  }

  on(what, listener) {
    this.addEventListener(what, (event) => listener(event.detail));
  }

  async start() {
    await this.#load();
    listen({
      changed: (revision) => this.#changed(revision),
      lost: (words) => this.tell("connection", words),
      back: () => this.#back(),
    });
  }

  async #load() {
    const [graph, layout, edges, state, card] = await Promise.all([
      get("/api/graph"),
      getBytes("/api/layout.bin"),
      getBytes("/api/edges.bin"),
      get("/api/state"),
      get("/api/card"),
    ]);
    this.graph = graph;
    this.layout = new Float32Array(layout);
    this.edges = new Uint32Array(edges);
    this.positions = new Map(graph.numbers.map((node, position) => [node, position]));
    this.tell("graph");
    this.#take(state);
    this.#turn(card, true);
    await this.#readAnswers();
  }

  async #readAnswers() {
    const bytes = await getBytes("/api/answers.bin");
    const shown = this.graph.shown;
    const start = Math.ceil((2 * shown) / 4) * 4;
    if (bytes.byteLength !== start + 4 * shown) return;
    this.answers = { classes: new Uint16Array(bytes, 0, shown), sureness: new Float32Array(bytes, start, shown) };
    this.tell("answers");
  }

  #take(state) {
    if (this.state && state.revision < this.state.revision) return;
    this.state = state;
    this.#restoreLabels();
    this.tell("state");
  }

  #restoreLabels() {
    this.labels = new Map([...this.state.labelled, ...this.#underway]);
    this.tell("labels");
  }

  #turn(card, suggested) {
    this.card = card;
    this.suggested = suggested;
    this.tell("card", { turned: true });
    this.#lookAhead();
  }

  async #lookAhead() {
    this.#ahead = null;
    const { card } = this;
    if (!this.suggested || card.node === null || this.state.simulating || this.#underway.size) return;
    try {
      const ahead = await get("/api/after");
      if (this.card.node === card.node && ahead.node !== card.node) this.#ahead = ahead;
    } catch {
      // Only a convenience: the answer to the next label brings its card as well.
    }
  }

  /** What the model makes of the shown node; the next one where there is none or somebody else labelled it. */
  async #renewCard() {
    const { node } = this.card;
    const follow = this.suggested && (node === null || this.state.simulating || this.labels.has(node));
    const card = await get(follow ? "/api/card" : `/api/node/${node}`);
    if (this.busy || this.card.node !== node) return;
    if (follow && card.node !== node) {
      this.#surprised = performance.now();
      this.#turn(card, true);
    } else {
      this.card = { ...card, reason: this.suggested ? this.card.reason : card.reason };
      this.tell("card", { turned: false });
    }
  }

  async #changed(revision) {
    if (this.#refreshing) {
      this.#again = true;
      return;
    }
    this.#refreshing = true;
    try {
      if (!this.state || revision > this.state.revision) this.#take(await get("/api/state"));
      await this.#readAnswers();
      await this.#renewCard();
      this.tell("connection", null);
    } catch (error) {
      this.#complain(error);
    } finally {
      this.#refreshing = false;
    }
    if (this.#again) {
      this.#again = false;
      this.#changed(Infinity);
    }
  }

  async #back() {
    this.tell("connection", null);
    this.tell("trouble", null);
    try {
      // Another process may answer here: its revisions begin anew, and its graph may have changed on disk.
      this.state = null;
      await this.#load();
    } catch (error) {
      this.#complain(error);
    }
  }

  #complain(error) {
    if (!(error instanceof ServerError)) throw error;
    if (error.status === 0) this.tell("connection", error.message);
    else this.tell("trouble", error.message);
  }

  /** Sends one change after those before it; true when the server has it. */
  async #send(path, body) {
    this.#setWaiting(this.#waiting + 1);
    const answer = await this.#post(path, body);
    this.#setWaiting(this.#waiting - 1);
    if (answer) this.#turn(answer.card, true);
    return answer !== null;
  }

  #isDeaf() {
    return this.busy || performance.now() - this.#surprised < SURPRISE;
  }

  #setWaiting(waiting) {
    this.#waiting = waiting;
    this.tell("busy");
  }

  /** The server's answer, after all changes before it; null and a word on the page where it refused. */
  #post(path, body) {
    const sent = this.#sending.then(async () => {
      try {
        const answer = await post(path, body);
        this.#underway.delete(body.node);
        this.tell("trouble", null);
        this.#take(answer.state);
        return answer;
      } catch (error) {
        this.#underway.delete(body.node);
        this.#restoreLabels();
        if (!(error instanceof ServerError)) throw error;
        this.tell("trouble", error.cut ? `Not saved: ${error.message}` : error.message);
        return null;
      }
    });
    this.#sending = sent.catch(() => null);
    return sent;
  }

  /** Says something of the node on the card. The next one is shown at once if it is known; this one again if it fails. */
  async #answer(path, body, index) {
    const { card, suggested } = this;
    const ahead = this.#ahead;
    if (card.node === null || this.#isDeaf()) return false;
    if (!ahead || ahead.node === null) return this.#send(path, body);
    this.#ahead = null;
    if (index !== undefined) this.#underway.set(card.node, index);
    this.#turn(ahead, true);
    const answer = await this.#post(path, body);
    if (!answer) this.#turn(card, suggested);
    else if (this.card.node === ahead.node) this.#settle(answer.card);
    return answer !== null;
  }

  /** The server's own next card: the one in sight, or else the one after it. */
  #settle(next) {
    if (next.node !== this.card.node) {
      this.#ahead = next;
      return;
    }
    this.card = next;
    this.tell("card", { turned: false });
    this.#lookAhead();
  }

  async label(index) {
    const { node } = this.card;
    if (node === null || this.#isDeaf() || index >= this.state.classes.length) return false;
    this.labels.set(node, index);
    this.tell("labels");
    // By its name: on another page the classes may have been merged a moment ago, and be numbered otherwise.
    return this.#answer("/api/label", { node, class: this.className(index) }, index);
  }

  skip() {
    return this.#answer("/api/skip", { node: this.card.node });
  }

  unsure() {
    return this.#answer("/api/unsure", { node: this.card.node });
  }

  undo() {
    return this.#send("/api/undo", {});
  }

  addClass(name) {
    return this.#changeClasses({ action: "add", name });
  }

  renameClass(name, to) {
    return this.#changeClasses({ action: "rename", name, to });
  }

  mergeClass(name, to) {
    return this.#changeClasses({ action: "merge", name, to });
  }

  /** Classes change under the card; the node on it stays. */
  async #changeClasses(body) {
    const { card, suggested } = this;
    const letters = [...(body.to ?? body.name)].length;
    if (letters > LONGEST_NAME) {
      const words = `A class's name of ${count(letters)} characters is too long: at most ${LONGEST_NAME}.`;
      this.tell("trouble", words);
      return false;
    }
    const done = await this.#send("/api/classes", body);
    if (done && card.node !== null && card.node !== this.card.node) {
      await this.open(card.node, suggested ? card.reason : null);
    }
    return done;
  }

  /** A new class, given at once to the node on the card. */
  async labelAs(name) {
    const { node } = this.card;
    if (!(await this.addClass(name))) return false;
    // Where this node could not be shown again, the class is there and no other node gets it.
    if (this.card.node !== node) return false;
    const found = this.state.classes.findIndex((known) => known.name === name.trim());
    return this.label(found < 0 ? this.state.classes.length - 1 : found);
  }

  simulate(on) {
    return this.#send("/api/simulate", { on });
  }

  async open(node, reason = null) {
    try {
      const card = await get(`/api/node/${node}`);
      if (this.busy) return;
      this.tell("trouble", null);
      this.#turn(reason === null ? card : { ...card, reason }, reason !== null);
    } catch (error) {
      this.#complain(error);
    }
  }

  async next() {
    try {
      this.#turn(await get("/api/card"), true);
    } catch (error) {
      this.#complain(error);
    }
  }

  explain(node) {
    return get(`/api/explain/${node}`);
  }

  /** Class index of a shown node: given, or what the model says; null where nobody knows. */
  classAt(position) {
    const given = this.labels.get(this.graph.numbers[position]);
    if (given !== undefined) return given;
    const said = this.answers.classes[position];
    return said === undefined || said === NO_CLASS || said >= this.state.classes.length ? null : said;
  }

  /** The index of a class that the server named, or null where it named none or one that is gone. */
  indexOf(name) {
    const found = name === null ? -1 : this.state.classes.findIndex((known) => known.name === name);
    return found < 0 ? null : found;
  }

  className(index) {
    return this.state.classes[index]?.name ?? "no class yet";
  }
}
