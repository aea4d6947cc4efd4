// Where the map is looked at from: layout units on one side, pixels of the page on the other.

const CLOSEST = 60;
const FURTHEST = 0.5;

export class View {
  width = 1;
  height = 1;
  x = 0;
  y = 0;
  lower = 0;
  /** Pixels of the page for one unit of the layout. */
  scale = 1;
  fitted = 1;

  constructor(layout) {
    const bounds = { left: Infinity, right: -Infinity, top: Infinity, bottom: -Infinity };
    for (let at = 0; at < layout.length; at += 2) {
      bounds.left = Math.min(bounds.left, layout[at]);
      bounds.right = Math.max(bounds.right, layout[at]);
      bounds.top = Math.min(bounds.top, layout[at + 1]);
      bounds.bottom = Math.max(bounds.bottom, layout[at + 1]);
    }
    this.bounds = layout.length ? bounds : { left: -1, right: 1, top: -1, bottom: 1 };
  }

  /** `lower` pixels at the bottom are kept free where the whole is shown.
   *
   * Another size of the window keeps what is in the middle, and the whole where the whole was shown.
   */
  resize(width, height, lower = 0) {
    const whole = this.scale === this.fitted;
    const zoomed = this.scale / this.fitted;
    [this.width, this.height, this.lower] = [Math.max(width, 1), Math.max(height, 1), lower];
    const { left, right, top, bottom } = this.bounds;
    const room = Math.max(12, Math.min(36, 0.05 * this.width));
    this.fitted = Math.min(
      Math.max(this.width - 2 * room, 20) / Math.max(right - left, 1e-6),
      Math.max(this.height - lower - 2 * room, 20) / Math.max(bottom - top, 1e-6),
    );
    this.scale = this.fitted * zoomed;
    if (whole) this.fit();
  }

  fit() {
    const { left, right, top, bottom } = this.bounds;
    [this.x, this.y, this.scale] = [
      (left + right) / 2,
      (top + bottom) / 2 + this.lower / this.fitted / 2,
      this.fitted,
    ];
  }

  get zoom() {
    return this.scale / this.fitted;
  }

  toPage(x, y) {
    return [(x - this.x) * this.scale + this.width / 2, (y - this.y) * this.scale + this.height / 2];
  }

  toLayout(px, py) {
    return [(px - this.width / 2) / this.scale + this.x, (py - this.height / 2) / this.scale + this.y];
  }

  pan(dx, dy) {
    const { left, right, top, bottom } = this.bounds;
    this.x = Math.min(right, Math.max(left, this.x - dx / this.scale));
    this.y = Math.min(bottom, Math.max(top, this.y - dy / this.scale));
  }

  /** Zooms so that what is under the pointer stays there. */
  zoomAt(px, py, factor) {
    const [x, y] = this.toLayout(px, py);
    this.scale = this.fitted * Math.min(CLOSEST, Math.max(FURTHEST, this.zoom * factor));
    this.x = x - (px - this.width / 2) / this.scale;
    this.y = y - (py - this.height / 2) / this.scale;
  }

  sees(x, y, margin = 24) {
    const [px, py] = this.toPage(x, y);
    return px > margin && py > margin && px < this.width - margin && py < this.height - margin;
  }
}
