"""The processes of a run: how they find each other, what they tell each other, and what that costs."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from lcgnn.compute.device import resolve_device
from lcgnn.compute.placement.launch import is_launched
from lcgnn.compute.placement.meeting import meet, reason
from lcgnn.errors import RankError

BOUNDARY_ROWS = "boundary rows"
LABELLED_ROWS = "labelled rows"
SUMS = "class agreement and scores"
WEIGHT_GRADIENTS = "weight gradients"
RESULTS = "checkpoints and results"
SETUP = "settings"


@dataclass
class Traffic:
    """What one kind of message has cost this rank so far.

    Args:
        messages: How many exchanges.
        sent: Bytes that this rank handed over for other ranks.
        seconds: Spent in them, waiting for slower ranks included.
    """

    messages: int = 0
    sent: int = 0
    seconds: float = 0.0


@dataclass(eq=False)
class World:
    """All ranks, seen from one of them.

    Args:
        rank: Of this process, from 0.
        size: How many there are.
        device: What this process computes on.
        traffic: By kind of message.
    """

    rank: int
    size: int
    device: torch.device
    traffic: dict[str, Traffic] = field(default_factory=dict)

    @property
    def is_first(self) -> bool:
        """Whether this is the rank that writes and prints."""
        return self.rank == 0

    def sum(self, tensor: Tensor, kind: str = SUMS) -> Tensor:
        """The sum of every rank's tensor, outside of autograd."""
        total = tensor.detach().to(self.device, copy=True)
        if self.size > 1:
            # A ring sends everything nearly twice, whatever the number of ranks.
            sent = 2 * total.nbytes * (self.size - 1) // self.size
            self._measured(kind, sent, lambda: dist.all_reduce(total))
        return total

    def sum_gradients(self, parameters: Iterable[Tensor]) -> None:
        """Replace every parameter's gradient by the sum of all ranks' gradients."""
        gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
        sizes = [gradient.numel() for gradient in gradients]
        total = self.sum(torch.cat([gradient.reshape(-1) for gradient in gradients]), WEIGHT_GRADIENTS)
        for gradient, part in zip(gradients, torch.split(total, sizes), strict=True):
            gradient.copy_(part.view(gradient.shape))

    def send_rows(
        self,
        rows: Tensor,
        send_counts: Sequence[int],
        receive_counts: Sequence[int],
        kind: str,
        into: Tensor | None = None,
    ) -> Callable[[], Tensor]:
        """Start sending rows, grouped by the rank that they go to; what is returned waits for the others' rows."""
        received = rows.new_empty(sum(receive_counts), *rows.shape[1:]) if into is None else into
        if self.size == 1:
            return lambda: received.copy_(rows)
        row_bytes = rows.element_size() * rows[:1].numel() if rows.shape[0] else 0
        sent = row_bytes * (rows.shape[0] - send_counts[self.rank])
        work: Any = None

        def start() -> None:
            nonlocal work
            work = dist.all_to_all_single(
                received, rows.contiguous(), list(receive_counts), list(send_counts), async_op=True
            )

        def finish() -> Tensor:
            self._measured(kind, 0, work.wait, messages=0)
            return received

        self._measured(kind, sent, start)
        return finish

    def gather(self, rows: Tensor, counts: Sequence[int], kind: str = LABELLED_ROWS) -> Tensor:
        """Every rank's rows, in the order of the ranks; ``counts`` says how many each has."""
        copies = rows.repeat(self.size, *[1] * (rows.dim() - 1))
        return self.send_rows(copies, [rows.shape[0]] * self.size, counts, kind)()

    def to_first(self, rows: Tensor) -> Tensor:
        """On the first rank every rank's rows, in the order of the ranks; no rows elsewhere."""
        counts = self.counts(rows.shape[0])
        nobody = [0] * (self.size - 1)
        receive = counts if self.is_first else [0, *nobody]
        return self.send_rows(rows, [rows.shape[0], *nobody], receive, RESULTS)()

    def counts(self, count: int) -> list[int]:
        """Every rank's count."""
        own = torch.zeros(self.size, dtype=torch.int64)
        own[self.rank] = count
        return [int(item) for item in self.sum(own, SETUP)]

    def broadcast(self, content: bytes | None) -> bytes:
        """What the first rank has; the others give None."""
        size = int(self.sum(torch.tensor(len(content or b"")), RESULTS))
        data = torch.zeros(size, dtype=torch.uint8, device=self.device)
        if content:
            data.copy_(torch.frombuffer(bytearray(content), dtype=torch.uint8))
        if self.size > 1 and size:
            self._measured(RESULTS, size if self.is_first else 0, lambda: dist.broadcast(data, 0))
        return bytes(data.cpu().numpy())

    def gather_text(self, text: str) -> list[str]:
        """Every rank's text."""
        encoded = torch.tensor(list(text.encode()), dtype=torch.uint8, device=self.device)
        counts = self.counts(encoded.numel())
        gathered = self.gather(encoded, counts, SETUP).cpu()
        return [bytes(item.numpy()).decode() for item in torch.split(gathered, counts)]

    def _measured(self, kind: str, sent: int, action: Callable[[], object], messages: int = 1) -> None:
        traffic = self.traffic.setdefault(kind, Traffic())
        started = time.perf_counter()
        try:
            action()
        except RuntimeError as error:
            raise RankError(
                f"Rank {self.rank} of {self.size} lost the others while exchanging {kind} ({reason(error)}). "
                "If they have ended, start all of them again: training continues from the last checkpoint."
            ) from error
        traffic.messages += messages
        traffic.sent += sent
        traffic.seconds += time.perf_counter() - started


@contextmanager
def joined(device: str = "auto") -> Iterator[World]:
    """Meet the other ranks that torchrun started, or be the only one where it did not."""
    if not is_launched():
        yield World(0, 1, resolve_device(device))
        return
    rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    chosen = resolve_device(device)
    if chosen.type == "cuda":
        chosen = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
        torch.cuda.set_device(chosen)
    # As everywhere in lcgnn a process has one thread, so that all ranks take the same time.
    torch.set_num_threads(1)
    meet(rank, size, "nccl" if chosen.type == "cuda" else "gloo")
    try:
        yield World(rank, size, chosen)
    finally:
        dist.destroy_process_group()
