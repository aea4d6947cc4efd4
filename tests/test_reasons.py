"""Doubt and explanation on the command line, as docs/reasons.md tells it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parent.parent / "docs" / "reasons.md"
FIGURES = Path(__file__).parent.parent / "benchmarks" / "results" / "doubt.md"
NUMBER = r"[+-]?\d+(?:\.\d+)?"


def blocks_of_the_page(language: str) -> list[str]:
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    return [text for found, text in blocks if found == language]


def told(text: str) -> tuple[list[list[str]], list[float]]:
    """Words and numbers of the lines that matter: what is doubted, and what is said of the wrong label."""
    telling = ("Without this label", "article-043", "Of its")
    lines = [line for line in text.splitlines() if any(part in line for part in telling)]
    words = [re.sub(NUMBER, "#", line).split() for line in lines]
    return words, [float(number) for number in re.findall(NUMBER, "\n".join(lines))]


def test_every_command_on_the_page_runs_and_prints_what_the_page_shows(tmp_path: Path) -> None:
    blocks = blocks_of_the_page("sh")
    assert len(blocks) == 3
    program = tmp_path / "tools" / "lcgnn"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m lcgnn "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    environment = {**os.environ, "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "118"}
    printed = []
    for text in blocks:
        command = ["sh", "-e", "-c", text]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{text}\n{done.stderr}"
        printed.append(done.stdout)
    assert re.search(r"^article-043 +cooking +astronomy", printed[1], re.MULTILINE)
    assert "label,article-043,,cooking,astronomy," in (tmp_path / "doubts.csv").read_text(encoding="utf-8")
    assert re.search(r"^without the label of article-043 +astronomy", printed[2], re.MULTILINE)
    for shown, said in zip(blocks_of_the_page(""), printed[1:], strict=True):
        words, numbers = told(said)
        assert told(shown)[0] == words
        # Another processor may round otherwise; a method that learns otherwise differs by more.
        assert told(shown)[1] == pytest.approx(numbers, abs=2)


def test_the_table_of_the_page_is_that_of_the_benchmark() -> None:
    first = FIGURES.read_text(encoding="utf-8").split("The same by")[0]
    rows = [line for line in first.splitlines() if line.startswith("|")]
    assert len(rows) == 18
    assert "\n".join(rows) in PAGE.read_text(encoding="utf-8")
