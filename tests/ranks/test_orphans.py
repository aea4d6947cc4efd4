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


def connections(port: int) -> int:
    """How many connections there are to a port of this machine, counted where they come from."""
    lines = Path("/proc/net/tcp").read_text().splitlines()[1:]
    lines += Path("/proc/net/tcp6").read_text().splitlines()[1:] if Path("/proc/net/tcp6").exists() else []
    ends = [line.split()[2:4] for line in lines]
    return sum(state == "01" and int(remote.rpartition(":")[2], 16) == port for remote, state in ends)


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="finds connections through /proc")
def test_a_rerun_at_the_same_port_is_not_disturbed_by_a_rank_of_the_job_before(
    parts: Path,
    tmp_path: Path,
    free_ports: Callable[[int], list[int]],
    wait_until: Callable[..., object],
) -> None:
    """The one that was left behind is there before the job's own: the worst case.

    Ranks that are started by hand have no launcher to tell them apart; `test_roll_call` has these.
    """
    (port,) = free_ports(1)
    world = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "LCGNN_RANK_TIMEOUT": "60"}
    world |= {"TORCHELASTIC_RUN_ID": "none", "GROUP_WORLD_SIZE": "1"}
    command = [*TRAIN, str(parts), "--out", str(tmp_path / "run")]
    orphan = left_behind([*LAUNCH, *command], world)
    first = started(command, {**world, "RANK": "0"})
    # One of them is the first rank's own.
    wait_until(lambda: connections(port) >= 2)
    second = started(command, {**world, "RANK": "1"})
    try:
        errors = [process.communicate(timeout=200)[1] for process in (first, second, orphan)]
    finally:
        for process in (first, second, orphan):
            process.kill()
    codes = [process.returncode for process in (first, second, orphan)]
    assert "Traceback" not in "".join(errors)
    assert len(json.loads((tmp_path / "run" / "seed-0" / "result.json").read_text())["stages"]) == 2
    # It knows the other launcher's job only, and waits there until the store is gone.
    assert codes == [0, 0, 2], errors
    assert errors[2].startswith("lcgnn: Rank 1 of 2 cannot reach the others at 127.0.0.1:")
