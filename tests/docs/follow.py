"""Does what pages of the documentation say, each in a folder of its own here: ``python follow.py PAGE.md ...``.

Blocks of Python share their names, as in a session. Of blocks of sh the commands of lcgnn are run in this process,
for a new one takes seconds to start, and all other lines by the shell. What takes long on the page is made
shorter, never left out.
"""

import os
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

# Sizes and lengths that the page has for people, and what is as good for a test.
SHORTER = (
    (r"--nodes 100000 --edges 1000000", "--nodes 2000 --edges 12000"),
    (r"--nodes 1000000 --edges 10000000", "--nodes 1500 --edges 9000"),
    (r"--base-epochs 100 --epochs 60", "--base-epochs 6 --epochs 4"),
    (r"--parts 8", "--parts 3"),
    (r"--budget 1m", "--budget 20s"),
    (r"--method lc-gcn --out first", "--method lc-gcn --folds 2 --out first"),
    # Further processes take longer to start than to train.
    (r"^(lcgnn (?:train|compare|reproduce) .*)$", r"\1 --workers 1"),
    (r"\bout=", "workers=1, out="),
)
BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```", re.DOTALL | re.MULTILINE)


def blocks_of(page: Path) -> list[tuple[str, str]]:
    """The page's blocks that are to be run, each with its language."""
    return BLOCK.findall(page.read_text(encoding="utf-8"))


def follow(page: Path) -> None:
    """Run every block of the page; the first that fails ends it."""
    names = {"__name__": "__main__"}
    blocks = blocks_of(page)
    if not any("lcgnn init my_graph" in text for _, text in blocks):
        # Where a page does not make the example itself, it takes for granted that there is one.
        command(["lcgnn", "init", "my_graph"])
    for language, text in blocks:
        text = text.replace("\\\n", " ")
        for long, short in SHORTER:
            text = re.sub(long, short, text, flags=re.MULTILINE)
        if language == "python":
            exec(compile(text, str(page), "exec"), names)  # noqa: S102
        else:
            type_in(text)


def type_in(script: str) -> None:
    """Type the lines of a block one after the other."""
    for part in re.split(r"^(lcgnn [^>|\n]*\n)", script, flags=re.MULTILINE):
        sys.stdout.flush()
        if re.match(r"lcgnn [^>|]*$", part):
            command(shlex.split(part, comments=True))
        elif part.strip():
            subprocess.run(["sh", "-e", "-c", part], check=True)


def command(words: list[str]) -> None:
    """What the program ``lcgnn`` does when it is started with these words."""
    from lcgnn.cli import main

    sys.argv = words
    try:
        main()
    except SystemExit as ended:
        if ended.code:
            raise


if __name__ == "__main__":
    here = Path.cwd()
    for name in sys.argv[1:]:
        page = Path(name)
        (here / page.stem).mkdir()
        os.chdir(here / page.stem)
        started = time.monotonic()
        follow(page)
        print(f"Followed {page.name} in {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
