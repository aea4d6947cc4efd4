"""The loop without a server: what is asked, what is learnt, and what is told of it."""

import dataclasses
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from shlex import split
from typing import Any

import numpy as np
import pytest
from tests.labelling.page.tables import write_table
from tests.labelling.pages import COLOURS, NUM_NODES, colour_of, write_graph

from lcgnn.assessment.trust import Expected
from lcgnn.errors import ConfigError, DataError, ExtraError
from lcgnn.extras import need
from lcgnn.graph import Graph
from lcgnn.labelling import layout
from lcgnn.labelling.answers import Answers
from lcgnn.labelling.curve import Curve, advice, forecast, next_ten
from lcgnn.labelling.export import labels_table
from lcgnn.labelling.labels import Labels
from lcgnn.labelling.layout import kept_layout, layout_of
from lcgnn.labelling.ledger import Ledger
from lcgnn.labelling.loop import Loop
from lcgnn.labelling.messages import Card, CurvePoint, Thought, to_json
from lcgnn.labelling.names import LONGEST_NAME, checked_name
from lcgnn.labelling.opening import open_graph
from lcgnn.labelling.serving import Address
from lcgnn.labelling.trainer import Trainer
from lcgnn.labelling.training import Estimated, Failed, Fitted, Job, Worker
from lcgnn.labelling.view import NO_CLASS, View
from lcgnn.methods import create
from lcgnn.runs.predict import predict
from lcgnn.sources.benchmarks import benchmark
from lcgnn.sources.benchmarks.rescaled import Rescaled
from lcgnn.sources.choice import source_of
from lcgnn.sources.node_labels import ledger_ids
from lcgnn.sources.source import Known
from lcgnn.sources.tables.columns import Columns
from lcgnn.sources.tables.ledger import HEADER, GivenLabels, Line, find_ledger

SHORT = create("lc-gcn", "own-graph", selection="last", base_epochs=5, epochs=5)


@pytest.fixture(autouse=True)
def nothing_is_trained(monkeypatch):
    """No process is started for what is told here."""
    monkeypatch.setattr(Trainer, "train", lambda *_: None)


@pytest.fixture
def loop(unlabelled):
    return Loop(open_graph(str(unlabelled)), by="test")


def job_of(nodes, number=1):
    labels = np.array([node % 3 for node in nodes])
    return Job(number, np.array(nodes), labels, COLOURS)


def test_suggestions_differ_and_stay_until_something_is_said(loop):
    loop.change_classes("add", "red")
    asked = []
    for _ in range(20):
        first = loop.next_suggestion()
        assert loop.next_suggestion() is first
        asked.append(first.node)
        loop.label(first.node, 0)
    assert len(set(asked)) == 20


def test_at_the_end_no_node_is_left_to_ask_for(loop):
    while (suggestion := loop.next_suggestion()) is not None:
        loop.skip(suggestion.node)
    assert len(loop.labels.skipped) == NUM_NODES
    card = View(loop).card()
    assert card.node is None
    assert card.reason


def test_what_is_said_of_a_labelled_node_counts_as_it_should(loop):
    loop.change_classes("add", "red")
    loop.label(5, "red")
    loop.skip(5)
    assert loop.labels.labels[5] == 0
    assert loop.labels.skipped == ()
    loop.unsure(5)
    assert loop.labels.labels[5] == -1
    assert loop.labels.unsure == (5,)
    loop.undo()
    assert loop.labels.labels[5] == 0


@pytest.fixture
def partly(unlabelled):
    """The graph with labels for nine of its nodes in the table, beside columns that are features."""
    nodes = unlabelled / "nodes.csv"
    lines = nodes.read_text(encoding="utf-8").splitlines()
    rows = [f"{line},{colour_of(node) if node < 9 else ''}" for node, line in enumerate(lines[1:])]
    nodes.write_text("\n".join([f"{lines[0]},label", *rows]) + "\n", encoding="utf-8")
    return unlabelled


def test_what_another_page_said_a_moment_ago_is_seen_before_anything_is_written(loop):
    loop.change_classes("add", "red")
    other = Ledger(loop.opened.ledger)
    other.append(lambda _: Line(id=loop.opened.ids[0], label="red"))
    other.append(lambda _: Line(label="blue", action="class"))
    with pytest.raises(ConfigError, match="there is one already; merge the two"):
        loop.change_classes("rename", "red", "blue")
    other.append(lambda _: Line(id=loop.opened.ids[1], label="blue"))
    loop.skip(1)
    assert loop.ledger.given.labels() == {loop.opened.ids[0]: "red", loop.opened.ids[1]: "blue"}


