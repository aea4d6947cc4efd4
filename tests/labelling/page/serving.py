"""The real command that serves a graph's page, in a process of its own, and a browser to look at it."""

import csv
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

# Without a graphics card, as on most servers, the processor draws; Chromium wants to be told that this is meant.
BROWSER = ("--no-sandbox", "--enable-unsafe-swiftshader")


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
