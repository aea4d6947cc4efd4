"""What is said of a graph before training equals what can be counted by hand."""

import io
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from lcgnn.assessment.diagnosis import Agreement, Diagnosis, diagnose, verdict
from lcgnn.cli import main
from lcgnn.cli.display_graph import diagnosis_view
from lcgnn.graph import Graph
from lcgnn.report.plots import save_diagnosis
from lcgnn.sources.tables.columns import Columns


def graph_of(edges: list[tuple[int, int]], labels: list[int], names: tuple[str, ...] = ("x", "y")) -> Graph:
    return Graph.from_edges("small", np.array(edges).T, len(labels), np.array(labels), names)


@pytest.fixture
def path() -> Graph:
    """x - x - y - ? - y, and a node alone."""
    return graph_of([(0, 1), (1, 2), (2, 3), (3, 4)], [0, 0, 1, -1, 1, -1])


def test_sizes_are_counted(path: Graph) -> None:
    found = diagnose(path)
    assert (found.nodes, found.edges, found.classes, found.labelled) == (6, 4, 2, 4)
    assert (found.components, found.isolated, found.out_of_reach) == (2, 1, 1)
    assert found.largest_component == pytest.approx(5 / 6)
    assert found.degree == {"least": 0, "median": 1.5, "mean": pytest.approx(8 / 6), "highest": 2}
    assert found.degree_counts == (1, 2, 3)


def test_labels_of_neighbours_are_compared_by_edge_node_and_class(path: Graph) -> None:
    found = diagnose(path)
    # Edges between labelled nodes: x-x and x-y. Their four ends are x, x, x and y.
    assert found.by_edge == Agreement(2, 0.5, pytest.approx((3 / 4) ** 2 + (1 / 4) ** 2))  # type: ignore[arg-type]
    # The first x agrees with all its labelled neighbours, the second with half, the first y with none.
    assert found.by_node == pytest.approx((1 + 0.5 + 0) / 3)
    assert [(row.labels, row.consistency) for row in found.by_class] == [(2, pytest.approx(2 / 3)), (2, 0.0)]


def test_nodes_with_a_common_neighbour_are_compared(path: Graph) -> None:
    # x-(x)-y disagree, y-(?)-y agree; x-(y)-? has an end without a label.
    assert diagnose(path).by_two_steps == Agreement(2, 0.5, pytest.approx((1 / 4) ** 2 + (3 / 4) ** 2))  # type: ignore[arg-type]


def test_weights_do_not_change_what_is_counted(path: Graph) -> None:
    weighted = Graph("w", path.adjacency * np.float32(0.3), path.labels, path.class_names)
    assert diagnose(weighted) == diagnose(path)


def two_groups(within: bool, count: int = 20) -> Graph:
    """Two rings of labelled nodes with edges within them, or only between them."""
    nodes = range(count)
    if within:
        edges = [(i, (i + 1) % count) for i in nodes] + [(count + i, count + (i + 1) % count) for i in nodes]
    else:
        edges = [(i, count + i) for i in nodes] + [(i, count + (i + 1) % count) for i in nodes]
    return graph_of(edges, [0] * count + [1] * count)


def test_a_graph_whose_neighbours_agree_is_said_to_suit() -> None:
    words = " ".join(verdict(diagnose(two_groups(within=True))))
    assert words.startswith("The edges are likely to help: ")
    assert "100% have the same label (50% would by chance)" in words


def test_a_graph_whose_neighbours_differ_is_said_not_to_suit() -> None:
    words = verdict(diagnosis_with(Agreement(400, 0.2, 0.5), NOTHING))[0]
    assert words.startswith("The edges are unlikely to help: ")
    assert words.endswith("Neighbours tend to differ: try lcgnn compare GRAPH --methods cheby,mlp,lc-gcn.")


def test_neighbours_that_differ_while_those_two_steps_apart_agree_are_said_to_tell_something() -> None:
    words = verdict(diagnose(two_groups(within=False)))[0]
    assert words.startswith("Neighbours tend to differ, but nodes with a common neighbour are alike: of 40 pairs")
    assert words.endswith(
        "So the edges tell a lot to a method that can learn that: lcgnn compare GRAPH --methods cheby,mlp,lc-gcn."
    )
    assert "unlikely" not in words
    weaker = verdict(diagnosis_with(Agreement(400, 0.25, 0.5), Agreement(400, 0.62, 0.5)))[0]
    assert "So the edges tell something to a method that can learn that" in weaker