def test_labels_of_the_tables_are_there_and_follow_their_class(partly):
    content = (partly / "nodes.csv").read_bytes()
    loop = Loop(open_graph(str(partly)))
    assert set(loop.labels.class_names) == set(COLOURS)
    assert loop.labels.nodes.tolist() == list(range(9))
    loop.change_classes("rename", "red", "crimson")
    loop.change_classes("merge", "green", "blue")
    loop.label(0, "blue")
    named = [loop.labels.class_names[label] for label in loop.labels.labels[:9]]
    assert named == ["blue", "blue", "blue", "crimson", "blue", "blue", "crimson", "blue", "blue"]
    assert (partly / "nodes.csv").read_bytes() == content
    graph = loop.opened.graph
    again = Labels.of(graph, loop.opened.numbers, Ledger(loop.opened.ledger, graph.class_names).given)
    assert again.same_as(loop.labels)


def named_labels(graph):
    return [None if label < 0 else graph.class_names[label] for label in graph.labels]


@pytest.mark.parametrize("seed", range(3))
def test_training_and_predicting_read_exactly_the_labels_that_the_page_has(partly, seed):
    random, loop = np.random.default_rng(seed), Loop(open_graph(str(partly)))
    before = source_of(str(partly)).load()
    for _ in range(40):
        names, node = loop.labels.class_names, int(random.integers(30))
        action = random.choice(["label", "label", "label", "skip", "unsure", "undo", "add", "rename", "merge"])
        one, other = (str(name) for name in random.choice(names, 2, replace=False))
        if action == "label":
            loop.label(node, one)
        elif action in ("skip", "unsure"):
            getattr(loop, action)(node)
        elif action == "undo" and loop.ledger.exists:
            with suppress(ConfigError):
                loop.undo()
        elif action in ("add", "rename"):
            new = f"class {random.integers(10**9)}"
            loop.change_classes("add", new) if action == "add" else loop.change_classes("rename", one, new)
        elif action == "merge" and len(names) > 3:
            loop.change_classes("merge", one, other)
    wanted = [None if label < 0 else loop.labels.class_names[label] for label in loop.labels.labels]
    loaded = source_of(str(partly)).load()
    assert named_labels(loaded.graph) == wanted
    assert abs(loaded.graph.features - before.graph.features).max() == 0
    known = source_of(str(partly)).load_known(Known(loaded.form, loaded.graph.class_names))
    assert named_labels(known.graph) == wanted


def test_arrays_without_labels_have_the_features_that_they_have_with_some(tmp_path):
    random = np.random.default_rng(0)
    arrays: dict[str, Any] = {
        "features": random.normal(3, 2, (12, 4)),
        "edge_index": np.stack([np.arange(11), np.arange(1, 12)]),
    }
    np.savez(tmp_path / "bare.npz", **arrays)
    np.savez(tmp_path / "given.npz", **arrays, labels=np.arange(12) % 2)
    bare, given = (open_graph(str(tmp_path / name)) for name in ("bare.npz", "given.npz"))
    assert bare.graph.labelled.size == 0
    assert given.graph.labelled.size == 12
    assert np.array_equal(bare.graph.features, given.graph.features)
    assert bare.columns(0)[0][0] == "features"


def test_a_benchmark_keeps_its_labels_from_the_page(cora):
    opened = open_graph("cora")
    assert opened.graph.labelled.size == 0
    assert opened.truth is None
    assert opened.ledger == Path("runs/cora-labels/labels.csv")


def test_a_job_knows_whether_most_of_its_labels_are_of_suggested_nodes():
    table = Graph.from_edges(
        "table", np.array([[0], [1]]), 9, np.array([0, 1, 0, 0, -1, -1, -1, -1, -1]), ("a", "b")
    )
    ids, given = ledger_ids(table), GivenLabels(table.class_names)
    numbers = {name: number for number, name in enumerate(ids)}

    def learnt_from():
        return Labels.of(table, numbers, given).job(1).labelled(table)[1]

    assert not learnt_from().chosen
    # Labels that the table has are confirmed, or corrected.
    for node in range(4):
        given.apply(Line(id=ids[node], label="a" if node != 1 else "b"))
    assert not learnt_from().chosen
    for node in range(4, 8):
        given.apply(Line(id=ids[node], label="b"))
    assert learnt_from().chosen
    assert learnt_from().train.size == 8


