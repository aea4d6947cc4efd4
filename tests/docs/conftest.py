"""The site, built once for all tests and all of their workers."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory, wait_until: Callable[..., Any]) -> Path:
    """The folder with the site; building it gave no warning."""
    base = tmp_path_factory.getbasetemp()
    # Workers have folders of their own beside each other; whoever comes first builds.
    shared = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "site"
    ended = shared / "ended"
    try:
        shared.mkdir()
    except FileExistsError:
        wait_until(ended.exists)
    else:
        command = [sys.executable, "-W", "ignore", "-m", "docs.site", str(shared / "html")]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        (shared / "printed").write_text(done.stdout + done.stderr, encoding="utf-8")
        (shared / "writing").write_text(str(done.returncode), encoding="utf-8")
        (shared / "writing").rename(ended)
    assert ended.read_text(encoding="utf-8") == "0", (shared / "printed").read_text(encoding="utf-8")
    return shared / "html"
