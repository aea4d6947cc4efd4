"""Make a release and try it: ``python -m tools.release [--python python3.12 ...] [--demo] [--no-install]``.

1. The wheel and the source archive of the last commit are built twice, and have to be the same bytes.
2. Their metadata (twine), contents and sizes are checked; they are left in dist/.
3. The wheel is installed into an empty environment for every Python that is named, or else found here, and the
   README's commands are run there, in an empty folder; mypy reads the types that it brings. ``--demo`` runs the
   whole demonstration as well.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tools.archives import ROOT, Fault, build, check_contents

PYTHONS = ("python3.10", "python3.11", "python3.12", "python3.13")
# The README's commands on a graph of one's own and a benchmark, in their order; epochs are fewer.
COMMANDS = (
    "lcgnn --version",
    "lcgnn methods",
    "lcgnn methods lc-gcn",
    "lcgnn init my_graph",
    "lcgnn inspect my_graph",
    "lcgnn compare my_graph --methods lc-gcn,mlp --folds 2 --set epochs=20 --out first",
    "lcgnn train my_graph --method lc-gcn --folds 2 --set epochs=20 --out second",
    "lcgnn predict second my_graph --out predictions.csv",
    "lcgnn train cora --method lc-gcn --seeds 2 --set epochs=20 --out third",
    "lcgnn reproduce table3 --seeds 3 --plan",
    "lcgnn generate big_graph --nodes 2000 --edges 10000",
    "lcgnn datasets",
)


def main() -> int:
    """The exit code: 0 if all that was asked for is in order."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", action="append", help="To install into; may be given several times.")
    parser.add_argument("--no-install", action="store_true", help="Only build and check.")
    parser.add_argument("--demo", action="store_true", help="Also run 'lcgnn demo' (minutes).")
    parser.add_argument(
        "--share-libraries", action="store_true", help="Find libraries here instead of installing."
    )
    asked = parser.parse_args()
    try:
        wheel = make()
        if not asked.no_install:
            for python in asked.python or _pythons():
                _try_in_empty_folder(wheel, python, demo=asked.demo, shared=asked.share_libraries)
    except Fault as fault:
        print(f"NO RELEASE: {fault}")
        return 1
    return 0


def make() -> Path:
    """Build, check, and leave both archives in dist/; gives the wheel."""
    with tempfile.TemporaryDirectory() as folder:
        first, second = (build(Path(folder) / name) for name in ("one", "two"))
        for ours, theirs in zip(first, second, strict=True):
            if _digest(ours) != _digest(theirs):
                raise Fault(f"{ours.name} is not the same when it is built again.")
        _run([sys.executable, "-m", "twine", "check", "--strict", *map(str, first)], Path(folder), "twine")
        check_contents(*first)
        dist = ROOT / "dist"
        dist.mkdir(exist_ok=True)
        for path in first:
            shutil.copy(path, dist / path.name)
            print(f"{path.name}  {path.stat().st_size:,} bytes, twice the same  sha256 {_digest(path)}")
    return dist / first[0].name


def _pythons() -> list[str]:
    """Those that are here and start, on the path or installed by pyenv."""
    found = {name: _started(name) for name in PYTHONS}
    missing = [name for name, python in found.items() if python is None]
    if missing:
        print(f"Not tried, because not here: {', '.join(missing)}")
    return [python for python in found.values() if python is not None]


def _started(name: str) -> str | None:
    """How to start a Python; that pyenv has a name for it does not mean that it starts by it."""
    versions = Path.home() / ".pyenv" / "versions"
    places = [name, *map(str, versions.glob(f"{name.removeprefix('python')}.*/bin/python"))]
    for python in filter(shutil.which, places):
        if subprocess.run([python, "-c", "import venv"], capture_output=True, check=False).returncode == 0:
            return python
    return None


def _try_in_empty_folder(wheel: Path, python: str, *, demo: bool, shared: bool) -> None:
    """Install the wheel into an empty environment and run the commands in an empty folder."""
    with tempfile.TemporaryDirectory() as folder:
        work, environment = Path(folder) / "work", Path(folder) / "environment"
        work.mkdir()
        _run([python, "-m", "venv", str(environment)], work, "the environment")
        inside = environment / "bin" / "python"
        pip = [str(inside), "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
        if shared:
            _run([*pip, "--no-deps", "--no-index", str(wheel)], work, "installation")
            _share_libraries(inside, work)
        else:
            _run([*pip, "--constraint", str(ROOT / "constraints.txt"), str(wheel)], work, "installation")
        started = time.monotonic()
        for command in (*COMMANDS, *(["lcgnn demo"] if demo else [])):
            program, *words = command.split()
            _run([str(environment / "bin" / program), *words], work, command)
        _run([str(inside), "-c", _six_lines()], work, "the README's six lines of Python")
        _check_types(inside, work)
        done = f"{len(COMMANDS) + 1 + demo} commands of the README in {time.monotonic() - started:.0f} s"
        print(f"{python}: installed, {done}{', the demo among them' if demo else ''}")


def _check_types(python: Path, work: Path) -> None:
    """Hold the program of a user to mypy's strict rules, with the types that the wheel brings."""
    program = str(shutil.copy(ROOT / "tests" / "programs" / "every_public_name.py", work))
    options = ["--strict", "--ignore-missing-imports", "--config-file", os.devnull, "--cache-dir", os.devnull]
    _run([sys.executable, "-m", "mypy", *options, "--python-executable", str(python), program], work, "mypy")


def _share_libraries(python: Path, work: Path) -> None:
    """Let an environment find the libraries of this one; lcgnn is its own, whose folder comes first."""
    where = "import sysconfig; print(sysconfig.get_path('purelib'))"
    site = Path(_run([str(python), "-c", where], work, "the environment").strip())
    libraries = _run([sys.executable, "-c", where], work, "this environment").strip()
    (site / "libraries.pth").write_text(f"{libraries}\n", encoding="utf-8")


def _six_lines() -> str:
    """The README's six lines, with fewer epochs."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    code = re.search(r"## Six lines of Python\n```python\n(.*?)```", readme, re.DOTALL)
    if code is None:
        raise Fault("The README has no six lines of Python.")
    return code[1].replace("seeds=3", 'seeds=1, settings={"epochs": 20}')


def _run(command: list[str], folder: Path, what: str) -> str:
    environment = {**os.environ, "PYTHONPATH": "", "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Fault(f"{what} ended with {done.returncode}:\n{done.stdout[-1500:]}{done.stderr[-1500:]}")
    return done.stdout


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


if __name__ == "__main__":
    sys.exit(main())
