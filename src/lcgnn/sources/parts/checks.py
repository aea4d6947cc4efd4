"""What the files of a graph in parts have to hold, checked before anything is computed with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcgnn.csr import checked_csr
from lcgnn.errors import DataError
from lcgnn.graph import UNLABELLED, Features
from lcgnn.sources.parts.part import USES, Part

AGAIN = "Cut the graph again: lcgnn partition"
_MATRIX = ("values", "columns", "offsets")
Arrays = Mapping[str, NDArray[Any]]


def checked_part(
    arrays: Arrays, where: str, *, num_nodes: int, num_parts: int, num_features: int, num_classes: int
) -> Part:
    """The part that these arrays describe; DataError if they do not fit each other or the whole graph.

    Args:
        arrays: By name, as they are stored.
        where: The file, for messages.
        num_nodes: Of the whole graph.
        num_parts: That it is cut into.
        num_features: Of a node.
        num_classes: Of the graph.
    """
    nodes = _whole(arrays, "nodes", where, None, num_nodes)
    size = nodes.size
    received = _whole(arrays, "receive_counts", where, num_parts, num_nodes + 1)
    sent = _whole(arrays, "send_counts", where, num_parts, size + 1)
    return Part(
        nodes=nodes,
        labels=_whole(arrays, "labels", where, size, num_classes, least=UNLABELLED),
        uses=_whole(arrays, "uses", where, size, len(USES)),
        features=_features(arrays, where, (size, num_features)),
        adjacency=_matrix(arrays, "adjacency", (size, size + int(received.sum())), where),
        row_starts=_whole(arrays, "row_starts", where, size, 2**62),
        send_rows=_whole(arrays, "send_rows", where, int(sent.sum()), size),
        send_counts=sent,
        receive_counts=received,
    )


def _array(arrays: Arrays, name: str, where: str) -> NDArray[Any]:
    if name not in arrays:
        raise DataError(f"{where}: there is no array {name!r}. {AGAIN}")
    return arrays[name]


def _whole(arrays: Arrays, name: str, where: str, length: int | None, end: int, *, least: int = 0) -> NDArray[Any]:
    """Whole numbers from ``least`` to before ``end``, as many as ``length`` says."""
    array = _array(arrays, name, where)
    fits = array.ndim == 1 and array.dtype.kind == "i" and length in (None, array.size)
    if not fits or (array.size and not least <= int(array.min()) <= int(array.max()) < end):
        wanted = "" if length is None else f"{length:,} "
        raise DataError(
            f"{where}: {name!r} holds {array.dtype} of shape {array.shape}; it should be {wanted}whole numbers "
            f"from {least} to {end - 1:,}. {AGAIN}"
        )
    return array


def _matrix(arrays: Arrays, name: str, shape: tuple[int, int], where: str) -> Any:
    values, columns, offsets = (_array(arrays, f"{name}.{field}", where) for field in _MATRIX)
    return checked_csr(values, columns, offsets, shape, f"{where}: {name}")


def _features(arrays: Arrays, where: str, shape: tuple[int, int]) -> Features | None:
    if "features" not in arrays:
        return _matrix(arrays, "features", shape, where) if shape[1] else None
    features: NDArray[np.float32] = arrays["features"]
    if features.shape != shape or features.dtype.kind != "f":
        raise DataError(
            f"{where}: 'features' holds {features.dtype} of shape {features.shape}; it should be numbers of shape "
            f"{shape}. {AGAIN}"
        )
    return features