def exported(loop: Loop, path: Path) -> list[str]:
    """The class of every node by a model of the page's labels, which is kept in a file."""
    worker = Worker(loop.opened.graph, SHORT)
    worker.newest = loop.labels.job(1)
    fitted = worker.step()
    assert isinstance(fitted, Fitted)
    answers = Answers(loop.opened, fitted)
    answers.model.save(path)
    return [answers.job.class_names[label] for label in answers.labels]


@pytest.mark.parametrize("graph", ["cora", Rescaled(benchmark("cora"), "own")], ids=["published", "rescaled"])
def test_a_model_of_a_benchmark_that_the_page_exports_says_what_the_page_said(cora, tmp_path, graph):
    loop = Loop(open_graph(graph, out=tmp_path / "labels.csv", simulate=True))
    truth, names = loop.opened.truth
    # The classes come up in another order than the benchmark's, and one never does.
    for node in sorted(cora[1].train.tolist(), key=lambda node: -truth[node]):
        if truth[node]:
            loop.label_as(node, names[truth[node]])
    said = exported(loop, tmp_path / "model.safetensors")
    again = predict(tmp_path / "model.safetensors", graph)
    classes = again.loaded.graph.class_names
    assert [classes[label] for label in again.distribution.argmax(axis=1)] == said
    given = again.loaded.split.train
    assert [classes[label] for label in again.loaded.graph.labels[given]] == [names[truth[node]] for node in given]
    assert set(given.tolist()) == {node for node in cora[1].train.tolist() if truth[node]}


def test_labels_that_the_page_exported_are_read_as_they_were_given(tmp_path):
    # What a spreadsheet would take for formulas has an apostrophe in front in the table that is exported.
    ids = ["@ann", "=2", "+3", "-4", "five"]
    write_table(tmp_path / "graph" / "nodes.csv", [["id", "size"], *([name, str(len(name))] for name in ids)])
    write_table(tmp_path / "graph" / "edges.csv", [["source", "target"], *map(list, pairwise(ids))])
    loop = Loop(open_graph(str(tmp_path / "graph"), out=tmp_path / "given.csv"))
    classes = ["-1", "+1", "@x", "plain", "-1"]
    for node, name in enumerate(classes):
        loop.label_as(node, name)
    (tmp_path / "exported.csv").write_text(labels_table(loop))
    assert "'@ann,'-1" in labels_table(loop)
    graph = source_of(str(tmp_path / "graph"), labels_from=tmp_path / "exported.csv").load().graph
    assert [graph.class_names[label] for label in graph.labels] == classes


def test_labels_of_the_page_are_given_ones_to_the_model_that_it_exports(unlabelled, tmp_path):
    loop = Loop(open_graph(str(unlabelled)))
    for node in range(1, 13):
        loop.label_as(node, colour_of(node))
    exported(loop, tmp_path / "model.safetensors")
    again = predict(tmp_path / "model.safetensors", str(unlabelled))
    assert again.loaded.split.train.tolist() == list(range(1, 13))
    assert named_labels(again.loaded.graph)[1:13] == [colour_of(node) for node in range(1, 13)]
    assert not any("not used" in note for note in again.notes)


@pytest.mark.parametrize("out", [None, "other labels.csv"])
def test_the_last_word_is_a_command_that_reads_the_labels(partly, out):
    columns = Columns(label="label", ignore=("size",))
    opened = open_graph(str(partly), columns, out=out and partly.parent / out)
    loop = Loop(opened)
    loop.label(20, "red")
    words = split(opened.next_command)
    assert words[:3] == ["lcgnn", "train", str(partly)]
    named = dict(zip(words[3::2], words[4::2], strict=True))
    assert (named.pop("--label-column"), named.pop("--ignore-column")) == ("label", "size")
    loaded = source_of(words[2], columns, labels_from=named.pop("--labels-from", None)).load()
    assert named == {}
    assert 20 in loaded.split.train


def test_there_is_room_for_a_thousand_classes(unlabelled):
    lines = [Line(label=f"class {number}", action="class").text() for number in range(999)]
    (unlabelled / "labels.csv").write_text(HEADER + "".join(lines), encoding="utf-8")
    loop = Loop(open_graph(str(unlabelled)))
    loop.change_classes("add", "the last")
    with pytest.raises(ConfigError, match="Merge some"):
        loop.change_classes("add", "one more")
    with pytest.raises(ConfigError, match="Merge some"):
        loop.label_as(0, "one more")
    assert len(View(loop).state().classes) == 1000


