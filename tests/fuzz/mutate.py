"""Change valid content a little: bytes, text, JSON and arrays, each in the ways that readers get wrong."""

from __future__ import annotations

import copy
import json
from random import Random
from typing import Any

import numpy as np

WHOLE = [-(2**63), -(2**31), -5, -2, -1, 0, 1, 2, 3, 255, 2**15, 2**30, 2**31 - 1, 2**31, 2**32, 2**62, 2**63 - 1]
VALUES: list[Any] = [
    *(None, True, "", "x", "../x", "\0", "é" * 300, -1, 0, 1.5, 1e308, float("nan"), 2**70, [], {}, [1], {"a": 1}),
    *([[]], ["x", "y"], [None], "1", -0.0, [{}]),
]
CELLS = [
    *(
        "",
        "a",
        "b",
        "?",
        "-1",
        "1e999",
        "nan",
        "inf",
        "3,5",
        "1,000",
        "5%",
        "$5",
        "0x10",
        "true",
        "2020-01-01",
        " ",
    ),
    *(
        "\0",
        '"',
        '""',
        "'",
        "é",
        "\ufeff",
        "a\nb",
        "x" * 300,
        "1" * 400,
        "-",
        "=1",
        "train",
        "unknown",
        "01",
        "1.0",
    ),
]
TYPES = ["int8", "int32", "int64", "uint8", "uint64", "float16", "float32", "float64", ">i4", ">f8", "bool", "U3",
         "S2", "complex64", "datetime64[s]"]  # fmt: skip


def mutated_bytes(content: bytes, random: Random) -> bytes:
    """The content with one to four changes somewhere."""
    changed = bytearray(content)
    for _ in range(random.randint(1, 4)):
        place = random.randrange(len(changed) + 1)
        end = min(len(changed), place + random.choice([1, 1, 2, 4, 8, 64]))
        kind = random.randrange(7)
        if kind == 0 and place < len(changed):
            changed[place] ^= 1 << random.randrange(8)
        elif kind == 1:
            changed[place:end] = bytes(random.randrange(256) for _ in range(end - place))
        elif kind == 2:
            changed[place:end] = random.choice(WHOLE).to_bytes(9, "little", signed=True)[: end - place]
        elif kind == 3:
            del changed[place:end]
        elif kind == 4:
            changed[place:place] = changed[place:end] * random.choice([1, 2, 50])
        elif kind == 5:
            del changed[place:]
        else:
            changed[place:place] = random.choice(CELLS).encode()
    return bytes(changed)


def mutated_text(content: str, random: Random) -> bytes:
    """A table as text with some cells replaced, moved or torn."""
    lines = [line.split(",") for line in content.splitlines()]
    for _ in range(random.randint(1, 4)):
        line = random.choice(lines)
        kind = random.randrange(9)
        if kind <= 5 and line:
            line[random.randrange(len(line))] = random.choice(CELLS)
        elif kind == 6:
            line.insert(random.randrange(len(line) + 1), random.choice(CELLS))
        elif kind == 7 and line:
            del line[random.randrange(len(line))]
        else:
            lines.insert(random.randrange(len(lines) + 1), list(random.choice(lines)))
    delimiter, end = random.choice(",,,,;"), random.choice(["\n", "\n", "\r\n", "\r"])
    text = end.join(delimiter.join(line) for line in lines)
    return text.encode(random.choice(["utf-8", "utf-8", "utf-8", "utf-16", "utf-32", "utf-8-sig"]))


def mutated_json(content: Any, random: Random) -> bytes:
    """JSON with a value replaced, a key gone, or nested without end; not always JSON any more."""
    if random.random() < 0.02:
        return b"[" * 100_000 + b"]" * 100_000
    changed = copy.deepcopy(content)
    for _ in range(random.randint(1, 3)):
        place = changed
        while isinstance(place, dict | list) and place:
            keys = list(place) if isinstance(place, dict) else range(len(place))
            key = random.choice(list(keys))
            if not isinstance(place[key], dict | list) or not place[key] or random.random() < 0.3:
                if random.random() < 0.2:
                    del place[key]
                else:
                    place[key] = copy.deepcopy(random.choice(VALUES))
                break
            place = place[key]
    text = json.dumps(changed).encode()
    return mutated_bytes(text, random) if random.random() < 0.2 else text


def mutated_array(array: np.ndarray, random: Random) -> np.ndarray:
    """An array with other entries, of another type or of another shape."""
    kind = random.randrange(8)
    changed = np.array(array)
    with np.errstate(all="ignore"):
        if kind == 0:
            return _of_type(changed, random.choice(TYPES))
        if kind == 1:
            return changed[: random.randrange(changed.shape[0] + 1)] if changed.ndim else changed[None]
        if kind == 2:
            return changed.reshape(random.choice([(-1,), (-1, 1), (1, -1)]))
        if kind == 3:
            return np.concatenate([changed.ravel(), changed.ravel()])
        if kind == 4:
            return np.zeros(random.choice([(0,), (0, 0), (0, 3), (3, 0), ()]), dtype=changed.dtype)
        for _ in range(random.randint(1, 4)):
            if changed.size and changed.dtype.kind in "iu":
                least, most = np.iinfo(changed.dtype).min, np.iinfo(changed.dtype).max
                changed.flat[random.randrange(changed.size)] = min(max(random.choice(WHOLE), least), most)
            elif changed.size and changed.dtype.kind == "f":
                changed.flat[random.randrange(changed.size)] = random.choice(
                    [np.nan, np.inf, -1, 0, 1e38, 1e-45, 7]
                )
            elif changed.size and changed.dtype.kind == "U":
                changed.flat[random.randrange(changed.size)] = random.choice(CELLS)
            elif changed.size:
                changed.flat[random.randrange(changed.size)] = random.random() < 0.5
    return changed


def _of_type(array: np.ndarray, kind: str) -> np.ndarray:
    try:
        return array.astype(kind)
    except (TypeError, ValueError):
        return array
