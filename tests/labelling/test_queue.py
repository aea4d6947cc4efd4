"""Which node is asked for next, and how long."""

from pathlib import Path

import pytest

from lcgnn.labelling.ledger import Ledger
from lcgnn.labelling.loop import Loop
from lcgnn.labelling.opening import open_graph
from lcgnn.labelling.trainer import Trainer
from lcgnn.labelling.view import View
from lcgnn.sources.tables.ledger import Line


@pytest.fixture
def loop(unlabelled: Path, monkeypatch: pytest.MonkeyPatch) -> Loop:
    monkeypatch.setattr(Trainer, "train", lambda *_: None)
    loop = Loop(open_graph(str(unlabelled)), by="test")
    for name in ("red", "green"):
        loop.change_classes("add", name)
    return loop


@pytest.mark.parametrize("second", ["another label", "not sure"])
def test_what_was_said_before_of_a_node_is_shown_when_what_was_said_later_is_undone(
    loop: Loop, second: str
) -> None:
    loop.label(5, "red")
    loop.unsure(5) if second == "not sure" else loop.label(5, "green")
    loop.undo()
    card = View(loop).card()
    assert (card.node, card.given) == (5, 0)
    assert card.reason == "You took back what you said of it."
    assert View(loop).card().node == 5


def test_a_node_whose_label_is_back_is_asked_for_until_something_is_said_of_it(loop: Loop) -> None:
    for name in ("red", "green"):
        loop.label(5, name)
    loop.undo()
    Ledger(loop.opened.ledger).append(lambda _: Line(id=loop.opened.ids[6], label="red"))
    loop.ledger.refresh()
    loop.label(7, "red")
    assert View(loop).card().node == 5
    loop.skip(5)
    assert View(loop).card().node != 5
    assert loop.labels.labels[5] == 0


def test_a_node_of_which_somebody_else_says_something_is_asked_for_no_more(loop: Loop, unlabelled: Path) -> None:
    for name in ("red", "green"):
        loop.label(5, name)
    loop.undo()
    other = Loop(open_graph(str(unlabelled)), by="other")
    other.label(5, "green")
    loop.label(7, "red")
    assert View(loop).card().node not in (5, None)
