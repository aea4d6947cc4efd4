// Expected accuracy against the number of labels, with its interval, as SVG; the same as a table for screen readers.

import { count, make, makeSvg, percent } from "./dom.js";

const [WIDTH, HEIGHT] = [340, 112];
const [LEFT, RIGHT, TOP, BOTTOM] = [38, 10, 8, 22];

function steps(low, high, about) {
  const rough = (high - low) / about;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((times) => times * power).find((size) => size >= rough);
  const ticks = [];
  for (let tick = Math.ceil(low / step) * step; tick <= high + 1e-9; tick += step) ticks.push(tick);
  return ticks;
}

export function drawCurve(points) {
  const most = Math.max(...points.map(({ labels }) => labels));
  const least = Math.min(0, ...points.map(({ labels }) => labels));
  const floor = Math.max(0, Math.floor(Math.min(...points.map(({ low }) => low)) * 10) / 10);
  const ceiling = Math.min(
    1,
    Math.max(floor + 0.2, Math.ceil(Math.max(...points.map(({ high }) => high)) * 10) / 10),
  );
  const across = (labels) => LEFT + ((labels - least) / Math.max(most - least, 1)) * (WIDTH - LEFT - RIGHT);
  const up = (share) => HEIGHT - BOTTOM - ((share - floor) / (ceiling - floor)) * (HEIGHT - TOP - BOTTOM);
  const at = (point, what) =>
    `${across(point.labels).toFixed(1)},${up(Math.min(ceiling, Math.max(floor, point[what]))).toFixed(1)}`;
  const band = [
    ...points.map((point) => at(point, "high")),
    ...[...points].reverse().map((point) => at(point, "low")),
  ];
  const dots = points.map((point) =>
    makeSvg(
      "circle",
      { cx: across(point.labels), cy: up(point.expected), r: points.length > 40 ? 1.6 : 3 },
      makeSvg("title", {
        text: `${count(point.labels)} labels: ${percent(point.expected)} expected, ${percent(point.low)} to ${percent(point.high)}`,
      }),
    ),
  );
  const last = points.at(-1);
  return makeSvg(
    "svg",
    {
      class: "curve",
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      role: "img",
      "aria-label": `Expected accuracy by number of labels; with ${last.labels} labels ${percent(last.expected)}`,
    },
    ...steps(floor, ceiling, 4).map((share) =>
      makeSvg(
        "g",
        { class: "tick" },
        makeSvg("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: up(share), y2: up(share) }),
        makeSvg("text", { x: LEFT - 6, y: up(share) + 3.5, "text-anchor": "end", text: percent(share) }),
      ),
    ),
    ...steps(least, Math.max(most, 1), 5)
      .filter(Number.isInteger)
      .map((labels) =>
        makeSvg("text", {
          class: "below",
          x: across(labels),
          y: HEIGHT - 6,
          "text-anchor": "middle",
          text: count(labels),
        }),
      ),
    points.length > 1
      ? null
      : makeSvg("line", {
          class: "whisker",
          x1: across(last.labels),
          x2: across(last.labels),
          y1: up(last.low),
          y2: up(last.high),
        }),
    makeSvg("polygon", { class: "band", points: band.join(" ") }),
    makeSvg("polyline", { class: "line", points: points.map((point) => at(point, "expected")).join(" ") }),
    makeSvg("g", { class: "dots" }, ...dots),
  );
}

export function curveTable(points) {
  const row = (tag, cells) => make("tr", {}, ...cells.map((text) => make(tag, { text })));
  const table = make(
    "table",
    {},
    make("caption", { text: "Expected accuracy by number of labels" }),
    row("th", ["labels", "expected", "low", "high"]),
    ...points
      .slice(-12)
      .map(({ labels, expected, low, high }) =>
        row("td", [count(labels), percent(expected), percent(low), percent(high)]),
      ),
  );
  // A table is as wide as its words, whatever it is told; a box around it is not.
  return make("div", { class: "unseen" }, table);
}
