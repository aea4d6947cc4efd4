"""Which device to compute on."""

from __future__ import annotations

import torch

from lcgnn.errors import ConfigError


def resolve_device(name: str = "auto") -> torch.device:
    """The named torch device, or for "auto" a GPU where there is one and the CPU elsewhere."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.zeros(1, device=device).item()  # The device "meta" has tensors, but no numbers in them.
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise ConfigError(f"Device {name!r} cannot be used here ({reason}). Try 'cpu' or 'auto'.") from error
    return device
