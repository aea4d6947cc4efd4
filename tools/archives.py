"""The wheel and the source archive: of the last commit, the same bytes every time, with what belongs in them."""

from __future__ import annotations

import gzip
import io
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
# Bytes. The package is small: data sets are fetched, and libraries are others'.
LARGEST = 1_000_000
PACKAGE_DATA = (
    "lcgnn/py.typed",
    "lcgnn/experiments/demo.toml",
    "lcgnn/experiments/claims.toml",
    "lcgnn/experiments/paper/table2.toml",
    "lcgnn/methods/defaults.toml",
    "lcgnn/report/templates/report.css",
    "lcgnn/sources/benchmarks/cora_planetoid_order.txt",
)
# What is in the source archive beside the package.
BESIDE = {
    *("CHANGELOG.md", "CITATION.cff", "LICENSE", "MANIFEST.in", "PKG-INFO", "README.md", "constraints.txt"),
    *("pyproject.toml", "setup.cfg"),
}


class Fault(Exception):
    """What keeps this from being released."""


def commit_time() -> str:
    """When the last commit was made, in seconds: the time that every file of the release has."""
    return _git("log", "-1", "--format=%ct").strip()


def build(folder: Path) -> tuple[Path, Path]:
    """Build the wheel and the source archive of the last commit in a folder, and give their places there."""
    source, out = folder / "source", folder / "dist"
    source.mkdir(parents=True)
    archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        # Who builds it, and with which umask, is not to be seen.
        for member in files:
            member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
            files.extract(member, source, filter="data")
    environment = {**os.environ, "SOURCE_DATE_EPOCH": commit_time(), "PYTHONPATH": ""}
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(source)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Fault(f"It does not build:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    (wheel,), (sdist,) = out.glob("*.whl"), out.glob("*.tar.gz")
    repack(sdist, int(commit_time()))
    return wheel, sdist


def repack(path: Path, time: int) -> None:
    """Write a .tar.gz again with its files in order, of nobody, and of one time; setuptools writes the hour."""
    with tarfile.open(path) as old:
        members = [(member, old.extractfile(member)) for member in sorted(old, key=lambda item: item.name)]
        plain = io.BytesIO()
        with tarfile.open(fileobj=plain, mode="w", format=tarfile.PAX_FORMAT) as new:
            for member, content in members:
                kept = tarfile.TarInfo(member.name)
                kept.size, kept.type, kept.mtime = member.size, member.type, time
                kept.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
                new.addfile(kept, content)
    with path.open("wb") as file, gzip.GzipFile("", "wb", 9, file, time) as packed:
        packed.write(plain.getvalue())


def check_contents(wheel: Path, sdist: Path) -> None:
    """Raise Fault unless both archives have the package of the last commit, and nothing that is not for users."""
    package = {name.removeprefix("src/") for name in _git("ls-files", "src/lcgnn").splitlines()}
    with zipfile.ZipFile(wheel) as archive:
        in_wheel = {name for name in archive.namelist() if ".dist-info/" not in name}
    _compare(wheel, in_wheel, package)
    for name in PACKAGE_DATA:
        if name not in in_wheel:
            raise Fault(f"{wheel.name} lacks {name}.")
    with tarfile.open(sdist) as files:
        inside = {name.partition("/")[2] for name in (item.name for item in files if item.isfile())}
    built = {name for name in inside if ".egg-info/" in name}
    _compare(sdist, inside - built, {f"src/{name}" for name in package} | BESIDE)
    for path in (wheel, sdist):
        if path.stat().st_size > LARGEST:
            raise Fault(f"{path.name} has {path.stat().st_size:,} bytes, and more than {LARGEST:,} is too much.")


def _compare(path: Path, names: set[str], wanted: set[str]) -> None:
    if names != wanted:
        missing, further = sorted(wanted - names)[:5], sorted(names - wanted)[:5]
        raise Fault(f"{path.name} lacks {missing or 'nothing'} and should not have {further or 'nothing else'}.")


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout
