"""One fit by all ranks: the first one leads, which is where everything else happens, and the others follow."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lcgnn.compute.placement.launch import fail_once
from lcgnn.compute.placement.part_tensors import PartTensors
from lcgnn.compute.placement.world import (
    BOUNDARY_ROWS,
    LABELLED_ROWS,
    SUMS,
    WEIGHT_GRADIENTS,
    Traffic,
    World,
    joined,
)
from lcgnn.errors import LCGNNError, RankError, TrainingError
from lcgnn.graph import Split
from lcgnn.methods import Context, Fit, Method, entry
from lcgnn.methods.base import Stage
from lcgnn.methods.lc import TwoPhase
from lcgnn.methods.placements import check_placement
from lcgnn.runs.rank_rows import remove_rows, rows_of_all
from lcgnn.runs.records import Communication, MessageCost
from lcgnn.runs.run import Run
from lcgnn.sources.parts.files import MANIFEST, Manifest, read_manifest, read_part
from lcgnn.sources.parts.part import Part
from lcgnn.training.shared_checkpoint import SharedCheckpoint

Result = TypeVar("Result")

_REPORT = {"report": True}


class Crew:
    """All ranks at work on the graph in a folder, seen from one of them.

    The first rank plans, splits, measures, writes and prints as if it were alone; what it asks the others for is
    a fit. Whatever can be wrong with the folder, or between the ranks, is told here, before any work starts.

    Args:
        folder: Of the parts; every rank reads its own.
        world: The ranks.
        settings: By name, what the ranks were started with.
    """

    def __init__(self, folder: Path, world: World, settings: Mapping[str, Any]) -> None:
        self.world = world
        self.ended = False
        self.manifest, part = unanimously(world, lambda: _own_part(folder, world))
        self._check_settings({**settings, MANIFEST: hashlib.sha256((folder / MANIFEST).read_bytes()).hexdigest()})
        self.tensors = PartTensors(part, len(self.manifest.class_names), world)
        self.nodes = world.to_first(torch.from_numpy(part.nodes).to(world.device))

    def _check_settings(self, settings: Mapping[str, Any]) -> None:
        texts = self.world.gather_text(json.dumps(settings, sort_keys=True, default=str))
        first = json.loads(texts[0])
        for rank, text in enumerate(texts):
            other = json.loads(text)
            names = [name for name in {**first, **other} if first.get(name) != other.get(name)]
            if names:
                fail_once(
                    RankError(
                        f"Rank {rank} was started with other settings than rank 0: {names[0]} is "
                        f"{other.get(names[0])!r}, not {first.get(names[0])!r}. Give all ranks the same command."
                    )
                )

    def fit(self, name: str, method: Method, split: Split, seed: int, context: Context) -> Fit:
        """The first rank's call: fit on all ranks, and get the fit for all nodes.

        Args:
            name: Of the method.
            method: It and its settings.
            split: By the nodes' numbers in the whole graph.
            seed: Of everything random.
            context: Checkpoints and progress, which only this rank sees.
        """
        check_placement(method, self.tensors.kind)
        assert isinstance(method, TwoPhase)
        order = {
            "method": name,
            "settings": method.plain_settings(),
            "seed": seed,
            "fingerprint": context.checkpoint.fingerprint if context.checkpoint else "",
        }
        self.world.broadcast(json.dumps(order).encode())
        nodes = self._shared_nodes(split.train), self._shared_nodes(split.validation)
        fit = self._own_fit(method, nodes, seed, str(order["fingerprint"]), context)
        folder = context.checkpoint.path.parent if context.checkpoint else None
        return dataclasses.replace(fit, stages=self._whole_stages(fit, folder))

    def fit_run(self, run: Run, context: Context) -> Fit:
        """The first rank's call: fit a run on all ranks."""
        return self.fit(run.spec.method, run.method, run.split, run.spec.seed, context)

    def follow(self) -> None:
        """The other ranks' only call: take part in every fit until the first rank is done."""
        while order := json.loads(self.world.broadcast(None)):
            if order == _REPORT:
                self._reports()
                continue
            method = entry(order["method"]).method(**order["settings"])
            assert isinstance(method, TwoPhase)
            nodes = self._shared_nodes(None), self._shared_nodes(None)
            fit = self._own_fit(method, nodes, order["seed"], order["fingerprint"], Context())
            self._whole_stages(fit)

    def communication(self) -> Communication:
        """The first rank's call: what every kind of message has cost, an epoch and a rank on average."""
        self.world.broadcast(json.dumps(_REPORT).encode())
        return self._reports()

    def _reports(self) -> Communication:
        own = {kind: dataclasses.asdict(traffic) for kind, traffic in self.world.traffic.items()}
        texts = self.world.gather_text(json.dumps(own))
        ranks = [{kind: Traffic(**cost) for kind, cost in json.loads(text).items()} for text in texts]
        epochs = ranks[0].get(WEIGHT_GRADIENTS, Traffic()).messages
        per = max(epochs * self.world.size, 1)
        costs = {}
        for kind in (BOUNDARY_ROWS, LABELLED_ROWS, SUMS, WEIGHT_GRADIENTS):
            found = [rank[kind] for rank in ranks if kind in rank]
            if found and epochs:
                costs[kind] = MessageCost(
                    messages=round(sum(cost.messages for cost in found) / per, 2),
                    bytes=round(sum(cost.sent for cost in found) / per),
                    seconds=round(sum(cost.seconds for cost in found) / per, 6),
                )
        return Communication(self.world.size, epochs, costs)

    def dismiss(self) -> None:
        """The first rank is done; the others may end."""
        self.world.broadcast(b"{}")

    def _own_fit(
        self, method: TwoPhase, nodes: tuple[Tensor, Tensor], seed: int, fingerprint: str, context: Context
    ) -> Fit:
        """The fit for this rank's nodes."""
        checkpoint = SharedCheckpoint(context.checkpoint, fingerprint, self.world)
        context = dataclasses.replace(context, checkpoint=checkpoint)
        try:
            fit = method.fit_tensors(self.tensors, *nodes, seed, context)
        except TrainingError as error:
            # Losses and parameters are the same everywhere: all ranks are here, and none waits for a word.
            self.ended = True
            fail_once(error)
        self._check_together(fit)
        return fit

    def _shared_nodes(self, nodes: NDArray[np.int64] | None) -> Tensor:
        """Those of the first rank's nodes that this rank holds, by their number here."""
        content = self.world.broadcast(None if nodes is None else nodes.tobytes())
        own = self.tensors.part.nodes
        held = np.isin(own, np.frombuffer(content, dtype=np.int64))
        return torch.from_numpy(np.flatnonzero(held)).to(self.world.device)

    def _check_together(self, fit: Fit) -> None:
        """All ranks must have fitted the same parameters, to the bit."""
        digest = hashlib.sha256()
        for name in sorted(fit.tensors):
            digest.update(fit.tensors[name].numpy().tobytes())
        if len(set(self.world.gather_text(digest.hexdigest()))) > 1:
            fail_once(
                RankError("The ranks ended with different parameters, which should not be. Please report this.")
            )

    def _whole_stages(self, fit: Fit, folder: Path | None = None) -> tuple[Stage, ...]:
        """On the first rank the stages for all nodes, in their order in the graph; without any node elsewhere.

        Args:
            fit: For this rank's nodes.
            folder: Of the run, which the first rank knows.
        """
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            remove_rows(folder)
        nodes = self.nodes.cpu().numpy()
        return tuple(
            dataclasses.replace(
                stage, label_distribution=rows_of_all(self.world, folder, stage.label_distribution, nodes)
            )
            for stage in fit.stages
        )


