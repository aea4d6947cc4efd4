"""A browser, small graphs, and the real command that serves their page in a process of its own."""

import csv
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lcgnn.labelling.ledger import Ledger
from lcgnn.sources.tables.ledger import Line

# What Chromium itself says where the processor stands in for a graphics card.
GRAPHICS = "GPU stall due to ReadPixels"
# A minute is far more than anything takes, and less than it takes to think that a test hangs.
PATIENCE = 60_000


class Served:
    """The command ``lcgnn label`` on a folder, started anew as often as it is ended."""

    def __init__(self, what: Path | str, ledger: Path, *arguments: str) -> None:
        self.what, self.ledger, self.arguments = what, ledger, arguments
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = int(free.getsockname()[1])
        self.printed = ledger.parent / "printed.txt"
        self.cookies: Any = None
        self.start()

    def start(self) -> None:
        command = [
            sys.executable,
            "-m",
            "lcgnn",
            "label",
            str(self.what),
            "--out",
            str(self.ledger),
            "--no-browser",
        ]
        with self.printed.open("wb") as file:
            self.process = subprocess.Popen(
                [*command, "--port", str(self.port), *self.arguments],
                stdout=file,
                stderr=subprocess.STDOUT,
                env={**os.environ, "OMP_NUM_THREADS": "1", "NO_COLOR": "1"},
                start_new_session=True,
            )
        deadline = time.monotonic() + 120
        while (found := re.search(r"http://\S+token=\S+", self.printed.read_text())) is None:
            assert self.process.poll() is None, self.printed.read_text()
            assert time.monotonic() < deadline, self.printed.read_text()
            time.sleep(0.05)
        self.link, self.cookies = found[0], None

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def open(self, visit: Callable[..., Any], **how: Any) -> Any:
        """Its page, in a browser that was let in: by the link, which works once, and later by the cookie."""
        page = visit(self.link if self.cookies is None else self.address, storage_state=self.cookies, **how)
        page.locator("body.ready").wait_for()
        self.cookies = page.context.storage_state()
        return page

    def kill(self) -> None:
        """End it as the kernel does where memory is short; its helpers go with it."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def labels(self) -> dict[str, str]:
        """What the file of labels says at last of every node, read without lcgnn's own reader."""
        said: dict[str, str] = {}
        with self.ledger.open(newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                if row["action"] == "label":
                    said[row["id"]] = row["label"]
        return said


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    chromium = shutil.which("chromium")
    if chromium is None:
        message = (
            "NO CHROMIUM: THE LABELLING PAGE IS NOT TESTED. Install it, on Debian with apt-get install chromium."
        )
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--enable-unsafe-swiftshader"]
        opened = playwright.chromium.launch(executable_path=chromium, args=arguments)
        yield opened
        opened.close()


@pytest.fixture
def visit(browser: Any) -> Iterator[Callable[..., Any]]:
    """Opens a page in a window of its own; at the end nothing may have complained that was not expected."""
    opened = []

    def visiting(address: str, *, wide: int = 1280, high: int = 800, expected: str = "", **how: Any) -> Any:
        context = browser.new_context(viewport={"width": wide, "height": high}, **how)
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        page.complaints, page.expected = [], expected
        page.on("console", lambda message: page.complaints.append(message.text))
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        page.on("dialog", lambda dialog: (page.complaints.append(dialog.message), dialog.dismiss()))
        page.goto(address)
        opened.append(page)
        return page

    yield visiting
    for page in opened:
        found = [said for said in page.complaints if GRAPHICS not in said]
        page.context.close()
        assert [said for said in found if not page.expected or page.expected not in said] == []


KINDS = {
    "apple": ["red", "sweet", "crisp", "orchard", "core", "pie"],
    "banana": ["yellow", "soft", "peel", "bunch", "tropical", "ripe"],
    "cherry": ["stone", "pair", "blossom", "tart", "small", "stem"],
}


def write_fruits(folder: Path) -> dict[str, str]:
    """Tables of forty fruits of every kind, without labels, mostly linked to their own; returns what each is."""
    draw = np.random.default_rng(0)
    truth = {f"{kind[:3]}-{number}": kind for kind in KINDS for number in range(40)}
    names = list(truth)
    nodes = [["id", "text", "weight"]]
    nodes += [[name, " ".join(draw.choice(KINDS[truth[name]], 6)), str(draw.integers(1, 100))] for name in names]
    edges = [["source", "target"]]
    for name in names:
        near = [other for other in names if truth[other] == truth[name]]
        edges += [[name, other] for other in [*draw.choice(near, 3), *draw.choice(names, 1)] if other != name]
    write_table(folder / "nodes.csv", nodes)
    write_table(folder / "edges.csv", edges)
    return truth


def write_table(path: Path, rows: list[list[str]]) -> None:
    path.parent.mkdir(exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)


def write_ledger(path: Path, labels: dict[str, str]) -> None:
    """Labels as the page would have written them."""
    ledger = Ledger(path, (), "test")
    for node, label in labels.items():
        ledger.append(partial(_labelled, node, label))


def _labelled(node: str, label: str, _given: object) -> Line:
    return Line(id=node, label=label, action="label")
