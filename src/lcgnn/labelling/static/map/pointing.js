// From fingers, mouse and keys to moves of the view and to the node that is meant.

const CLICK = 5;
const STEP = 60;

/** Calls `moved()` after every change of the view, `hovered(x, y)` or `hovered(null)`, and `clicked(x, y)`. */
export function point(canvas, view, { moved, hovered, clicked, fit }) {
  const down = new Map();
  let travelled = 0;
  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const spread = () => {
    const [[x, y], [otherX, otherY]] = [...down.values()];
    return { x: (x + otherX) / 2, y: (y + otherY) / 2, apart: Math.hypot(x - otherX, y - otherY) };
  };
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    canvas.setPointerCapture(event.pointerId);
    down.set(event.pointerId, place(event));
    if (down.size === 1) travelled = 0;
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!down.has(event.pointerId)) {
      if (event.pointerType === "mouse") hovered(...place(event));
      return;
    }
    const [x, y] = place(event);
    const [fromX, fromY] = down.get(event.pointerId);
    const before = down.size === 2 ? spread() : null;
    down.set(event.pointerId, [x, y]);
    travelled += Math.hypot(x - fromX, y - fromY);
    if (travelled < CLICK) return;
    canvas.classList.add("dragged");
    hovered(null);
    if (before) {
      const now = spread();
      view().pan(now.x - before.x, now.y - before.y);
      view().zoomAt(now.x, now.y, now.apart / Math.max(before.apart, 1));
    } else if (down.size === 1) view().pan(x - fromX, y - fromY);
    moved();
  });
  const release = (event) => {
    if (!down.delete(event.pointerId)) return;
    if (!down.size) canvas.classList.remove("dragged");
    if (event.type === "pointerup" && travelled < CLICK) clicked(...place(event));
  };
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("pointerleave", () => hovered(null));
  canvas.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
      view().zoomAt(...place(event), Math.exp(-event.deltaY * lines * (event.ctrlKey ? 0.01 : 0.0016)));
      moved();
    },
    { passive: false },
  );
  const keys = {
    ArrowLeft: () => view().pan(STEP, 0),
    ArrowRight: () => view().pan(-STEP, 0),
    ArrowUp: () => view().pan(0, STEP),
    ArrowDown: () => view().pan(0, -STEP),
    "+": () => view().zoomAt(view().width / 2, view().height / 2, 1.4),
    "=": () => view().zoomAt(view().width / 2, view().height / 2, 1.4),
    "-": () => view().zoomAt(view().width / 2, view().height / 2, 1 / 1.4),
    0: fit,
  };
  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in keys)) return;
    event.preventDefault();
    keys[event.key]();
    moved();
  });
}
