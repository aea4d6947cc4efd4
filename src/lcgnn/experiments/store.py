"""Records on disk: one JSON file a run while they are made, one packed file an experiment to keep."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from lcgnn.claims import Claim, try_claim
from lcgnn.errors import OutputError
from lcgnn.files import parse_json, read_json, write_json
from lcgnn.outputs import OutputKind, beginning
from lcgnn.runs.records import Record

_log = logging.getLogger(__name__)

# What a packed record does not share with the others of its line.
_OWN = ("run", "seed", "seconds", "stages", "environment", "choice", "expected")


PACK = OutputKind("packed records", (".jsonl",), lambda path: beginning(path).startswith(b'{"shared":'))


class Store:
    """A folder of records, each under the hash of what determines it, and packed files that are read as well.

    Several processes may use a store at once: a record is written whole or not at all, and writing it twice
    writes the same.

    Args:
        folder: Where new records go.
        packs: Packed files with older ones.
    """

    def __init__(self, folder: Path, packs: Iterable[Path] = ()) -> None:
        self.folder = folder
        self._packed: dict[str, Record] = {}
        for pack in packs:
            self._packed.update((record.run, record) for record in read_pack(pack))

    def find(self, identity: str) -> Record | None:
        """The record of a run, or None; a damaged file is named and counts as none."""
        if identity in self._packed:
            return self._packed[identity]
        path = self._path(identity)
        if not path.exists():
            return None
        try:
            record = Record.from_json(read_json(path), str(path))
        except OutputError as error:
            _log.warning("%s", error)
            return None
        if record.run != identity:
            _log.warning("%s is the record of another run. It is ignored and the run done again.", path)
            return None
        return record

    def all(self) -> list[Record]:
        """Every record that there is, packed or not."""
        identities = {path.stem for path in self.folder.glob("*.json")} | self._packed.keys()
        found = (self.find(identity) for identity in sorted(identities))
        return [record for record in found if record is not None]

    def add(self, record: Record) -> None:
        """Keep a record."""
        write_json(self._path(record.run), record.to_json())

    def checkpoint(self, identity: str) -> Path:
        """Where an unfinished run keeps its state."""
        return self.folder / "unfinished" / f"{identity}.safetensors"

    def first_phase(self, identity: str) -> Path:
        """Where the state after a first phase is kept that several runs have in common."""
        return self.folder / "first_phases" / f"{identity}.safetensors"

    @property
    def folds(self) -> Path:
        """Where choices keep the folds that they trained, so that another rule of choosing trains none again."""
        return self.folder / "folds"

    def claim(self, identity: str) -> Claim | None:
        """The right to do a run, or None if another process is doing it."""
        return try_claim(self.folder / "unfinished" / f"{identity}.claim")

    def forget_first_phases(self) -> None:
        """Remove what was kept for runs to come."""
        for path in (self.folder / "first_phases").glob("*.safetensors"):
            path.unlink(missing_ok=True)

    def _path(self, identity: str) -> Path:
        return self.folder / f"{identity}.json"


def write_pack(path: Path, records: Iterable[Record]) -> int:
    """Write records into one compact file, what many of them share only once; return how many."""
    groups: dict[str, dict[str, Any]] = {}
    count = 0
    for record in sorted(records, key=lambda item: (item.dataset, item.method, item.seed, item.run)):
        shared = record.to_json()
        own = {name: shared.pop(name) for name in _OWN if name in shared}
        key = json.dumps(shared, sort_keys=True)
        groups.setdefault(key, {"shared": shared, "runs": []})["runs"].append(own)
        count += 1
    lines = [json.dumps(group, separators=(",", ":")) for group in groups.values()]
    with PACK.written(path) as temporary:
        temporary.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return count


def read_pack(path: Path) -> list[Record]:
    """The records of a packed file, or OutputError that names the line that is damaged."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise OutputError(f"{path} cannot be read ({error}).") from error
    return [
        Record.from_json(content, f"{path}, line {number}")
        for number, line in enumerate(lines, start=1)
        for content in _unpacked(line, f"{path}, line {number}")
    ]


def _unpacked(line: str, where: str) -> Iterator[dict[str, Any]]:
    """The records of a line, each with what it shares with the others."""
    try:
        group = parse_json(line)
        yield from [{**group["shared"], **run} for run in group["runs"]]
    except (ValueError, KeyError, TypeError) as error:
        raise OutputError(f"{where}: not a packed record. Restore the file.") from error
