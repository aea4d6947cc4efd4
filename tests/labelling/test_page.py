"""The page's server, as a browser uses it: a real process, real requests, and whatever may happen meanwhile."""

import csv
import io
import json
import os
import resource
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from tests.labelling.pages import HOSTILE, NUM_NODES, colour_of

from lcgnn.runs.model import TrainedModel
from lcgnn.runs.predict import predict
from lcgnn.sources.choice import source_of


def without_revision(state: dict) -> dict:
    """What of a state does not depend on when it was asked for."""
    return {name: state[name] for name in ("classes", "labelled", "skipped", "unsure", "messages")} | {
        "classes": [(item["name"], item["given"]) for item in state["classes"]]
    }


def predicted_again(model: Path, graph: Path) -> list[dict]:
    """What an exported model says of a graph, a row a node."""
    predict(model, str(graph)).save(model.with_name("again.csv"))
    with model.with_name("again.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def trained(page):
    """The page once fifteen labels are there and all of them have been learnt from; tests come in any order."""
    page.label_next(max(15 - len(page.get("/api/state")["labelled"]), 0))
    page.wait_for(lambda state: state["curve"] and state["training"]["state"] == "idle")
    return page


def test_a_few_labels_give_answers_for_every_node(trained):
    graph, state = trained.get("/api/graph"), trained.get("/api/state")
    assert graph["nodes"] == graph["shown"] == NUM_NODES == len(graph["ids"])
    assert not graph["sampled"]
    assert not graph["simulator"]
    assert len(trained.client.get("/api/layout.bin").content) == 8 * NUM_NODES
    edges = np.frombuffer(trained.client.get("/api/edges.bin").content, "<u4").reshape(-1, 2)
    assert edges.shape[0] == graph["edges"]
    assert edges.max() < NUM_NODES

    labelled = [node for node, _ in state["labelled"]]
    last = state["curve"][-1]
    assert 15 <= last["labels"] <= len(labelled)
    assert last["low"] <= last["expected"] <= last["high"]
    assert sum(item["predicted"] for item in state["classes"]) == NUM_NODES - len(labelled)
    content = trained.client.get("/api/answers.bin").content
    classes = np.frombuffer(content[: 2 * NUM_NODES], "<u2")
    start = -(-2 * NUM_NODES // 4) * 4
    sureness = np.frombuffer(content[start:], "<f4")
    names = [item["name"] for item in state["classes"]]
    right = [names[label] == colour_of(node) for node, label in enumerate(classes.tolist())]
    assert np.mean(right) > 0.9
    assert (sureness[labelled] == 1).all()
    assert ((sureness > 0) & (sureness <= 1)).all()


def test_a_card_shows_columns_neighbours_and_what_the_model_thinks(trained):
    card = trained.get("/api/node/0")
    assert card["id"] == HOSTILE
    assert {"name": "text", "text": "red things and pears"} in card["columns"]
    assert [item["id"] for item in card["neighbours"]] == ["n3"]
    assert card["thinks"][0]["class"] == "red"
    assert abs(sum(item["probability"] for item in card["thinks"]) - 1) < 0.01


def test_why_a_node_has_its_label_is_told(trained):
    why = trained.get("/api/explain/4")
    assert why["label"] == colour_of(4)
    assert why["words"]
    assert all({"node", "id"} <= set(item) for item in (*why["soft_neighbours"], *why["labelled"]))


def test_a_search_finds_ids_the_best_first(page):
    found = page.get("/api/search?q=N8")["found"]
    assert found[0]["id"] == "n8"
    assert {item["id"] for item in found} == {"n8", *(f"n8{digit}" for digit in range(10))} - {"n90"}
    assert page.get("/api/search?q=")["found"] == []
    assert page.get("/api/search?q=%3Cscript")["found"][0]["node"] == 0


def test_labels_predictions_model_and_report_are_exported(trained, tmp_path):
    state = trained.get("/api/state")
    labels = list(csv.DictReader(io.StringIO(trained.client.get("/api/export/labels.csv").text)))
    assert len(labels) == len(state["labelled"])
    predictions = list(csv.DictReader(io.StringIO(trained.client.get("/api/export/predictions.csv").text)))
    assert len(predictions) == NUM_NODES
    assert sum(row["origin"] == "given" for row in predictions) == len(labels)
    (tmp_path / "model.safetensors").write_bytes(trained.client.get("/api/export/model").content)
    model = TrainedModel.load(tmp_path / "model.safetensors")
    assert set(model.class_names) == {item["name"] for item in state["classes"] if item["given"]}
    again = predicted_again(tmp_path / "model.safetensors", Path(trained.get("/api/graph")["ledger"]).parent)
    assert [(row["id"], row["label"], row["origin"]) for row in again] == [
        (row["id"], row["label"], row["origin"]) for row in predictions
    ]
    report = trained.client.get("/api/export/report.html")
    assert report.headers["content-disposition"].startswith("attachment")
    assert "<script" not in report.text
    assert trained.client.get("/api/export/passwords").status_code == 404


def test_events_tell_that_something_changed(page):
    with page.client.stream("GET", "/api/events") as events:
        lines = events.iter_lines()
        first = [next(lines) for _ in range(3)]
        assert first[0] == "event: state"
        before = json.loads(first[1].removeprefix("data: "))["revision"]
        page.post("/api/skip", node=page.get("/api/card")["node"])
        assert next(lines) == "event: state"
        assert json.loads(next(lines).removeprefix("data: "))["revision"] > before


def test_a_class_is_added_renamed_merged_and_all_of_it_undone(trained):
    before = without_revision(trained.get("/api/state"))
    trained.post("/api/classes", action="add", name="other")
    node = trained.get("/api/card")["node"]
    names = [item["name"] for item in trained.get("/api/state")["classes"]]
    trained.post("/api/label", node=node, **{"class": names.index("other")})
    trained.post("/api/classes", action="rename", name="other", to="another")
    state = trained.post("/api/classes", action="merge", name="another", to="red")["state"]
    red = [item["name"] for item in state["classes"]].index("red")
    assert [node, red] in state["labelled"]
    for _ in range(4):
        answer = trained.post("/api/undo")
    assert without_revision(answer["state"]) == before


def test_what_is_undone_is_asked_for_again(page):
    node = page.get("/api/card")["node"]
    page.post("/api/unsure", node=node)
    assert page.post("/api/undo")["card"]["node"] == node


@pytest.mark.parametrize(
    ("path", "content", "status", "words"),
    [
        ("/api/label", {"node": NUM_NODES, "class": 0}, 404, "no node"),
        ("/api/label", {"node": -1, "class": 0}, 404, "no node"),
        ("/api/label", {"node": 1, "class": 99}, 400, "no class"),
        ("/api/label", {"node": 1, "class": "violet"}, 400, "no class"),
        ("/api/label", {"node": 1}, 400, "whole number"),
        ("/api/label", {"node": True, "class": 0}, 400, "whole number"),
        ("/api/classes", {"action": "add", "name": "red"}, 400, "already"),
        ("/api/classes", {"action": "add", "name": " "}, 400, "needs a name"),
        ("/api/classes", {"action": "add", "name": 3}, 400, "needs a name"),
        ("/api/classes", {"action": "add", "name": "x" * 201}, 400, "too long"),
        ("/api/classes", {"action": "add", "name": "x" * 1_000_000}, 413, "larger than"),
        ("/api/classes", {"action": "add", "name": "two\nlines"}, 400, "one line"),
        ("/api/classes", {"action": "add", "name": "NaN"}, 400, "no label"),
        ("/api/classes", {"action": "rename", "name": "red", "to": "green"}, 400, "merge"),
        ("/api/classes", {"action": "merge", "name": "red", "to": "none"}, 400, "rename"),
        ("/api/classes", {"action": "burn", "name": "red"}, 400, "add, rename or merge"),
        ("/api/simulate", {"on": True}, 400, "--simulate"),
        ("/api/none", {}, 404, "no action"),
    ],
)
def test_what_cannot_be_done_is_one_clear_line_and_changes_nothing(trained, path, content, status, words):
    before = without_revision(trained.get("/api/state"))
    answer = trained.client.post(path, json=content)
    assert answer.status_code == status, answer.text
    assert words in answer.json()["error"]
    assert "\n" not in answer.json()["error"]
    assert len(answer.json()["error"]) < 300
    assert without_revision(trained.get("/api/state")) == before


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{", b"nan", b"[" * 50_000, "ä".encode("latin-1"), b'{"node": 1e999}']
)
def test_a_body_that_is_no_json_object_is_refused(page, body):
    answer = page.client.post("/api/label", content=body)
    assert answer.status_code == 400
    assert answer.json()["error"]


def test_a_full_disk_is_told_and_nothing_is_claimed_that_is_not_saved(trained):
    before = trained.get("/api/state")
    ledger = Path(trained.get("/api/graph")["ledger"])
    card = trained.get("/api/card")
    size = ledger.stat().st_size
    unlimited = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    resource.prlimit(trained.process.pid, resource.RLIMIT_FSIZE, (size + 5, resource.RLIM_INFINITY))
    try:
        answer = trained.client.post("/api/label", json={"node": card["node"], "class": colour_of(card["node"])})
        state = trained.get("/api/state")
    finally:
        resource.prlimit(trained.process.pid, resource.RLIMIT_FSIZE, unlimited)
    assert answer.status_code == 507
    assert answer.json()["error"].startswith("Not saved")
    assert state["labelled"] == before["labelled"]
    assert state["messages"][0].startswith("Not saved")
    assert ledger.stat().st_size == size
    state = trained.post("/api/label", node=card["node"], **{"class": colour_of(card["node"])})["state"]
    assert len(state["labelled"]) == len(before["labelled"]) + 1
    assert state["messages"] == []


def test_files_that_change_under_the_open_page_are_noticed_and_labels_kept(page):
    nodes = Path(page.get("/api/graph")["ledger"]).parent / "nodes.csv"
    status, content = nodes.stat(), nodes.read_bytes()
    nodes.write_bytes(content + b"new,red things,1\n")
    state = page.wait_for(lambda state: state["messages"])
    assert "have changed" in state["messages"][0]
    page.label_next()
    assert len(page.get("/api/state")["labelled"]) == len(state["labelled"]) + 1
    nodes.write_bytes(content)
    os.utime(nodes, ns=(status.st_atime_ns, status.st_mtime_ns))
    page.wait_for(lambda state: not state["messages"])


def test_two_pages_on_one_graph_lose_nothing_and_see_each_other(trained, pages):
    other = pages(str(Path(trained.get("/api/graph")["ledger"]).parent))
    before = other.get("/api/state")["labelled"]
    assert before == trained.get("/api/state")["labelled"]
    free = sorted(set(range(NUM_NODES)) - {node for node, _ in before})

    def label(by, nodes):
        for node in nodes:
            by.post("/api/label", node=node, **{"class": colour_of(node)})

    threads = [
        threading.Thread(target=label, args=(trained, free[:8])),
        threading.Thread(target=label, args=(other, free[8:16])),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for one in (trained, other):
        one.wait_for(lambda state: len(state["labelled"]) == len(before) + 16)
    # Each takes back what it did itself.
    left = {node for node, _ in trained.post("/api/undo")["state"]["labelled"]}
    assert free[7] not in left
    assert set(free[8:16]) <= left
    other.wait_for(lambda state: {node for node, _ in state["labelled"]} == left)


def test_killed_at_any_moment_it_goes_on_where_it_was_and_ctrl_c_says_what_is_kept(pages, unlabelled):
    first = pages(str(unlabelled))
    state = first.get("/api/state")
    assert state["labelled"] == []
    assert state["training"]["state"] == "waiting"
    given = {first.get(f"/api/node/{node}")["id"]: colour_of(node) for node in first.label_next(7)}
    first.post("/api/skip", node=first.get("/api/card")["node"])
    first.post("/api/unsure", node=first.get("/api/card")["node"])
    first.post("/api/classes", action="add", name="violet")
    before = without_revision(first.get("/api/state"))
    first.kill()
    second = pages(str(unlabelled))
    assert without_revision(second.get("/api/state")) == before
    assert second.post("/api/undo")["state"]["classes"][-1]["name"] != "violet"
    with second.client.stream("GET", "/api/events") as events:
        next(events.iter_lines())
        second.process.send_signal(signal.SIGINT)
        assert second.process.wait(30) == 0
    said = second.process.stdout.read()
    assert "7 labels are in" in said
    assert f"To train on them: lcgnn train {unlabelled}\n" in said
    assert "Traceback" not in second.process.stderr.read()
    assert (unlabelled / "nodes.csv").read_text(encoding="utf-8").startswith("id,text,size\n")
    loaded = source_of(str(unlabelled)).load()
    labels = loaded.graph.labels[loaded.split.train]
    names = loaded.graph.node_names[loaded.split.train]
    found = {str(name): loaded.graph.class_names[label] for name, label in zip(names, labels, strict=True)}
    assert found == given


@pytest.mark.parametrize("seconds", [0, 0.1, 0.3, 0.6, 1.0])
def test_ctrl_c_right_after_the_link_ends_the_page_as_at_any_other_time(pages, unlabelled, seconds):
    page = pages(str(unlabelled), enter=False)
    time.sleep(seconds)
    os.killpg(page.process.pid, signal.SIGINT)
    said, complaints = page.process.communicate(timeout=60)
    assert page.process.returncode == 0
    assert said.endswith("No label was given. Give the command again to go on.\n")
    assert "Traceback" not in complaints
    assert "Error" not in complaints


def test_the_simulated_labeller_answers_with_the_true_labels_that_were_hidden(pages, unlabelled):
    lines = (unlabelled / "nodes.csv").read_text(encoding="utf-8").splitlines()
    rows = [f"{line},{'' if node == 1 else colour_of(node)}" for node, line in enumerate(lines[1:])]
    (unlabelled / "nodes.csv").write_text("\n".join([f"{lines[0]},label", *rows]) + "\n", encoding="utf-8")
    page = pages(str(unlabelled), "--simulate", "--out", "simulated.csv")
    assert page.get("/api/graph")["simulator"]
    assert page.get("/api/state")["classes"] == []
    page.post("/api/simulate", on=True)
    state = page.wait_for(lambda state: len(state["labelled"]) >= 8)
    page.post("/api/simulate", on=False)
    names = [item["name"] for item in state["classes"]]
    assert all(names[label] == colour_of(node) for node, label in state["labelled"])
    assert not (unlabelled / "labels.csv").exists()
    assert "label" not in [column["name"] for column in page.get("/api/card")["columns"]]
