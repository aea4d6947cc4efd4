"""A rank that an earlier job left behind waits at the address of the next one: it cannot join, nobody hangs."""

import json
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.ranks.conftest import started

from lcgnn.compute.placement.cutting import assign, cut
from lcgnn.sources.parts.files import write_parts

TRAIN = ["-m", "lcgnn", "train", "--method", "lc-gcn", "--set=base_epochs=20", "--set=epochs=20"]
# A launcher: what it starts has another parent than what the test starts.
LAUNCH = ["-c", "import subprocess, sys; sys.exit(subprocess.call([sys.executable, *sys.argv[1:]]))"]


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory, small_graph) -> Path:
    folder = tmp_path_factory.mktemp("parts") / "two"
    graph, split = small_graph()
    described = {"name": "small", "checksum": graph.checksum, "split": "small"}
    write_parts(folder, graph, split, cut(graph, split, assign(graph, 2)), described)
    return folder


def left_behind(command: list[str], world: dict[str, str]) -> subprocess.Popen[str]:
    """A rank 1 that has found somebody at its address, who is gone when it comes back."""
    with socket.create_server(("127.0.0.1", int(world["MASTER_PORT"]))) as listener:
        listener.settimeout(60)
        orphan = started(command, {**world, "RANK": "1"})
        listener.accept()[0].close()
    return orphan


def result(folder: Path) -> list[object]:
    content = json.loads((folder / "seed-0" / "result.json").read_text())
    return [(stage["best_epoch"], stage["test_accuracy"]) for stage in content["stages"]]


@pytest.mark.parametrize("of_torchrun", [True, False], ids=["of torchrun", "started by hand"])
def test_a_rerun_at_the_same_port_is_not_disturbed_by_a_rank_of_the_job_before(
    of_torchrun: bool, parts: Path, tmp_path: Path, free_ports: Callable[[int], list[int]]
) -> None:
    (port,) = free_ports(1)
    world = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "LCGNN_RANK_TIMEOUT": "30"}
    if of_torchrun:
        world |= {"TORCHELASTIC_RUN_ID": "none", "GROUP_WORLD_SIZE": "1"}
    command = [*TRAIN, str(parts), "--out", str(tmp_path / "run")]
    orphan = left_behind([*LAUNCH, *command] if of_torchrun else command, world)
    ranks = [started(command, {**world, "RANK": str(rank)}) for rank in range(2)]
    try:
        errors = [process.communicate(timeout=120)[1] for process in (*ranks, orphan)]
    finally:
        for process in (*ranks, orphan):
            process.kill()
    codes = [process.returncode for process in (*ranks, orphan)]
    assert codes[0] == 0, errors
    # Started by hand, both are as good, and the run is that of the one that came in time.
    assert sorted(codes[1:]) == [0, 2], errors
    assert not of_torchrun or codes[1] == 0, errors
    refused = errors[1:][codes[1:].index(2)].splitlines()
    assert refused[-1].startswith("lcgnn: ")
    assert "Traceback" not in "".join(errors)
    assert len(result(tmp_path / "run")) == 2