@pytest.mark.parametrize(
    "name",
    [
        "",
        "  ",
        None,
        7,
        "a\nb",
        "a\0b",
        "\ud800",
        "NA",
        "x" * (LONGEST_NAME + 1),
        "\u2028",
        "a\u202eb",
        "\u2066a\u2069",
    ],
)
def test_a_name_that_a_table_could_not_hold_is_none(name):
    with pytest.raises(ConfigError):
        checked_name(name)


def test_a_name_is_text_whatever_it_looks_like():
    for name in ("<b>", "=1+1", "'; drop table", "日本語", "a,b", '"', "-1"):
        assert checked_name(f" {name} ") == name


def test_a_user_s_own_labels_are_left_alone(unlabelled):
    (unlabelled / "nodes.csv").unlink()
    own = unlabelled / "labels.csv"
    own.write_text("id,label\nn1,green\nn2,blue\n", encoding="utf-8")
    loop = Loop(open_graph(str(unlabelled)))
    assert loop.opened.ledger == unlabelled / "labels.lcgnn.csv"
    assert loop.labels.nodes.size == 2
    loop.label(0, "blue")
    assert own.read_text(encoding="utf-8") == "id,label\nn1,green\nn2,blue\n"
    assert find_ledger(unlabelled) == unlabelled / "labels.lcgnn.csv"


def test_undo_on_a_fresh_page_changes_nothing(loop, unlabelled):
    with pytest.raises(ConfigError, match="nothing to undo"):
        loop.undo()
    with pytest.raises(ConfigError, match="no class"):
        loop.label(1, "violet")
    assert sorted(path.name for path in unlabelled.iterdir()) == ["edges.csv", "nodes.csv"]
    assert not loop.opened.has_changed()


def test_a_graph_beside_an_empty_file_of_labels_opens_and_is_labelled_there(unlabelled):
    before = open_graph(str(unlabelled))
    (unlabelled / "labels.csv").touch()
    assert not before.has_changed()
    loop = Loop(open_graph(str(unlabelled)))
    assert loop.opened.ledger == unlabelled / "labels.csv"
    assert source_of(str(unlabelled)).load_for_labelling().graph.labelled.size == 0
    loop.label_as(1, "green")
    loop.label_as(2, "blue")
    assert source_of(str(unlabelled)).load().split.train.tolist() == [1, 2]


def test_an_empty_file_beside_that_of_the_page_does_not_take_its_place(unlabelled):
    (unlabelled / "nodes.csv").unlink()
    (unlabelled / "labels.csv").write_text("id,label\nn1,green\n", encoding="utf-8")
    Loop(open_graph(str(unlabelled))).label(2, "green")
    (unlabelled / "labels.csv").write_text("", encoding="utf-8")
    with pytest.raises(DataError, match=r"labels\.csv"):
        open_graph(str(unlabelled))


@pytest.mark.parametrize(("count", "words"), [(1, "and 1 label with it"), (2, "and 2 labels with it")])
def test_a_file_of_labels_that_is_deleted_under_the_page_is_told(loop, count, words):
    for node in range(count):
        loop.label_as(node, "red")
    assert loop.messages == ()
    loop.opened.ledger.unlink()
    loop.ledger.refresh()
    (said,) = loop.messages
    assert said.startswith("labels.csv was deleted or emptied while the page was open")
    assert words in said


@pytest.mark.parametrize(
    ("count", "words"), [(1, "1 node in labels.csv is not"), (2, "2 nodes in labels.csv are not")]
)
def test_nodes_that_are_gone_are_counted_in_good_english(unlabelled, count, words):
    rows = [Line(id=f"gone {number}", label="red").text() for number in range(count)]
    (unlabelled / "labels.csv").write_text(HEADER + "".join(rows), encoding="utf-8")
    (said,) = Loop(open_graph(str(unlabelled))).messages
    assert said.startswith(words)


def test_edges_alone_can_be_labelled(unlabelled):
    (unlabelled / "nodes.csv").unlink()
    loop = Loop(open_graph(str(unlabelled)))
    loop.label_as(0, "red")
    loop.label_as(1, "green")
    loaded = source_of(str(unlabelled)).load()
    assert loaded.graph.num_nodes == loop.opened.graph.num_nodes
    assert sorted(loaded.graph.class_names) == ["green", "red"]
    assert {str(name) for name in loaded.graph.node_names[loaded.graph.labelled]} == set(loop.opened.ids[:2])


