"""How the ranks find each other, and what is said when they do not."""

from __future__ import annotations

import os
import re
import socket
import struct
import time
from datetime import timedelta

import torch.distributed as dist
from torch.distributed.distributed_c10d import PrefixStore
from torch.distributed.rendezvous import rendezvous

from lcgnn.compute.placement.launch import job
from lcgnn.compute.placement.roll_call import of_this_job
from lcgnn.errors import ConfigError, RankError

# Seconds that a rank waits for the others, at the start and at every exchange.
TIMEOUT = float(os.environ.get("LCGNN_RANK_TIMEOUT", "300"))

_SIOCGIFADDR = 0x8915


def meet(rank: int, size: int, backend: str) -> None:
    """Make torch's process group of all ranks, or raise RankError within the time-out."""
    address, port = os.environ.get("MASTER_ADDR", ""), os.environ.get("MASTER_PORT", "")
    if not address or not port.isdigit() or port == "0":
        raise ConfigError("RANK and WORLD_SIZE are set, but not MASTER_ADDR and MASTER_PORT. Use torchrun.")
    try:
        if rank:
            _wait_for(address, int(port))
        _choose_interface(address, int(port))
        store = of_this_job(_fresh_store(rank, size), rank, size, TIMEOUT)
        timeout = timedelta(seconds=TIMEOUT)
        dist.init_process_group(backend, store=store, rank=rank, world_size=size, timeout=timeout)
    except (OSError, RuntimeError, ValueError) as error:
        raise RankError(
            f"Rank {rank} of {size} cannot reach the others at {address}:{port} within {TIMEOUT:g} s "
            f"({reason(error)}). Check that all ranks were started, that the address is the first rank's and "
            "that its port is open."
        ) from error


def _fresh_store(rank: int, size: int) -> PrefixStore:
    """Where the ranks leave their addresses for each other: not where those of a former attempt or job still are.

    torchrun keeps its store when it starts the ranks again, and torch would find the addresses of dead ones; ranks
    that have outlived their torchrun would find the store of the next one at the same port.
    """
    store, _, _ = next(rendezvous("env://", rank, size, timeout=timedelta(seconds=TIMEOUT)))
    return PrefixStore(f"lcgnn/{job()}", store)


def reason(error: Exception) -> str:
    """What an error says, without where in torch's sources it arose and what torch makes of it."""
    first_line = (str(error).splitlines() or [type(error).__name__])[0]
    return re.sub(r"^(\[\S+:\d+\] )+|\. This is typically caused by .*$", "", first_line).strip().rstrip(".")


def _wait_for(address: str, port: int) -> None:
    """Until somebody listens there. torch would try several times over, each as long as all may take."""
    deadline = time.monotonic() + TIMEOUT
    while True:
        try:
            socket.create_connection((address, port), timeout=max(deadline - time.monotonic(), 0.1)).close()
            return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def _choose_interface(address: str, port: int) -> None:
    """Let gloo use the interface that the first rank is reached through.

    On its own it takes the one that this machine's name stands for, which often is the loopback.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((address, port))
        except OSError:
            return
        own = probe.getsockname()[0]
    names = [name for _, name in socket.if_nameindex() if _address_of(name) == own]
    if names:
        os.environ.setdefault("GLOO_SOCKET_IFNAME", names[0])


def _address_of(interface: str) -> str | None:
    """The interface's IPv4 address, where the system tells it in Linux's way."""
    try:
        import fcntl

        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
            answer = fcntl.ioctl(asked.fileno(), _SIOCGIFADDR, struct.pack("256s", interface.encode()[:15]))
    except (ImportError, OSError):
        return None
    return socket.inet_ntoa(answer[20:24])
