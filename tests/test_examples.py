"""The examples run as they stand, and print what they promise."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_shows_that_label_consistency_helps_or_that_it_works(example: Path, cora: object) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(example)], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    *alone, together = (float(number) for number in re.findall(r": ([\d.]+)%", done.stdout))
    assert together > (alone[0] if alone else 90)