def test_labels_that_ignore_the_edges_are_said_not_to_suit() -> None:
    edges = [(i, (i + step) % 40) for i in range(40) for step in (1, 2)]
    words = " ".join(verdict(diagnose(graph_of(edges, [0, 0, 1, 1] * 10))))
    assert "say little about the labels" in words or "Neighbours tend to differ" in words


def diagnosis_with(by_edge: Agreement, by_two_steps: Agreement) -> Diagnosis:
    return replace(diagnose(two_groups(within=True)), by_edge=by_edge, by_two_steps=by_two_steps)


NOTHING = Agreement(0, None, None)


@pytest.mark.parametrize(
    ("by_edge", "by_two_steps", "beyond"),
    [
        (Agreement(400, 0.7, 0.5), NOTHING, 0.4),
        (Agreement(400, 0.1, 0.5), NOTHING, -0.8),
        # Two steps apart the agreement is the square, and tells no sign.
        (NOTHING, Agreement(400, 0.68, 0.5), 0.6),
        (Agreement(400, 0.2, 0.5), Agreement(400, 0.68, 0.5), -0.6),
        (Agreement(400, 0.8, 0.5), Agreement(400, 0.68, 0.5), 0.6),
        # A few edges do not tell it either.
        (Agreement(3, 1 / 3, 0.5), Agreement(400, 0.68, 0.5), 0.6),
        (Agreement(5, 0.8, 0.5), Agreement(4, 0.5, 0.5), None),
        # Nor do a few of both, even if all of them agree.
        (Agreement(6, 1.0, 0.5), Agreement(20, 1.0, 0.5), None),
    ],
)
def test_edges_and_common_neighbours_tell_agreement_together(
    by_edge: Agreement, by_two_steps: Agreement, beyond: float | None
) -> None:
    assert diagnosis_with(by_edge, by_two_steps).beyond_chance == (beyond and pytest.approx(beyond, abs=0.02))


def test_a_handful_of_pairs_is_not_spoken_of() -> None:
    words = verdict(diagnosis_with(Agreement(2, 1.0, 0.5), Agreement(40, 0.9, 0.5)))[0]
    assert "of 40 pairs of labelled nodes that share a neighbour" in words
    assert "that an edge joins" not in words


@pytest.mark.parametrize("consistency", [0.25, 0.5, 0.75, 0.95])
def test_the_agreement_of_a_generated_graph_is_found_from_a_tenth_of_its_labels(consistency: float) -> None:
    generator = np.random.default_rng(1)
    truth = generator.integers(0, 4, 2000)
    sources = np.repeat(np.arange(2000), 4)
    other = (truth[sources] + generator.integers(1, 4, sources.size)) % 4
    wanted = np.where(generator.random(sources.size) < consistency, truth[sources], other)
    members = [np.flatnonzero(truth == label) for label in range(4)]
    targets = np.array([generator.choice(members[label]) for label in wanted])
    labels = np.where(generator.random(2000) < 0.1, truth, -1)
    graph = Graph.from_edges("g", np.stack([sources, targets]), 2000, labels, list("abcd"))
    assert diagnose(graph).beyond_chance == pytest.approx((consistency - 0.25) / 0.75, abs=0.13)


def test_too_few_labels_are_said_to_tell_nothing(path: Graph) -> None:
    words = " ".join(verdict(diagnose(path)))
    assert "Too few labelled nodes" in words
    assert "(4 pairs; a verdict takes 30)" in words
    assert words.endswith("1 node is in a part of the graph without any label; nothing tells its class.")


def test_features_are_said_to_tell_the_class_of_nodes_out_of_reach_where_there_are_some(path: Graph) -> None:
    described = replace(path, features=np.ones((path.num_nodes, 1), dtype=np.float32))
    told = "1 node is in a part of the graph without any label; only its features tell its class."
    assert verdict(diagnose(described))[-1] == told
    # Features that were made from the edges tell nothing of a node without any.
    made = diagnose(described, made_of_edges=True)
    assert verdict(made)[-1].endswith("without any label; nothing tells its class.")
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(diagnosis_view("made", made))
    assert "0 (1 made from the edges)" in console.export_text()