@contextmanager
def at_work(folder: Path, device: str, settings: Mapping[str, Any]) -> Iterator[Crew | None]:
    """Join the other ranks: the first one's block gets the crew, the others' None when all is done."""
    with joined(device) as world:
        crew = Crew(folder, world, settings)
        if not world.is_first:
            crew.follow()
            yield None
            return
        try:
            yield crew
        except RankError:
            raise
        except BaseException:
            if not crew.ended:
                with suppress(RankError):
                    crew.dismiss()
            raise
        else:
            crew.dismiss()


def unanimously(world: World, action: Callable[[], Result]) -> Result:
    """Do something on every rank; if it goes wrong on any, the first rank raises that and the others end."""
    message, result = "", None
    try:
        result = action()
    except LCGNNError as error:
        message = str(error)
    failed = next((text for text in world.gather_text(message) if text), None)
    if failed is not None:
        fail_once(RankError(failed))
    return result  # type: ignore[return-value]


def _own_part(folder: Path, world: World) -> tuple[Manifest, Part]:
    manifest = read_manifest(folder)
    if len(manifest.parts) != world.size:
        raise RankError(
            f"{folder} is a graph in {len(manifest.parts)} parts, and {world.size} "
            f"{'process was' if world.size == 1 else 'processes were'} started. Start one for each part "
            f"(torchrun --nproc-per-node={len(manifest.parts)} -m lcgnn train {folder}), or cut the graph into "
            f"{world.size}: lcgnn partition"
        )
    return manifest, read_part(folder, manifest, world.rank)
