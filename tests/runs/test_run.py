"""What a finished run has written is checked by its checksums, and made again where it is missing or altered."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch

import lcgnn
from lcgnn.files import read_json, sha256_of, write_json
from lcgnn.methods import Context, module_method
from lcgnn.runs.run import Manner, Run, execute
from lcgnn.runs.spec import RunSpec
from lcgnn.sources.in_python import Given

SHORT = {"base_epochs": 3, "epochs": 3}


@pytest.fixture
def fits(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The methods that were fitted since the test began."""
    counted: list[str] = []
    fit = Run.fit

    def counting(run: Run, context: Context) -> Any:
        counted.append(run.spec.method)
        return fit(run, context)

    monkeypatch.setattr(Run, "fit", counting)
    return counted


@pytest.fixture
def made(small_graph: Callable[..., Any]) -> Callable[..., Run]:
    def make(method: str = "gcn", settings: Any = SHORT) -> Run:
        source = Given.of(*small_graph())
        return Run(RunSpec(source, method, 0, settings), source.load())

    return make


def carry_out(run: Run, folder: Path, prediction_format: Any = "csv") -> Any:
    return execute(run, folder, Manner("cpu", prediction_format, fit=Run.fit))


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "result.json"}


def test_a_record_has_the_checksum_of_every_file(made: Callable[..., Run], tmp_path: Path) -> None:
    record = carry_out(made(), tmp_path)
    assert record.artifacts == {name: sha256_of(tmp_path / name) for name in contents(tmp_path)}
    assert sorted(record.artifacts) == ["metrics.csv", "model.safetensors", "predictions.csv"]


def test_a_finished_run_is_not_fitted_again(made: Callable[..., Run], tmp_path: Path, fits: list[str]) -> None:
    first = carry_out(made(), tmp_path)
    assert carry_out(made(), tmp_path) == first
    assert len(fits) == 1


@pytest.mark.parametrize("damage", [Path.unlink, lambda path: path.write_text("altered")])
@pytest.mark.parametrize(
    ("method", "name", "again"),
    [
        ("gcn", "predictions.csv", 0),
        ("gcn", "metrics.csv", 1),
        ("gcn", "model.safetensors", 1),
        ("lp", "predictions.csv", 1),
    ],
)
def test_a_file_that_is_missing_or_altered_is_made_again(
    method: str,
    name: str,
    again: int,
    damage: Callable[[Path], object],
    made: Callable[..., Run],
    tmp_path: Path,
    fits: list[str],
) -> None:
    run = made(method, SHORT if method == "gcn" else {})
    carry_out(run, tmp_path)
    before = contents(tmp_path)
    damage(tmp_path / name)
    record = carry_out(run, tmp_path)
    assert contents(tmp_path) == before
    assert record.artifacts == {file: sha256_of(tmp_path / file) for file in before}
    assert len(fits) == 1 + again


def test_another_format_is_written_beside_without_training(
    made: Callable[..., Run], tmp_path: Path, fits: list[str]
) -> None:
    carry_out(made(), tmp_path)
    for _ in range(2):
        record = carry_out(made(), tmp_path, "parquet")
        assert pq.read_table(tmp_path / "predictions.parquet").num_rows == 240
        assert {"predictions.csv", "predictions.parquet"} <= set(record.artifacts)
    assert len(fits) == 1


def test_a_record_without_checksums_counts_by_the_files_that_are_there(
    made: Callable[..., Run], tmp_path: Path, fits: list[str]
) -> None:
    carry_out(made(), tmp_path)
    content = read_json(tmp_path / "result.json")
    del content["artifacts"]
    write_json(tmp_path / "result.json", content)
    carry_out(made(), tmp_path)
    assert len(fits) == 1
    (tmp_path / "model.safetensors").unlink()
    carry_out(made(), tmp_path)
    assert len(fits) == 2


def test_columns_with_other_names_or_units_keep_the_model_which_then_reads_these(tmp_path: Path) -> None:
    rows = [(node, "ab"[node % 2] if node < 8 else "", node % 2 + node / 40) for node in range(20)]
    (tmp_path / "edges.csv").write_text(
        "source,target\n" + "".join(f"{node},{(node + 2) % 20}\n" for node in range(20))
    )
    answers, fitted = [], set()
    for name, unit in (("metres", 1), ("metres", 1000), ("width", 1000)):
        lines = [f"{node},{label},{value * unit:.3f}\n" for node, label, value in rows]
        (tmp_path / "nodes.csv").write_text(f"id,label,{name}\n" + "".join(lines))
        training = lcgnn.train(tmp_path, "gcn", settings={"epochs": 20}, folds=0, out=tmp_path / "run")
        answers.append(training.predict().distribution)
        assert not training.predict().notes
        fitted.add((tmp_path / "run" / "seed-0" / "metrics.csv").stat().st_mtime_ns)
    assert len(fitted) == 1
    assert all(abs(answer - answers[0]).max() < 1e-5 for answer in answers)


def test_another_module_is_another_run_and_the_same_one_is_not_repeated(
    small_graph: Callable[..., Any], tmp_path: Path
) -> None:
    graph, split = small_graph()

    class Plain(torch.nn.Module):
        def __init__(self, width: int) -> None:
            super().__init__()
            self.layers = torch.nn.Sequential(torch.nn.Linear(10, width), torch.nn.Linear(width, 4))

        def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:  # noqa: ARG002
            answers: torch.Tensor = self.layers(x)
            return answers

    class Silent(Plain):
        def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
            return super().forward(x, edge_index) * 0

    times, short = [], dict[str, Any](SHORT)
    for module in (lambda *_: Plain(8), lambda *_: Plain(8), lambda *_: Plain(16), lambda *_: Silent(16)):
        lcgnn.train((graph, split), module_method(module, **short), folds=0, out=tmp_path / "run")
        times.append((tmp_path / "run" / "seed-0" / "metrics.csv").stat().st_mtime_ns)
    assert times[0] == times[1]
    assert len(set(times)) == 3


def test_numbers_of_numpy_are_numbers_wherever_one_is_asked_for(
    small_graph: Callable[..., Any], tmp_path: Path
) -> None:
    graph, _ = small_graph()
    numbers: dict[str, Any] = {"labels_per_class": np.int64(3), "folds": np.int64(2)}
    settings = {"epochs": np.int64(3), "dropout": np.float32(0.5)}
    trained = lcgnn.train(
        (graph, None), "gcn", settings=settings, split="handful", workers=1, out=tmp_path / "run", **numbers
    )
    assert trained.summary.seeds == (0,)