def test_ids_over_several_lines_are_told_apart_or_refused(tmp_path):
    (tmp_path / "edges.csv").write_text("source,target\nc,d\n", encoding="utf-8")
    (tmp_path / "nodes.csv").write_text('id,x\n"a\nb",1\nc,2\nd,3\n', encoding="utf-8")
    loop = Loop(open_graph(str(tmp_path)))
    loop.label_as(0, "red")
    loop.label_as(1, "green")
    loaded = source_of(str(tmp_path)).load()
    assert loaded.graph.labels.tolist() == [1, 0, -1]
    (tmp_path / "nodes.csv").write_text('id,x\n"a\nb",1\n"a b",2\nc,2\nd,3\n', encoding="utf-8")
    with pytest.raises(DataError, match="line breaks"):
        open_graph(str(tmp_path))


def test_fits_and_folds_take_turns_and_an_estimate_comes_however_fast_labels_are_given(unlabelled):
    worker = Worker(open_graph(str(unlabelled)).graph, SHORT)
    said = []
    for number in range(1, 16):
        worker.newest = job_of(range(1, 12 + number), number)
        said.append(worker.step())
    kinds = [type(item) for item in said]
    assert kinds.count(Fitted) >= 7
    estimated = next(item for item in said if isinstance(item, Estimated))
    assert estimated.job.number == 1
    assert sorted(estimated.nodes) == list(range(1, 13))
    assert estimated.assessment.overall.labels == 12
    last = None
    while not worker.is_idle:
        last = worker.step() or last
    assert isinstance(last, Estimated)
    assert last.job.number == 15


def test_the_same_labels_give_the_same_answers(unlabelled):
    answers = []
    for _ in range(2):
        worker = Worker(open_graph(str(unlabelled)).graph, SHORT)
        worker.newest = job_of(range(1, 10))
        fitted = worker.step()
        assert isinstance(fitted, Fitted)
        answers.append(fitted.fit.label_distribution)
    assert np.array_equal(answers[0], answers[1])


def test_what_cannot_be_trained_is_told(loop):
    loop._heard(Failed(1, "It did not work."))
    assert View(loop).state().training.words == "It did not work."
    assert loop.training.state == "failed"


def test_a_doubt_vanishes_with_the_label_that_it_is_about(loop):
    loop.change_classes("add", "red")
    loop.change_classes("add", "green")
    for node in range(12):
        loop.label_as(node, "green" if node == 3 else colour_of(node))
    labels = loop.labels.job(1)
    held_out = np.eye(3, dtype=np.float32)[[COLOURS.index(colour_of(int(node))) for node in labels.nodes]]
    order = [COLOURS.index(name) for name in labels.class_names]
    worker = Worker(loop.opened.graph, SHORT)
    worker.newest = labels
    worker.step()
    estimated = next(item for item in iter(worker.step, object()) if isinstance(item, Estimated))
    loop._heard(dataclasses.replace(estimated, nodes=labels.nodes, held_out=held_out[:, order] * 0.9 + 1 / 30))
    (doubt,) = View(loop).state().doubtful
    assert (doubt.node, doubt.given, doubt.instead) == (3, "green", "red")
    loop.label(3, "red")
    assert View(loop).state().doubtful == ()


