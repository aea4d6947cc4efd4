"""What every rank says of its own nodes, in a file of its own, and all of it as the first rank reads it.

No process ever holds the rows of all nodes: the first rank puts them into a file in the graph's order, some at a
time. Where it cannot see another rank's file, since their machines have no disk in common, the rows come some at
a time as messages.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from lcgnn.compute.placement.disk import disk_array
from lcgnn.compute.placement.world import World
from lcgnn.errors import LCGNNError
from lcgnn.files import written_atomically
from lcgnn.mapping import blocks, let_go
from lcgnn.sources.npy import mapped_array

Rows = NDArray[np.float32]
_PREFIX = "rows-of-rank-"
# Rows that are in memory, or on their way, at a time.
_ROWS = 2**16


def rows_of_all(world: World, folder: Path | None, own: Rows, nodes: NDArray[np.int64]) -> Rows:
    """On the first rank the rows (N, C) of all nodes, in their order in the graph; no rows elsewhere.

    Args:
        world: The ranks, each of which calls this.
        folder: Where files may go, as the first rank knows it; it need not be there for the others.
        own: (n, C) this rank's.
        nodes: (N,) on the first rank the nodes that the rows belong to, in the order of the ranks.
    """
    counts = world.counts(len(own))
    with _written(world, folder, own) as path:
        paths = [Path(text) if text else None for text in world.gather_text(str(path or ""))]
        seen = [_rows_in(path, (count, own.shape[1])) for path, count in zip(paths, counts, strict=True)]
        visible = _told(world, [rows is not None for rows in seen])
        result = disk_array((sum(counts), own.shape[1]), np.float32) if world.is_first else own[:0]
        starts = np.concatenate([[0], np.cumsum(counts)])
        for block in blocks(max(counts), _ROWS):
            sent = own[:0] if visible[world.rank] else own[block]
            arrived = world.to_first(torch.from_numpy(np.ascontiguousarray(sent)).to(world.device)).cpu().numpy()
            if world.is_first:
                _fill(result, nodes, starts, block, seen, arrived)
        # Nobody removes a file before the first rank has read it.
        world.counts(0)
    return result


def remove_rows(folder: Path) -> None:
    """Remove the files that ranks which were killed left in a folder, whole or not."""
    for pattern in (f"{_PREFIX}*", f".{_PREFIX}*"):
        for left in folder.glob(pattern):
            with suppress(OSError):
                left.unlink()


@contextmanager
def _written(world: World, folder: Path | None, own: Rows) -> Iterator[Path | None]:
    """This rank's rows in a file, for as long as the block lasts; None where it cannot be written."""
    where = _told(world, None if folder is None else str(folder.absolute()))
    path: Path | None = None
    # On another machine there need not be such a folder, and a full disk is no reason to lose a result.
    if where is not None and Path(where).is_dir():
        path = Path(where) / f"{_PREFIX}{world.rank}.npy"
        try:
            with written_atomically(path) as temporary, temporary.open("wb") as file:
                np.lib.format.write_array(file, np.ascontiguousarray(own))
        except LCGNNError:
            path = None
    try:
        yield path
    finally:
        if path is not None:
            path.unlink(missing_ok=True)


def _told(world: World, content: Any) -> Any:
    """The first rank's content, for all."""
    return json.loads(world.broadcast(json.dumps(content).encode() if world.is_first else None))


def _rows_in(path: Path | None, shape: tuple[int, int]) -> Rows | None:
    """The rows in a rank's file; None where they are not to be seen from here."""
    if path is None:
        return None
    try:
        rows: Any = mapped_array(path)
    except LCGNNError:
        return None
    return rows if rows.shape == shape and rows.dtype == np.float32 else None


def _fill(
    result: Rows,
    nodes: NDArray[np.int64],
    starts: NDArray[np.int64],
    block: slice,
    seen: list[Rows | None],
    arrived: Rows,
) -> None:
    """Put every rank's rows of a block where their nodes are, from its file or from what arrived of it."""
    taken = 0
    for start, end, rows in zip(starts, starts[1:], seen, strict=False):
        count = int(min(block.stop, end - start) - block.start)
        if count <= 0:
            continue
        own = nodes[start + block.start : start + block.start + count]
        if rows is None:
            result[own] = arrived[taken : taken + count]
            taken += count
        else:
            result[own] = rows[block.start : block.start + count]
            let_go(rows)
        let_go(result)
