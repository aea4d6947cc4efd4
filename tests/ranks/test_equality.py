"""Several processes give the result of one: the same losses, the same predictions, the same model."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from lcgnn.compute.placement.cutting import assign, cut
from lcgnn.errors import ConfigError, RankError
from lcgnn.methods import Context, create
from lcgnn.runs.crew import at_work
from lcgnn.sources.parts.files import write_parts
from lcgnn.sources.parts.parted import load_parted

WORKER = Path(__file__).with_name("equality_worker.py")
DESCRIBED = {"name": "small", "checksum": "abc", "split": "small"}


@pytest.fixture(scope="module")
def worker():
    spec = importlib.util.spec_from_file_location("equality_worker", WORKER)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory, small_graph, worker) -> Path:
    """The graph with both kinds of features, whole results of one process and the parts for all cases."""
    folder = tmp_path_factory.mktemp("cases")
    for features in ("dense", "sparse"):
        graph, split = small_graph(sparse=features == "sparse")
        for name in worker.EPOCHS:
            fit = worker.method_named(name).fit(graph, split, 0, Context("cpu"))
            arrays = {parameter: value.numpy() for parameter, value in fit.tensors.items()}
            for number, stage in enumerate(fit.stages):
                arrays[f"history-{number}"] = stage.history
                arrays[f"distribution-{number}"] = stage.label_distribution
            np.savez(folder / f"{features}-{name}.npz", **arrays)
        for size in {1, *(size for size, kind, _ in worker.CASES if kind == features)}:
            parts = cut(graph, split, assign(graph, size))
            write_parts(folder / f"{features}-{size}", graph, split, parts, DESCRIBED)
    return folder


def test_one_rank_is_one_process(cases: Path, worker):
    worker.compare(cases, 1, "dense")


def test_two_three_and_four_ranks_equal_one_process(cases: Path, worker, run_rank, finished, free_ports):
    ports = [str(port) for port in free_ports(len(worker.CASES))]
    command = [str(WORKER), str(cases), *ports]
    finished([run_rank(rank, 4, command) for rank in range(4)])


def test_a_graph_in_parts_asks_for_a_process_for_each_part_and_for_a_method_that_knows_parts(cases: Path):
    alone = r"a graph in 2 parts, and 1 process was started\. Start one for each part"
    with pytest.raises(RankError, match=alone), at_work(cases / "dense-2", "cpu", {}):
        pass
    with at_work(cases / "dense-1", "cpu", {}) as crew, pytest.raises(ConfigError, match="cheby cannot"):
        crew.fit("cheby", create("cheby"), load_parted(cases / "dense-1")[1], 0, Context("cpu"))
