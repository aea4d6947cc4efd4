"""What the documentation tells people to type is run, page by page; every command in it exists."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from docs.site.commands import commands
from tests.docs.follow import blocks_of

ROOT = Path(__file__).parents[2]
FOLLOW = Path(__file__).with_name("follow.py")
# These have tests of their own: own-graph and reasons beside this folder, the report's and the page's in theirs.
ELSEWHERE = {"own-graph", "reasons", "report", "labelling"}
PAGES = [path for path in sorted((ROOT / "docs").glob("*.md")) if path.stem not in ELSEWHERE and blocks_of(path)]
# What needs several machines, an index of packages or many minutes; torchrun has tests/ranks, the demo tests/cli.
NOT_RUN = ("pip ", "torchrun ", "make ", "lcgnn demo", "lcgnn reproduce all", "lcgnn report")


def test_every_page_can_be_followed(tmp_path: Path, cora: object) -> None:
    """In one process, for each would take seconds to start; what it prints says which page it was at."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(FOLLOW), *map(str, PAGES)],
        cwd=tmp_path,
        env={**os.environ, "OMP_NUM_THREADS": "1", "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    followed = re.findall(r"^Followed (\S+) in", done.stderr, re.MULTILINE)
    assert followed == [page.name for page in PAGES], done.stdout[-2000:] + done.stderr[-3000:]
    assert done.returncode == 0


def lines_of(block: str) -> list[str]:
    """The commands of a block, those over several lines joined, without comments and where they write to."""
    joined = block.replace("\\\n", " ")
    return [re.split(r"  #| > ", line)[0].strip() for line in joined.splitlines()]


DOCUMENTS = [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.stem)
def test_every_command_in_a_document_is_one_that_lcgnn_takes(document: Path) -> None:
    known = dict(commands())
    text = document.read_text(encoding="utf-8")
    for block in re.findall(r"^```(?:sh|text)?\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        for line in lines_of(block):
            words = shlex.split(line) if line.startswith(("lcgnn ", "torchrun ")) else []
            if "lcgnn" not in words:
                continue
            words = words[words.index("lcgnn") :]
            name = max(
                (each for each in known if f"{' '.join(words)} ".startswith(f"{each} ")), key=len, default=None
            )
            assert name, f"{document.name}: there is no such command: {line}"
            known[name].make_context(name, words[len(name.split()) :])


def test_a_block_that_is_not_run_has_no_command_that_could_be() -> None:
    """A command that people are to type stands in a block that the tests run, but for a few that nobody can."""
    for page in (path for path in sorted((ROOT / "docs").glob("*.md")) if path.stem not in ELSEWHERE):
        text = page.read_text(encoding="utf-8")
        for block in re.findall(r"^```(?:text)?\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
            typed = [line for line in lines_of(block) if line.startswith(("lcgnn ", "torchrun ", "pip ", "make "))]
            assert all(line.startswith(NOT_RUN) for line in typed), f"{page.name}: {typed}"
