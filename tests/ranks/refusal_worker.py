"""One of two ranks that do not fit together: the first one raises what is wrong, the other one leaves quietly.

Run as ``refusal_worker.py FOLDER PORT...``, one port for each case. FOLDER has parts-2, parts-3 and broken-2.
"""

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from lcgnn.errors import RankError
from lcgnn.runs.crew import at_work

FIRST = os.environ["RANK"] == "0"
CASES: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("parts-3", {}, "parts-3 is a graph in 3 parts, and 2 processes were started"),
    ("broken-2", {}, r"part-1\.safetensors has \d+ bytes and should have \d+"),
    ("parts-2", {"epochs": 5 if FIRST else 6}, "Rank 1 was started with other settings .*: epochs is 6, not 5"),
)


def main(folder: Path, ports: list[str]) -> None:
    for (parts, settings, message), port in zip(CASES, ports, strict=True):
        os.environ["MASTER_PORT"] = port
        expected = pytest.raises(RankError, match=message) if FIRST else pytest.raises(SystemExit, match="2")
        with expected, at_work(folder / parts, "cpu", settings):
            pass


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
