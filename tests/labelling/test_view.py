"""What the page is told of a node, by the server alone."""

from pathlib import Path

import pytest

from lcgnn.errors import ConfigError
from lcgnn.labelling.export import exported
from lcgnn.labelling.loop import Loop
from lcgnn.labelling.opening import open_graph
from lcgnn.labelling.trainer import Trainer
from lcgnn.labelling.training import Failed, Worker
from lcgnn.labelling.view import View
from lcgnn.methods import create

SHORT = create("lc-gcn", "own-graph", selection="last", base_epochs=5, epochs=5)


@pytest.fixture
def loop(unlabelled: Path, monkeypatch: pytest.MonkeyPatch) -> Loop:
    """Without a process: what is to be learnt from is not."""
    monkeypatch.setattr(Trainer, "train", lambda *_: None)
    return Loop(open_graph(str(unlabelled)), by="test")


def test_before_the_first_model_it_is_said_what_there_is_to_wait_for(loop: Loop) -> None:
    view = View(loop)
    loop.label_as(1, "green")
    with pytest.raises(ConfigError, match="give labels of two classes"):
        view.explain(5)
    loop.label_as(2, "blue")
    for ask in (lambda: view.explain(5), lambda: exported(loop, view, "model")):
        with pytest.raises(ConfigError, match="The first model is being trained"):
            ask()
    loop._heard(Failed(1, "It did not work."))
    with pytest.raises(ConfigError, match=r"Nothing is trained yet\. It did not work\."):
        view.explain(5)


@pytest.mark.parametrize("classes", [3, 8, 40])
def test_every_class_that_was_learnt_comes_with_its_probability(loop: Loop, classes: int) -> None:
    for node in range(2 * classes):
        loop.label_as(node, f"kind {node % classes}")
    learn(loop)
    thoughts = View(loop).node(85).thinks
    assert {thought.cls for thought in thoughts} == {f"kind {number}" for number in range(classes)}
    assert sum(thought.probability for thought in thoughts) == pytest.approx(1, abs=0.01)
    assert list(thoughts) == sorted(thoughts, key=lambda thought: -thought.probability)


def learn(loop: Loop) -> None:
    """Have a model learn from the labels that there are."""
    worker = Worker(loop.opened.graph, SHORT)
    worker.newest = loop.labels.job(loop._jobs)
    fitted = worker.step()
    assert fitted is not None
    loop._heard(fitted)
