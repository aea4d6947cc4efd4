"""What the page is told of a node, by the server alone."""

from pathlib import Path

import pytest

from lcgnn.errors import ConfigError
from lcgnn.labelling.export import exported
from lcgnn.labelling.loop import Loop
from lcgnn.labelling.opening import open_graph
from lcgnn.labelling.trainer import Trainer
from lcgnn.labelling.training import Failed
from lcgnn.labelling.view import View


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
