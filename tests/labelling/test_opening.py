"""What is said when a graph is opened for labelling."""

from pathlib import Path

from lcgnn.labelling.loop import Loop
from lcgnn.labelling.opening import open_graph


def test_of_labels_in_a_table_that_is_not_there_nothing_is_said(unlabelled: Path) -> None:
    (unlabelled / "nodes.csv").unlink()
    first = open_graph(str(unlabelled))
    Loop(first).label_as(0, "red")
    for opened in (first, open_graph(str(unlabelled))):
        assert not any("label" in note for note in opened.loaded.notes), opened.loaded.notes
