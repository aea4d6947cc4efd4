"""What happens when ranks die, do not fit together or lose each other: real processes, real signals."""

import csv
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from safetensors import SafetensorError, safe_open

from lcgnn.compute.placement.cutting import assign, cut
from lcgnn.runs.run import Run, execute
from lcgnn.runs.spec import RunSpec
from lcgnn.sources.arrays import ArrayFolder, save_arrays
from lcgnn.sources.parts.files import write_parts

DESCRIBED = {"name": "small", "checksum": "abc", "split": "small"}
SETTINGS = {"base_epochs": 60, "epochs": 60, "base_stop_window": 0}
TRAIN = [
    "-m",
    "lcgnn",
    "train",
    "--method",
    "lc-gcn",
    *(f"--set={key}={value}" for key, value in SETTINGS.items()),
]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory, small_graph) -> Path:
    """A folder with the graph, two and three parts of it, and ``one``, what a single process made of it."""
    folder = tmp_path_factory.mktemp("trained")
    graph, split = small_graph()
    save_arrays(graph, split, folder / "graph")
    for size in (2, 3):
        write_parts(
            folder / f"parts-{size}",
            graph,
            split,
            cut(graph, split, assign(graph, size)),
            {**DESCRIBED, "checksum": graph.checksum},
        )
    source = ArrayFolder(str(folder / "graph"))
    execute(Run(RunSpec(source, "lc-gcn", 0, SETTINGS), source.load()), folder / "one")
    return folder


def test_ranks_that_do_not_fit_together_are_refused_with_one_line(trained: Path, run_rank, finished, free_ports):
    broken = trained / "broken-2"
    shutil.copytree(trained / "parts-2", broken)
    os.truncate(broken / "part-1.safetensors", 3000)
    worker = Path(__file__).with_name("refusal_worker.py")
    command = [str(worker), str(trained), *(str(port) for port in free_ports(3))]
    assert finished([run_rank(rank, 2, command) for rank in range(2)]) == ["", ""]


def test_training_that_diverges_ends_all_ranks_and_one_says_why(trained: Path, tmp_path: Path, run_rank):
    command = [*TRAIN, str(trained / "parts-2"), "--set", "learning_rate=1e30", "--out", str(tmp_path / "run")]
    ranks = [run_rank(rank, 2, command, LCGNN_RANK_TIMEOUT="60") for rank in range(2)]
    errors = [process.communicate(timeout=60)[1] for process in ranks]
    assert [process.returncode for process in ranks] == [2, 2]
    assert errors[0].splitlines()[-1].startswith("lcgnn: Training diverged in epoch ")
    assert "diverged" not in errors[1]
    assert "Traceback" not in "".join(errors)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="finds processes through /proc")
def test_ranks_end_with_their_torchrun(trained: Path, tmp_path: Path, free_ports, wait_until):
    (port,) = free_ports(1)
    command = [
        sys.executable,
        "-m",
        "torch.distributed.run",
        "--nproc-per-node=2",
        f"--master-port={port}",
        *TRAIN,
    ]
    command += [str(trained / "parts-2"), "--set", "epochs=1000000", "--out", str(tmp_path / "run")]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "LCGNN_CHECKPOINT_SECONDS": "0"}
    launcher = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL, start_new_session=True)
    wait_until((tmp_path / "run" / "seed-0" / "checkpoint.safetensors").exists)
    ranks = [process_of_rank(launcher.pid, rank) for rank in range(2)]
    launcher.kill()
    launcher.wait()
    assert all(ranks)
    assert wait_until(lambda: not any(Path(f"/proc/{rank}").exists() for rank in ranks))


def test_a_rank_that_reaches_nobody_ends_with_one_line_within_the_time_out(trained: Path, run_rank):
    process = run_rank(1, 2, [*TRAIN, str(trained / "parts-2")], LCGNN_RANK_TIMEOUT="1")
    _, error = process.communicate(timeout=60)
    assert process.returncode == 2
    assert error.startswith("lcgnn: Rank 1 of 2 cannot reach the others at 127.0.0.1:")
    assert error.count("\n") == 1


