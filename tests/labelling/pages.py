"""A small graph without labels, and pages that are served by processes of their own."""

import csv
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import httpx
import numpy as np

COLOURS = ("red", "green", "blue")
HOSTILE = "<script>alert(1)</script>"
NUM_NODES = 90


def colour_of(node: int) -> str:
    """The true class of a node of `unlabelled`."""
    return COLOURS[node % 3]


def write_graph(folder: Path) -> Path:
    """Three groups of nodes that are joined within and have a word of their own; nothing is labelled."""
    folder.mkdir(parents=True, exist_ok=True)
    generator = np.random.default_rng(0)
    with (folder / "nodes.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "text", "size"])
        for node in range(NUM_NODES):
            name = HOSTILE if node == 0 else f"n{node}"
            rows.writerow([name, f"{colour_of(node)} things and {'apples' if node % 2 else 'pears'}", node % 7])
    with (folder / "edges.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["source", "target"])
        for node in range(1, NUM_NODES):
            for other in generator.choice(NUM_NODES // 3, 3, replace=False) * 3 + node % 3:
                if other not in (0, node):
                    rows.writerow([f"n{node}", f"n{other}"])
        rows.writerow([HOSTILE, "n3"])
    return folder


@dataclass
class Page:
    """A page that is served.

    Args:
        process: That serves it.
        link: That opens it, once.
    """

    process: subprocess.Popen
    link: str
    client: httpx.Client

    @property
    def base(self) -> str:
        return self.link.split("/?")[0]

    def get(self, path: str) -> dict:
        answer = self.client.get(path)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def post(self, path: str, **content: object) -> dict:
        answer = self.client.post(path, json=content)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def label_next(self, count: int = 1) -> list[int]:
        """Answer what is asked with the true class, so many times."""
        found = []
        card = self.get("/api/card")
        for _ in range(count):
            names = [item["name"] for item in self.get("/api/state")["classes"]]
            if colour_of(card["node"]) not in names:
                self.post("/api/classes", action="add", name=colour_of(card["node"]))
                names.append(colour_of(card["node"]))
            found.append(card["node"])
            card = self.post("/api/label", node=card["node"], **{"class": names.index(colour_of(card["node"]))})[
                "card"
            ]
        return found

    def wait_for(self, true: Callable[[dict], bool], seconds: float = 60) -> dict:
        """The state, as soon as something is true of it."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            state = self.get("/api/state")
            if true(state):
                return state
            time.sleep(0.2)
        raise AssertionError(f"It never came: {state}")

    def kill(self) -> None:
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def end(self) -> None:
        self.client.close()
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        for stream in (self.process.stdout, self.process.stderr):
            stream.close()


def start(*arguments: str, within: Path, enter: bool = True) -> Page:
    """Serve a page by ``lcgnn label`` with these arguments, and open it unless it is not to be entered yet."""
    command = [sys.executable, "-m", "lcgnn", "label", *arguments, "--no-browser"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(
        command,
        cwd=within,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A group of its own, as a shell gives to each command, for Ctrl-C to reach.
        start_new_session=True,
    )
    link = None
    for line in process.stdout:
        link = re.match(r"Open (\S+)", line)
        if link:
            break
    assert link, process.stderr.read()
    base = link[1].split("/?")[0]
    page = Page(process, link[1], httpx.Client(base_url=base, headers={"Origin": base}, timeout=60))
    if enter:
        assert page.client.get(link[1]).status_code == 200
    return page
