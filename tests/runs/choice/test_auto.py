"""The choice as a row of a study: what its record holds, and that it is what a user gets."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lcgnn.assessment.evaluation import accuracy
from lcgnn.errors import ConfigError
from lcgnn.experiments.store import Store, read_pack, write_pack
from lcgnn.experiments.study import keep_record
from lcgnn.graph import Graph, Split
from lcgnn.methods import Context, Fit, create
from lcgnn.methods.edges_alone import EdgesAlone
from lcgnn.runs.choice.auto import Auto, ChosenFit, auto_made, run_of
from lcgnn.runs.choice.candidates import AUTO, best_first
from lcgnn.runs.records import Record
from lcgnn.runs.spec import RunSpec, SplitSpec
from lcgnn.sources.benchmarks import benchmark
from lcgnn.sources.benchmarks.rescaled import Rescaled

MADE = auto_made({"candidates": "spreading,lp"})
SOURCE = Rescaled(benchmark("cora"), "own")


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Record:
    spec = RunSpec(SOURCE, AUTO, 1, {}, SplitSpec("handful", 5, 1), MADE)
    store = Store(tmp_path_factory.mktemp("records"))
    run = run_of(spec, SOURCE.load())
    made = keep_record(run, store)
    assert store.find(run.identity) == made
    assert write_pack(store.folder / "pack.jsonl", [made]) == 1
    assert read_pack(store.folder / "pack.jsonl") == [made]
    return made


def test_its_record_has_what_was_expected_beside_the_truth(record: Record) -> None:
    assert record.choice is not None
    assert record.expected is not None
    assert record.choice.taken in {"spreading", "lp"}
    assert record.last.note == record.choice.taken
    assert record.last.test_accuracy is not None
    assert record.last.calibration_error is not None
    assert record.choice.budget is None
    assert {item.name for item in record.choice.tried} == {"spreading", "lp"}
    assert record.expected.chosen_among == 2


def test_it_answers_as_the_method_that_was_taken(record: Record) -> None:
    assert record.choice is not None
    loaded = SOURCE.load()
    split = SplitSpec("handful", 5, 1).make(loaded.graph, loaded.split)
    fit = create(record.choice.taken).fit(loaded.graph, split, 1)
    assert record.last.test_accuracy == accuracy(fit.label_distribution, loaded.graph.labels, split.test)


def test_its_settings_are_those_of_its_candidates_and_the_rule() -> None:
    settings = Auto().plain_settings()
    assert settings["lc-gcn"]["selection"] == "last"
    assert settings["lc-gcn"]["guard"] is True
    assert set(settings) == {"rule", "mlp", "spreading", "lc-gcn", "lc-appnp"}
    with pytest.raises(ConfigError, match="no method 'nothing'"):
        auto_made({"candidates": "mlp,nothing"})


def test_one_label_a_class_leaves_nothing_to_choose_by_but_experience(tmp_path: Path) -> None:
    loaded = SOURCE.load()
    split = SplitSpec("handful", 1, 0).make(loaded.graph, loaded.split)
    alone = MADE.fit(loaded.graph, split)
    name, method = next(iter(MADE.methods().items()))
    assert alone.stages[-1].note == name == best_first(MADE.methods())[0]
    assert (alone.label_distribution == method.fit(loaded.graph, split).label_distribution).all()
    more = SplitSpec("handful", 2, 0).make(loaded.graph, loaded.split)
    fit = MADE.fit(loaded.graph, more)
    assert isinstance(fit, ChosenFit)
    assert np.allclose(fit.label_distribution.sum(axis=1), 1, atol=1e-5)
    assert not list(tmp_path.iterdir())


def test_drawn_labels_are_dealt_by_chance_and_only_ones_count_as_wrong() -> None:
    loaded = SOURCE.load()
    evenly, drawn = (
        run_of(RunSpec(SOURCE, AUTO, 1, {}, split, MADE), loaded)
        for split in (SplitSpec("handful", 3, 1), SplitSpec("handful", labels=21, seed=1))
    )
    counts = np.bincount(loaded.graph.labels[drawn.split.train])
    assert (counts == 1).any()
    fit = drawn.fit(Context("cpu"))
    assert isinstance(fit, ChosenFit)
    expected = fit.choice.assessment
    assert expected.alone == (counts == 1).sum()
    tried = fit.choice.record.named(fit.choice.name)
    assert expected.overall.accuracy <= tried.right / 21
    even = evenly.fit(Context("cpu"))
    assert isinstance(even, ChosenFit)
    assert not even.choice.assessment.alone


def test_folds_that_are_kept_are_not_trained_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = SOURCE.load()
    split = SplitSpec("handful", 5, 1).make(loaded.graph, loaded.split)
    context = Context("cpu", folds=tmp_path / "folds")
    first = MADE.fit(loaded.graph, split, 1, context)
    kept = sorted((tmp_path / "folds").iterdir())
    assert len(kept) == 2 * 5
    kept[0].write_text("{", encoding="utf-8")
    fitted: list[int] = []

    def counted(method: EdgesAlone, graph: Graph, split: Split, *more: Any) -> Fit:
        fitted.append(split.train.size)
        return fit_as_ever(method, graph, split, *more)

    fit_as_ever = EdgesAlone.fit
    monkeypatch.setattr(EdgesAlone, "fit", counted)
    again = MADE.fit(loaded.graph, split, 1, context)
    # The fold whose file is damaged, and the method that is taken on all labels.
    assert sorted(fitted) == [28, 35]
    np.testing.assert_array_equal(first.label_distribution, again.label_distribution)
    other = SplitSpec("handful", 5, 2).make(loaded.graph, loaded.split)
    MADE.fit(loaded.graph, other, 1, context)
    assert len(fitted) == 2 + 2 * 5 + 1