def test_a_killed_rank_is_started_again_and_the_result_is_the_same(
    trained: Path, tmp_path: Path, free_ports, wait_until
):
    """Three times over: a follower, the leader, a follower."""
    (port,) = free_ports(1)
    torchrun = ["-m", "torch.distributed.run", "--nproc-per-node=2", "--max-restarts=3", f"--master-port={port}"]
    launcher = subprocess.Popen(
        [sys.executable, *torchrun, *TRAIN, str(trained / "parts-2"), "--out", str(tmp_path / "out")],
        env={
            **os.environ,
            "LCGNN_CHECKPOINT_SECONDS": "0",
            "OMP_NUM_THREADS": "1",
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    checkpoint = tmp_path / "out" / "seed-0" / "checkpoint.safetensors"
    with ended_at_last(launcher):
        reached, killed = 0, set()
        for rank in (1, 0, 1):
            reached = wait_until(partial(epochs_beyond, checkpoint, reached + 5))
            pid = wait_until(partial(process_of_rank, launcher.pid, rank))
            assert pid not in killed
            os.kill(pid, signal.SIGKILL)
            killed.add(pid)
        output, _ = launcher.communicate(timeout=400)
    assert launcher.returncode == 0, output
    assert output.count("exitcode: -9") == 3
    assert_same_result(tmp_path / "out" / "seed-0", trained / "one")


def test_two_hosts_train_together_and_survive_a_cut_cable(trained: Path, tmp_path: Path, free_ports, wait_until):
    """Two network namespaces with a cable between them, each with its own files."""
    (port,) = free_ports(1)
    with two_hosts() as hosts:
        first = [
            hosts.start(rank, port, trained / "parts-2", tmp_path, LCGNN_CHECKPOINT_SECONDS="0")
            for rank in range(2)
        ]
        checkpoint = tmp_path / "host-0" / "out" / "seed-0" / "checkpoint.safetensors"
        wait_until(lambda: epochs_done(checkpoint) > 5)
        hosts.plug(False)
        for rank, process in enumerate(first):
            _, error = process.communicate(timeout=60)
            assert process.returncode == 2, error
            line = error.splitlines()[-1]
            assert line.startswith(f"lcgnn: Rank {rank} of 2 lost the others while exchanging ")
        assert checkpoint.exists()
        hosts.plug(True)
        again = [hosts.start(rank, port + 1, trained / "parts-2", tmp_path) for rank in range(2)]
        for process in again:
            _, error = process.communicate(timeout=400)
            assert process.returncode == 0, error
    assert not (tmp_path / "host-1" / "out").exists()
    assert_same_result(tmp_path / "host-0" / "out" / "seed-0", trained / "one")


def assert_same_result(folder: Path, expected: Path) -> None:
    """Curves to 1e-5 where a file has six digits, the same labels, the same accuracies."""
    for name in ("metrics.csv", "predictions.csv"):
        rows, others = (list(csv.reader((place / name).read_text().splitlines())) for place in (folder, expected))
        text_columns = 1 if name == "metrics.csv" else sum(not column.startswith("p(") for column in rows[0])
        assert [row[: min(text_columns, 2)] for row in rows] == [row[: min(text_columns, 2)] for row in others]
        one, other = (np.array([row[text_columns:] for row in table[1:]], dtype=float) for table in (rows, others))
        np.testing.assert_allclose(one, other, atol=1e-5, rtol=1e-5)
    results = [json.loads((place / "result.json").read_text()) for place in (folder, expected)]
    for stage, other in zip(*(result["stages"] for result in results), strict=True):
        for name in ("best_epoch", "test_accuracy", "confusion", "fifths"):
            assert stage[name] == other[name]


def epochs_done(checkpoint: Path) -> int:
    """How many epochs a checkpoint has behind it, over all phases; 0 where there is none."""
    try:
        with safe_open(checkpoint, framework="np") as file:
            header = json.loads(file.metadata()["lcgnn"])
    except (OSError, SafetensorError):
        return 0
    return header["epoch"] + SETTINGS["base_epochs"] * (len(header["outcomes"]) - 1)


def epochs_beyond(checkpoint: Path, least: int) -> int:
    """The same if it is more than that, otherwise 0."""
    done = epochs_done(checkpoint)
    return done if done > least else 0


def process_of_rank(launcher: int, rank: int) -> int:
    """The process that a launcher started for a rank; 0 if there is none."""
    for pid in Path(f"/proc/{launcher}/task/{launcher}/children").read_text().split():
        try:
            if f"RANK={rank}\0" in "\0" + Path(f"/proc/{pid}/environ").read_text():
                return int(pid)
        except OSError:
            continue
    return 0


@contextmanager
def ended_at_last(process: subprocess.Popen[str]) -> Iterator[None]:
    """Even if the test fails: a launcher that is asked to end ends what it has started."""
    try:
        yield
    finally:
        process.terminate()
        process.wait(timeout=60)


class Hosts:
    """Two network namespaces: 10.87.0.1 and 10.87.0.2, each with a loopback and one end of a cable."""

    def __init__(self, names: tuple[str, str]) -> None:
        self.names = names
        self.processes: list[subprocess.Popen[str]] = []

    def plug(self, plugged: bool) -> None:
        ip("-n", self.names[1], "link", "set", "cable", "up" if plugged else "down")

    def start(self, rank: int, port: int, parts: Path, place: Path, **more: str) -> subprocess.Popen[str]:
        """A rank on its host, with no more files than it needs and a place of its own to write to."""
        home = place / f"host-{rank}"
        (home / "parts").mkdir(parents=True, exist_ok=True)
        for name in ("parts.json", f"part-{rank}.safetensors", *(["nodes.parquet"] if rank == 0 else [])):
            shutil.copy(parts / name, home / "parts")
        world = {"RANK": str(rank), "WORLD_SIZE": "2", "MASTER_ADDR": "10.87.0.1", "MASTER_PORT": str(port)}
        process = subprocess.Popen(
            ["ip", "netns", "exec", self.names[rank], sys.executable, *TRAIN, "parts", "--out", "out"],
            cwd=home,
            env={**os.environ, **world, "OMP_NUM_THREADS": "1", "LCGNN_RANK_TIMEOUT": "8", **more},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.processes.append(process)
        return process


@contextmanager
def two_hosts() -> Iterator[Hosts]:
    names = (f"lcgnn-a-{os.getpid()}", f"lcgnn-b-{os.getpid()}")
    try:
        ip("netns", "add", names[0])
        ip("netns", "add", names[1])
        ip("-n", names[0], "link", "add", "cable", "type", "veth", "peer", "name", "cable", "netns", names[1])
        for name, address in zip(names, ("10.87.0.1/24", "10.87.0.2/24"), strict=True):
            ip("-n", name, "address", "add", address, "dev", "cable")
            ip("-n", name, "link", "set", "lo", "up")
            ip("-n", name, "link", "set", "cable", "up")
    except (OSError, subprocess.CalledProcessError) as error:
        remove(names)
        pytest.skip(f"This machine does not permit network namespaces ({error}): two hosts were NOT tested.")
    hosts = Hosts(names)
    try:
        yield hosts
    finally:
        for process in hosts.processes:
            process.kill()
        remove(names)


def remove(names: tuple[str, str]) -> None:
    for name in names:
        subprocess.run(["ip", "netns", "delete", name], capture_output=True, check=False)


def ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], capture_output=True, text=True, check=True)
