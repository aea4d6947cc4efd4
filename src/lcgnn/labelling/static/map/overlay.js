// What stands out on the map, drawn above it: labelled nodes, the node on the card and its neighbours, the node under
// the pointer, and what an explanation lights.

const css = (channels, alpha = 1) => `rgb(${channels.join(" ")} / ${alpha})`;

export class Overlay {
  constructor(canvas) {
    this.canvas = canvas;
    this.pen = canvas.getContext("2d");
  }

  /** One frame. `marked` are the labelled nodes, as positions by the colour of their class. */
  draw(view, ratio, theme, { layout, current, hovered, links, lit, marked, markSize, colour }) {
    const { pen } = this;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, view.width, view.height);
    const place = (position) => view.toPage(layout[2 * position], layout[2 * position + 1]);
    pen.globalAlpha = lit ? 0.5 : 1;
    for (const [fill, positions] of marked) this.#marks(positions.map(place), fill, markSize, view, theme);
    pen.globalAlpha = 1;
    if (current !== null) {
      const middle = place(current);
      for (const link of links) this.#line(middle, place(link.position), link, theme);
      for (const link of links) this.#dot(place(link.position), link, css(colour(link.position)), theme);
      this.#target(middle, css(colour(current)), theme);
    }
    if (hovered !== null && hovered !== current) this.#circle(place(hovered), 9, css(theme.ink), 2);
  }

  /** A ring around a dot, with a gap between: it is seen on any colour, and without any. All of a class at once. */
  #marks(places, fill, size, view, theme) {
    const { pen } = this;
    const seen = places.filter(
      ([x, y]) => x > -size && y > -size && x < view.width + size && y < view.height + size,
    );
    const circles = (radius) => {
      pen.beginPath();
      for (const [x, y] of seen) {
        pen.moveTo(x + radius, y);
        pen.arc(x, y, radius, 0, 2 * Math.PI);
      }
    };
    circles(size / 2);
    pen.fillStyle = css(theme.ink);
    pen.fill();
    circles(size / 2 - 1.6);
    pen.fillStyle = css(theme.map);
    pen.fill();
    circles(size / 2 - 2.8);
    pen.fillStyle = fill;
    pen.fill();
  }

  #line([x, y], [toX, toY], link, theme) {
    const { pen } = this;
    pen.beginPath();
    pen.setLineDash(link.kind === "soft" ? [5, 4] : link.kind === "labelled" ? [1.5, 4] : []);
    pen.lineCap = link.kind === "labelled" ? "round" : "butt";
    pen.moveTo(x, y);
    pen.lineTo(toX, toY);
    pen.lineWidth = link.lit ? 1.2 + 2.2 * link.weight : 1;
    pen.strokeStyle = css(link.kind === "neighbour" ? theme.ink : theme.accent, link.lit ? 0.75 : 0.35);
    pen.stroke();
    pen.setLineDash([]);
  }

  #dot([x, y], link, fill, theme) {
    const { pen } = this;
    const radius = link.lit ? 4.5 + 3 * link.weight : 3.5;
    pen.beginPath();
    pen.arc(x, y, radius, 0, 2 * Math.PI);
    pen.fillStyle = fill;
    pen.fill();
    pen.lineWidth = link.lit ? 2 : 1;
    pen.strokeStyle = css(link.kind === "neighbour" || !link.lit ? theme.ink : theme.accent, link.lit ? 1 : 0.6);
    pen.stroke();
  }

  #target([x, y], fill, theme) {
    const { pen } = this;
    this.#circle([x, y], 13, css(theme.map), 5);
    this.#circle([x, y], 13, css(theme.accent), 2.5);
    pen.beginPath();
    pen.arc(x, y, 6, 0, 2 * Math.PI);
    pen.fillStyle = fill;
    pen.fill();
    pen.lineWidth = 1.5;
    pen.strokeStyle = css(theme.ink);
    pen.stroke();
  }

  #circle([x, y], radius, stroke, width) {
    this.pen.beginPath();
    this.pen.arc(x, y, radius, 0, 2 * Math.PI);
    this.pen.lineWidth = width;
    this.pen.strokeStyle = stroke;
    this.pen.stroke();
  }
}
