"""From an unlabelled graph to thirty labels on the page, as a person would, the server killed in the middle."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.labelling.page.serving import Served
from tests.labelling.page.tables import KINDS, write_fruits


class Labeller:
    """A person at the keyboard who knows what every node is, and looks at the page only."""

    def __init__(self, page: Any, truth: dict[str, str]) -> None:
        self.page, self.truth = page, truth
        self.answered: list[str] = []

    def node(self) -> str:
        return str(self.page.locator("#card-title").inner_text())

    def classes(self) -> list[str]:
        return list(self.page.locator("#choices .choice:not(.new) .name").all_inner_texts())

    def answer(self) -> str:
        """Press the number of the node's class, or type its name where it is new."""
        node, kind = self.node(), self.truth[self.node()]
        known = self.classes()
        if kind in known:
            self.page.keyboard.press(str(known.index(kind) + 1))
        else:
            self.page.keyboard.press("/")
            self.page.keyboard.type(kind)
            self.page.keyboard.press("Enter")
        self.answered.append(node)
        self.wait_for_labels(len(self.answered))
        return node

    def wait_for_labels(self, number: int) -> None:
        self.page.locator("#tally", has_text=f"{number} label{'' if number == 1 else 's'}").wait_for()
        self.page.locator("#card:not(.busy)").wait_for()


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    write_fruits(tmp_path / "fruits")
    (tmp_path / "labels").mkdir()
    serving = Served(tmp_path / "fruits", tmp_path / "labels" / "labels.csv")
    yield serving
    serving.kill()


def test_thirty_labels_by_keys_teach_the_model_and_survive_a_kill(
    served: Served, visit: Callable[..., Any], tmp_path: Path
) -> None:
    truth = write_fruits(tmp_path / "again")
    page = served.open(visit, expected="Failed to load resource")
    labeller = Labeller(page, truth)

    assert page.locator("#choices label").inner_text() == "Name the first class"
    assert "stands for" in page.locator(".reason").inner_text().lower()
    for _ in range(12):
        labeller.answer()
    assert sorted(labeller.classes()) == sorted(KINDS)
    assert served.labels() == {node: truth[node] for node in labeller.answered}

    _the_server_is_killed_and_the_new_link_goes_on(served, page, labeller)

    while len(labeller.answered) < 30:
        labeller.answer()
    page.locator("#training", has_text="Trained on 30 labels").wait_for()
    assert served.labels() == {node: truth[node] for node in labeller.answered}
    page.locator("svg.curve").wait_for()
    assert page.locator(".big").inner_text().endswith("%")
    predicted = page.locator("#classlist tbody tr td:nth-child(3)").all_inner_texts()
    assert sum(map(int, predicted)) == 90
    # Three kinds of forty that link to their own: whoever learnt anything has about forty of each.
    assert all(20 <= int(number) + 10 <= 60 for number in predicted)
    for name in ("nodes.csv", "edges.csv"):
        assert (tmp_path / "fruits" / name).read_bytes() == (tmp_path / "again" / name).read_bytes()


def _the_server_is_killed_and_the_new_link_goes_on(served: Served, page: Any, labeller: Labeller) -> None:
    served.kill()
    line = page.locator(".notice")
    line.filter(has_text="does not answer").wait_for()
    assert line.inner_text().endswith("if you start lcgnn label again, open the link that it prints.")
    node = labeller.node()
    page.keyboard.press("1")
    line.filter(has_text="Not saved: The server does not answer").wait_for()
    assert labeller.node() == node
    assert line.count() == 1
    served.start()
    line.filter(has_text="Not saved: This page's session has ended").wait_for()
    assert line.count() == 1
    page.goto(served.link)
    labeller.wait_for_labels(len(labeller.answered))
    assert served.labels().keys() == set(labeller.answered)
