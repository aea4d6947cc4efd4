// Which node is under the pointer: nodes sorted into the cells of a grid, a few to a cell.

export class Nearest {
  constructor(layout, bounds) {
    this.layout = layout;
    this.bounds = bounds;
    const nodes = layout.length / 2;
    this.side = Math.max(1, Math.floor(Math.sqrt(nodes / 2)));
    this.starts = new Uint32Array(this.side * this.side + 1);
    this.order = new Uint32Array(nodes);
    for (let node = 0; node < nodes; node += 1) this.starts[this.#cell(node) + 1] += 1;
    for (let cell = 0; cell < this.side * this.side; cell += 1) this.starts[cell + 1] += this.starts[cell];
    const filled = this.starts.slice();
    for (let node = 0; node < nodes; node += 1) this.order[filled[this.#cell(node)]++] = node;
  }

  #column(x) {
    const share = (x - this.bounds.left) / Math.max(this.bounds.right - this.bounds.left, 1e-9);
    return Math.min(this.side - 1, Math.max(0, Math.floor(share * this.side)));
  }

  #row(y) {
    const share = (y - this.bounds.top) / Math.max(this.bounds.bottom - this.bounds.top, 1e-9);
    return Math.min(this.side - 1, Math.max(0, Math.floor(share * this.side)));
  }

  #cell(node) {
    return this.#row(this.layout[2 * node + 1]) * this.side + this.#column(this.layout[2 * node]);
  }

  /** The nearest node within a distance in layout units, or null. */
  find(x, y, within) {
    let [best, distance] = [null, within * within];
    for (let row = this.#row(y - within); row <= this.#row(y + within); row += 1) {
      for (let column = this.#column(x - within); column <= this.#column(x + within); column += 1) {
        const cell = row * this.side + column;
        for (let at = this.starts[cell]; at < this.starts[cell + 1]; at += 1) {
          const node = this.order[at];
          const squared = (this.layout[2 * node] - x) ** 2 + (this.layout[2 * node + 1] - y) ** 2;
          if (squared < distance) [best, distance] = [node, squared];
        }
      }
    }
    return best;
  }
}
