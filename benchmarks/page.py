"""How fast the labelling page is in a browser: frames while the map is moved, and from a key to the next card.

The real server on a made graph, in Chromium without a window. On a machine without a graphics card the processor
draws, beside everything else that it has to do.
"""

from __future__ import annotations

import csv
import os
import shutil
import statistics
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from tests.labelling.page.serving import BROWSER, Served

from benchmarks.measure import in_words, machine, write

NODES, EDGES = 20_000, 100_000
CLASSES = 8
SECONDS, LABELS = 4, 12

# Moves the map as a hand would, a step a frame, and gives the times of the frames.
_PAN = """async (seconds) => {
  const canvas = document.getElementById("overlay");
  const box = canvas.getBoundingClientRect();
  const send = (kind, x, y) => canvas.dispatchEvent(new PointerEvent(kind, {
    pointerId: 1, button: 0, clientX: box.left + x, clientY: box.top + y, bubbles: true, pointerType: "mouse" }));
  canvas.setPointerCapture = () => {};
  const times = [];
  send("pointerdown", 300, 200);
  await new Promise((done) => {
    const frame = (now) => {
      times.push(now);
      const since = now - times[0];
      send("pointermove", 300 + 120 * Math.sin(since / 400), 200 + 80 * Math.cos(since / 500));
      if (since < 1000 * seconds) requestAnimationFrame(frame);
      else done();
    };
    requestAnimationFrame(frame);
  });
  send("pointerup", 300, 200);
  return times;
}"""

# Presses a key, and gives the milliseconds until another card is there and painted.
_KEY = """(key) => new Promise((done) => {
  const began = performance.now();
  const watch = new MutationObserver(() => {
    watch.disconnect();
    requestAnimationFrame(() => setTimeout(() => done(performance.now() - began), 0));
  });
  watch.observe(document.getElementById("about"), { subtree: true, childList: true, characterData: true });
  document.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
})"""


def write_large(folder: Path, nodes: int = NODES, edges: int = EDGES) -> None:
    """Tables of a graph in groups that mostly link to themselves, with numbers that tell them apart."""
    draw = np.random.default_rng(0)
    group = draw.integers(0, CLASSES, nodes)
    numbers = draw.normal(size=(nodes, 4)) + 2 * draw.normal(size=(CLASSES, 4))[group]
    members = [np.flatnonzero(group == one) for one in range(CLASSES)]
    starts = draw.integers(0, nodes, edges)
    near = np.array([draw.choice(members[group[start]]) for start in starts])
    ends = np.where(draw.random(edges) < 0.8, near, draw.integers(0, nodes, edges))
    folder.mkdir(exist_ok=True)
    with (folder / "nodes.csv").open("w", newline="", encoding="utf-8") as file:
        rows = ([f"node {node}", *(f"{value:.3f}" for value in numbers[node])] for node in range(nodes))
        csv.writer(file).writerows([["id", "a", "b", "c", "d"], *rows])
    with (folder / "edges.csv").open("w", newline="", encoding="utf-8") as file:
        rows = ([f"node {start}", f"node {end}"] for start, end in zip(starts, ends, strict=True) if start != end)
        csv.writer(file).writerows([["source", "target"], *rows])


def frames_a_second(page: Any, seconds: int = SECONDS) -> float:
    """Frames while the map is moved about."""
    times = page.evaluate(_PAN, seconds)
    return 1000 * (len(times) - 1) / float(times[-1] - times[0])


def key_to_card(page: Any, key: str) -> float:
    """Milliseconds from a key to the next card."""
    return float(page.evaluate(_KEY, key))


def measure() -> dict[str, Any]:
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory(prefix="lcgnn-page.") as name, sync_playwright() as playwright:
        folder = Path(name)
        write_large(folder / "large")
        served = Served(folder / "large", folder / "labels.csv")
        try:
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=list(BROWSER))
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            page.goto(served.link)
            page.locator("body.ready").wait_for(timeout=120_000)
            page.wait_for_timeout(3000)
            moving = frames_a_second(page)
            waits = _label(page)
            while_training = frames_a_second(page)
            version = browser.version
            browser.close()
        finally:
            served.kill()
    return {
        "machine": machine(),
        "chromium": version,
        "load": os.getloadavg()[0],
        "command": f"nice -n {os.nice(0)} python -m benchmarks page"
        if os.nice(0)
        else "python -m benchmarks page",
        "nodes": NODES,
        "edges": EDGES,
        "frames a second": moving,
        "frames a second while training": while_training,
        "milliseconds from key to card": waits,
    }


def _label(page: Any) -> list[float]:
    """Names two classes and labels with them, so that a model is trained behind the page."""
    for number, name in enumerate(("left", "right"), 1):
        page.keyboard.press("/")
        page.keyboard.type(name)
        page.keyboard.press("Enter")
        page.locator("#tally", has_text=f"{number} label").wait_for()
        page.locator("#card:not(.busy)").wait_for()
    waits = []
    for number in range(LABELS):
        page.wait_for_timeout(1000)
        waits.append(key_to_card(page, str(1 + number % 2)))
    return waits


def table(content: dict[str, Any]) -> str:
    waits = content["milliseconds from key to card"]
    return "\n".join(
        [
            f"The labelling page in Chromium {content['chromium']} without a window, 1,440 x 900 pixels, drawn by "
            f"the processor, on {content['nodes']:,} nodes and {content['edges']:,} edges. While the map moves, "
            "its last picture is moved, and drawn anew when it rests.",
            "",
            "| | |",
            "|---|---:|",
            f"| frames a second while the map is moved | {content['frames a second']:.0f} |",
            f"| the same while a model is trained | {content['frames a second while training']:.0f} |",
            f"| from a key to the next card, median of {len(waits)} | {statistics.median(waits):.0f} ms |",
            f"| the slowest of these | {max(waits):.0f} ms |",
            "",
            f"Measured by `{content['command']}` on {in_words(content['machine'])}, where {content['load']:.0f} "
            "processes wanted to run at the end (the load average), this one's among them.",
        ]
    )


def main(folder: Path) -> None:
    content = measure()
    write(folder, "page", content, table(content))
    print(table(content))