def test_answers_are_padded_and_nothing_known_is_no_class(loop):
    content = View(loop).answers()
    start = -(-2 * NUM_NODES // 4) * 4
    assert len(content) == start + 4 * NUM_NODES
    assert (np.frombuffer(content[: 2 * NUM_NODES], "<u2") == NO_CLASS).all()
    assert (np.frombuffer(content[start:], "<f4") == 0).all()


def curve_of(*labels, expected, width=0.02):
    return [CurvePoint(n, expected(n), expected(n) - width, expected(n) + width) for n in labels]


def test_a_forecast_continues_a_curve_of_its_own_form():
    points = curve_of(10, 20, 40, 80, expected=lambda n: 0.9 - n**-0.5)
    found = forecast(points)
    assert found.gain == pytest.approx(80**-0.5 - 90**-0.5, rel=1e-6)
    assert 0 <= found.low < found.gain < found.high


def test_too_few_points_tell_nothing_and_say_so():
    assert forecast(curve_of(10, 11, 12, 13, expected=lambda _: 0.5)) is None
    assert "too early" in next_ten(curve_of(10, 20, expected=lambda _: 0.5))
    assert "hold out" in next_ten([])


def test_labels_that_no_longer_pay_are_told_in_a_plain_word():
    flat = curve_of(50, 100, 200, 400, expected=lambda _: 0.8, width=0.01)
    assert "no longer pay" in advice(flat, 3, 3)
    steep = curve_of(5, 10, 20, 30, expected=lambda n: 0.9 - n**-0.5, width=0.01)
    assert "still pay" in advice(steep, 3, 3)
    assert "two classes" in advice([], 1, 1)


def test_a_curve_forgets_points_of_labels_that_were_taken_back(tmp_path):
    curve = Curve(tmp_path / "curve.json", 0)
    for labels in (10, 20, 30):
        curve.add(labels, Expected(0.5, 0.4, 0.6, labels), labels)
    assert [point.labels for point in Curve(tmp_path / "curve.json", 30).points] == [10, 20, 30]
    curve.add(15, Expected(0.6, 0.5, 0.7, 15), 15)
    assert [point.labels for point in curve.points] == [10, 15]
    (tmp_path / "curve.json").write_text("[1, 2]")
    assert Curve(tmp_path / "curve.json", 30).points == ()


def test_a_layout_depends_on_the_graph_alone_and_is_kept(tmp_path):
    opened = open_graph(str(write_graph(tmp_path / "graph")))
    first, second = layout_of(opened.graph), kept_layout(opened.graph, tmp_path / "cache")
    assert np.array_equal(first.places, second.places)
    assert np.abs(first.places).max() == pytest.approx(1)
    (tmp_path / "cache" / "layout.npz").read_bytes()
    assert np.array_equal(kept_layout(opened.graph, tmp_path / "cache").places, first.places)
    # Neighbours lie nearer to each other than others do.
    ends = first.places[first.edges.astype(int)]
    near = np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1).mean()
    others = first.places[np.random.default_rng(0).permutation(NUM_NODES)] - first.places
    assert near < 0.7 * np.linalg.norm(others, axis=1).mean()


def test_a_layout_is_computed_once_however_many_ask_for_it(loop, monkeypatch):
    asked: list[float] = []

    def slow(graph: Graph, folder: Path) -> layout.Layout:
        asked.append(time.monotonic())
        time.sleep(0.2)
        return kept_layout(graph, folder)

    monkeypatch.setattr("lcgnn.labelling.view.kept_layout", slow)
    view = View(loop)
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda _: view.layout, range(4)))
    assert len(asked) == 1
    assert all(one is found[0] for one in found)


def test_a_large_graph_is_drawn_as_a_sample_that_says_so(unlabelled):
    graph = open_graph(str(unlabelled)).graph
    found = layout_of(graph, most=40)
    assert found.sampled
    assert found.nodes.size == 40 == found.places.shape[0]
    assert np.array_equal(found.nodes, np.unique(found.nodes))
    joined = graph.adjacency[found.nodes][:, found.nodes]
    assert found.edges.shape[0] == joined.nnz // 2
    assert not found.edges_sampled


def test_a_sample_of_the_edges_says_so(loop, monkeypatch):
    whole = View(loop).graph()
    assert (whole.edges_shown, whole.edges_sampled) == (whole.edges, False)
    monkeypatch.setattr(layout, "MOST_EDGES", 10)
    # Once from what was kept, and once anew.
    kept = View(loop).graph()
    assert (kept.edges_shown, kept.edges_sampled, kept.sampled) == (10, True, False)
    made = layout.layout_of(loop.opened.graph)
    assert (made.edges.shape[0], made.edges_sampled) == (10, True)


def test_messages_are_json_with_a_version():
    assert to_json(Card(None, "why")) == b'{"version":1,"node":null,"reason":"why"}'
    assert b'"class":"x"' in to_json(None, thinks=(Thought("x", 0.5),))


def test_a_port_that_is_taken_is_told_in_a_line():
    with Address().listening() as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ConfigError, match=f"Port {port} of 127.0.0.1 cannot be used"):
            Address(port=port).listening()
    with pytest.raises(ConfigError, match="no port 70000"):
        Address(port=70_000).listening()


def test_a_missing_library_is_told_in_a_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(ExtraError, match=r"pip install 'lcgnn\[label\]'"):
        need("uvicorn", "The page of lcgnn label")


def test_labels_cannot_be_simulated_where_there_are_none(unlabelled):
    with pytest.raises(ConfigError, match="--simulate"):
        open_graph(str(unlabelled), simulate=True)