@pytest.mark.parametrize(
    ("sizes", "told"),
    [
        ((1, 1), "2 nodes (1%) are in parts of the graph without any label; nothing tells their class."),
        ((2,), "2 nodes (1%) are in a part of the graph without any label; nothing tells their class."),
        (
            (7, 3),
            "10 nodes (5%) are in parts of the graph without any label; nothing tells their class. A label in the "
            "largest such part, of 7 nodes, helps most.",
        ),
    ],
)
def test_nodes_out_of_reach_are_counted_and_a_label_is_advised_where_it_reaches_several(
    sizes: tuple[int, ...], told: str
) -> None:
    edges, labels, start = [(0, node) for node in range(1, 200)], [0, 1] * 100, 200
    for size in sizes:
        edges += [(start, start + step) for step in range(1, size)]
        labels += [-1] * size
        start += size
    assert verdict(diagnose(graph_of(edges, labels)))[-1] == told


@pytest.mark.parametrize(
    ("labels", "why"),
    [([0] * 10, "All labels are of one class"), ([0, 1] + [-1] * 8, "No class has two labels")],
)
def test_labels_that_cannot_be_compared_by_are_not_sent_to_the_comparison(labels: list[int], why: str) -> None:
    edges = [(node, other) for node in range(10) for other in range(node)]
    told = " ".join(verdict(diagnose(graph_of(edges, labels))))
    assert told.startswith(f"{why}, which cannot tell whether the edges help: label ")
    assert "lcgnn suggest GRAPH" in told
    assert "lcgnn label GRAPH" in told
    assert "lcgnn compare" not in told


@pytest.mark.parametrize("beyond", [0.9, 0.3, 0.0, -0.8])
def test_whatever_is_seen_the_comparison_is_advised_and_nothing_is_promised_of_label_consistency(
    beyond: float,
) -> None:
    words = " ".join(verdict(diagnosis_with(Agreement(400, 0.5 + beyond / 2, 0.5), NOTHING)))
    assert "lcgnn compare GRAPH" in words
    assert "--method " not in words
    assert "Label consistency is" not in words


def test_many_labels_are_said_to_leave_little_room() -> None:
    assert "the network alone may do as well" in " ".join(verdict(diagnose(two_groups(within=True, count=60))))


def test_a_graph_without_labelled_neighbours_has_no_agreement() -> None:
    found = diagnose(graph_of([(0, 1), (2, 3)], [0, -1, 1, -1]))
    assert found.by_edge == Agreement(0, None, None)
    assert found.by_node is None
    assert found.to_json()["by_edge"]["beyond_chance"] is None


def test_the_plot_is_a_picture_whatever_the_classes_are_called(path: Graph, tmp_path: Path) -> None:
    odd = Graph("$odd_{\n", path.adjacency, path.labels, ("$x^{", "类别" * 30))
    save_diagnosis(tmp_path / "plot.png", odd.name, diagnose(odd))
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")


def test_a_name_cannot_command_the_terminal(path: Graph) -> None:
    odd = Graph("\x1b]0;evil\x07", path.adjacency, path.labels, ("\x1b[31mred", "[bold]y"))
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(diagnosis_view(odd.name, diagnose(odd)))
    shown = console.export_text(styles=True)
    assert "?[31mred" in shown
    assert "[bold]y" in shown
    assert "\x1b]0;" not in shown


def test_pairs_of_nearly_one_class_alone_give_no_verdict() -> None:
    found = diagnosis_with(Agreement(65, 1.0, 1.0), NOTHING)
    assert found.beyond_chance is None
    assert verdict(found)[0].startswith(
        "Of the 65 pairs of labelled nodes that are close to each other nearly all"
    )
    assert diagnosis_with(Agreement(46, 0.93, 0.94), NOTHING).beyond_chance is None


def test_a_graph_without_any_label_is_looked_at_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "nodes.csv").write_text("who,age\n" + "".join(f"n{node},{node % 7}\n" for node in range(12)))
    (tmp_path / "edges.csv").write_text(
        "source,target\n" + "".join(f"n{node},n{node // 2}\n" for node in range(1, 12))
    )
    plot = tmp_path / "plot.png"
    arguments = ["lcgnn", "inspect", str(tmp_path), "--id-column", "who", "--plot", str(plot)]
    monkeypatch.setattr(sys, "argv", arguments)
    with pytest.raises(SystemExit) as done:
        main()
    assert done.value.code == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "labelled 0 (0.0%)" in told
    assert "No node has a label yet. A page suggests which to label first: lcgnn label GRAPH." in told
    assert plot.stat().st_size > 1000


def test_columns_are_told_to_the_next_command() -> None:
    columns = Columns(id="my id", weight="amount", ignore=("a", "b"))
    assert columns.options() == [
        "--id-column", "my id", "--weight-column", "amount", "--ignore-column", "a", "--ignore-column", "b",
    ]  # fmt: skip
