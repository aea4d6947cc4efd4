"""Tensors and their description in one file: safetensors, written whole and checked when read."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from lcgnn.errors import OutputError
from lcgnn.files import plain, written_atomically

_CHECKSUM = "checksum"
_WHAT_TO_DO = "Take an intact copy, or train again."


def write_tensors(path: Path, tensors: Mapping[str, Tensor], description: Mapping[str, Any]) -> None:
    """Write tensors and, as JSON in the file's header, a description of plain data and a checksum over both."""
    tensors = {name: tensor.detach().contiguous() for name, tensor in tensors.items()}
    header = json.dumps({**description, _CHECKSUM: _checksum(tensors, description)}, default=plain)
    # Not by save_file, which writes to a temporary file of its own that a killed process leaves behind.
    content = save(tensors, metadata={"lcgnn": header})
    with written_atomically(path) as temporary:
        temporary.write_bytes(content)


def read_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """What `write_tensors` wrote; OutputError if the file is anything else, or not as it was written."""
    if not path.is_file():
        raise OutputError(f"{path} is not a file. {_WHAT_TO_DO}")
    try:
        with safe_open(path, framework="pt") as file:
            description = json.loads((file.metadata() or {}).get("lcgnn", "null"))
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except OSError as error:
        raise OutputError(f"{path} cannot be read: {error.strerror or error}. {_WHAT_TO_DO}") from error
    except (SafetensorError, ValueError, RecursionError) as error:
        raise OutputError(f"{path} is not a file of lcgnn, or was cut or altered. {_WHAT_TO_DO}") from error
    if not isinstance(description, dict) or _CHECKSUM not in description:
        raise OutputError(f"{path} is not a file of lcgnn. {_WHAT_TO_DO}")
    if description.pop(_CHECKSUM) != _checksum(tensors, description):
        raise OutputError(f"{path} was altered: its checksum is another than it was written with. {_WHAT_TO_DO}")
    return tensors, description


def _checksum(tensors: Mapping[str, Tensor], description: Mapping[str, Any]) -> str:
    """A sha256 over everything in the file that can influence a result."""
    digest = hashlib.sha256(json.dumps(description, sort_keys=True, default=plain).encode())
    for name, tensor in sorted(tensors.items()):
        digest.update(json.dumps([name, str(tensor.dtype), list(tensor.shape)]).encode())
        digest.update(tensor.cpu().reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()
