"""The ledger: what all lines come to, whatever is done in whatever order, by however many, and however it ends."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lcgnn.errors import ConfigError, DataError, OutputError
from lcgnn.labelling.ledger import Ledger
from lcgnn.sources.tables.ledger import (
    HEADER,
    LEDGER_NAMES,
    Action,
    Line,
    find_ledger,
    is_ledger,
    parsed_lines,
    read_ledger,
)

NODES = ("a", "b", 'c "quoted", with comma', "d")
NAMES = ("red", "green", "=blue", 'ümlaut, "x"')


class Model:
    """What a ledger should come to, in the simplest way: the whole state is kept before every action."""

    def __init__(self) -> None:
        self.labels: dict[str, str] = {}
        self.others: dict[str, str] = {}
        self.classes: list[str] = []
        self.before: list[tuple[dict, dict, list]] = []

    def keep(self) -> None:
        self.before.append((dict(self.labels), dict(self.others), list(self.classes)))

    def label(self, node: str, name: str) -> None:
        self.keep()
        self.others.pop(node, None)
        self.labels[node] = name

    def say(self, node: str, what: str) -> None:
        self.keep()
        self.labels.pop(node, None)
        self.others[node] = what

    def join(self, old: str, new: str) -> None:
        self.keep()
        self.labels = {node: new if name == old else name for node, name in self.labels.items()}
        if new in self.classes:
            self.classes.remove(old)
        else:
            self.classes[self.classes.index(old)] = new

    def undo(self) -> None:
        if self.before:
            self.labels, self.others, self.classes = self.before.pop()


def check(ledger: Ledger, model: Model) -> None:
    found = ledger.given
    assert {node: name for node, name in found.labels().items() if name is not None} == model.labels
    others = {node: given.kind for node, given in found.nodes.items() if given.kind != "label"}
    assert others == model.others
    assert sorted(found.classes) == sorted(model.classes)


ACTIONS = st.one_of(
    st.tuples(st.just("label"), st.sampled_from(NODES), st.sampled_from(NAMES)),
    st.tuples(st.sampled_from(["skip", "unsure"]), st.sampled_from(NODES)),
    st.tuples(st.just("class"), st.sampled_from(NAMES)),
    st.tuples(st.just("join"), st.sampled_from(NAMES), st.sampled_from(NAMES)),
    st.tuples(st.just("undo")),
    st.tuples(st.just("reopen")),
)


def carry_out(ledger: Ledger, model: Model, action: tuple) -> Ledger:
    kind, *what = action
    if kind == "label":
        # A class is added before anything is called by it.
        carry_out(ledger, model, ("class", what[1]))
        ledger.append(lambda _: Line(id=what[0], label=what[1]))
        model.label(*what)
    elif kind in ("skip", "unsure"):
        ledger.append(lambda _: Line(id=what[0], action=kind))
        model.say(what[0], kind)
    elif kind == "class" and what[0] not in model.classes:
        ledger.append(lambda _: Line(label=what[0], action="class"))
        model.keep()
        model.classes.append(what[0])
    elif kind == "join" and what[0] in model.classes and what[0] != what[1]:
        action_name: Action = "merge" if what[1] in model.classes else "rename"
        ledger.append(lambda _: Line(label=what[1], was=what[0], action=action_name))
        model.join(*what)
    elif kind == "undo":
        assert (ledger.undo() is not None) == bool(model.before)
        model.undo()
    elif kind == "reopen":
        return Ledger(ledger.path)
    return ledger


@settings(max_examples=80)
@given(actions=st.lists(ACTIONS, max_size=25))
def test_any_sequence_of_actions_comes_to_what_a_simple_model_says(tmp_path_factory, actions):
    ledger, model = Ledger(tmp_path_factory.mktemp("ledger") / "labels.csv"), Model()
    for action in actions:
        ledger = carry_out(ledger, model, action)
        check(ledger, model)
    check(Ledger(ledger.path), model)


@settings(max_examples=30)
@given(actions=st.lists(ACTIONS, min_size=1, max_size=12), data=st.data())
def test_a_ledger_that_was_cut_anywhere_holds_every_line_before_the_cut_and_goes_on(
    tmp_path_factory, actions, data
):
    path = tmp_path_factory.mktemp("ledger") / "labels.csv"
    ledger = Ledger(path)
    for action in actions:
        ledger = carry_out(ledger, Model(), ("label", "a", "red") if action[0] == "undo" else action)
    content = path.read_bytes() if path.exists() else b""
    cut = data.draw(st.integers(0, len(content)))
    path.write_bytes(content[:cut])
    whole = content[:cut].count(b"\n") - 1
    lines = parsed_lines(content, path)[0]
    again = Ledger(path)
    again.append(lambda _: Line(id="later", label="red"))
    kept = parsed_lines(path.read_bytes(), path)[0]
    assert kept[-1].id == "later"
    assert kept[:-1] in (lines[: max(whole, 0)], lines[: max(whole, 0) + 1])


def test_the_last_line_without_its_end_counts_if_it_is_whole(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text(HEADER + "a,red,,,,label\nb,green,,,,label")
    ledger = Ledger(path)
    assert ledger.given.labels() == {"a": "red", "b": "green"}
    ledger.append(lambda _: Line(id="c", label="red"))
    assert path.read_text().startswith(HEADER + "a,red,,,,label\nb,green,,,,label\nc,red,,")


def test_a_line_that_is_none_is_named(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text(HEADER + "a,red,,,,label\nwhat is this\nb,green,,,,label\n")
    with pytest.raises(DataError, match=r"labels\.csv, line 3: not a line of labels"):
        read_ledger(path)


def test_line_ends_of_windows_are_read(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_bytes((HEADER + "a,red,,,,label\nb,,,,,skip\n").replace("\n", "\r\n").encode())
    assert is_ledger(path)
    ledger = Ledger(path)
    ledger.append(lambda _: Line(id="c", label="green"))
    assert read_ledger(path).labels() == {"a": "red", "c": "green"}


def test_a_file_of_the_users_own_is_never_appended_to(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("id,label\n1,red\n")
    with pytest.raises(OutputError, match="--out"):
        Ledger(path)
    assert path.read_text() == "id,label\n1,red\n"
    assert find_ledger(tmp_path) is None


def test_what_another_process_began_the_file_with_is_not_undone_here(tmp_path):
    mine, theirs = (Ledger(tmp_path / "labels.csv") for _ in range(2))
    theirs.append(lambda _: Line(id="a", label="red"))
    assert mine.undo() is None
    assert mine.given.labels() == {"a": "red"}
    # Whoever begins with the file as it is goes on where it was.
    assert Ledger(tmp_path / "labels.csv").undo() is not None


def test_what_others_wrote_is_told_although_a_refusal_had_read_it(tmp_path):
    mine, theirs = (Ledger(tmp_path / "labels.csv") for _ in range(2))
    theirs.append(lambda _: Line(id="a", label="red"))

    def refuse(_: object) -> Line:
        raise ConfigError("No.")

    with pytest.raises(ConfigError):
        mine.append(refuse)
    assert mine.refresh()
    assert not mine.refresh()


def test_what_another_process_did_since_is_not_undone(tmp_path):
    path = tmp_path / "labels.csv"
    mine, theirs = Ledger(path), Ledger(path)
    mine.append(lambda _: Line(id="a", label="red"))
    theirs.append(lambda _: Line(id="b", label="green"))
    theirs.append(lambda _: Line(id="a", label="green"))
    assert mine.undo() is None
    assert mine.given.labels() == {"a": "green", "b": "green"}
    theirs.undo()
    assert read_ledger(path).labels() == {"a": "red", "b": "green"}


def test_a_class_stays_while_a_label_of_it_may_come_back(tmp_path):
    path = tmp_path / "labels.csv"
    mine, theirs = Ledger(path), Ledger(path)
    mine.append(lambda _: Line(label="red", action="class"))
    mine.append(lambda _: Line(id="a", label="red"))
    theirs.append(lambda _: Line(id="a", label="green"))
    # Its label was given another, so that it is theirs to take back; the class may be needed again.
    assert mine.undo() is None
    assert theirs.undo() is not None
    mine.refresh()
    assert mine.given.labels() == theirs.given.labels() == read_ledger(path).labels() == {"a": "red"}
    assert "red" in read_ledger(path).classes


def test_two_who_rename_and_merge_at_once_see_the_same(tmp_path):
    path = tmp_path / "labels.csv"
    mine, theirs = Ledger(path), Ledger(path)
    for node, name in (("a", "red"), ("b", "green"), ("c", "blue")):
        line = Line(id=node, label=name)
        mine.append(lambda _: line)  # noqa: B023
    theirs.append(lambda _: Line(label="violet", was="red", action="rename"))
    mine.append(lambda _: Line(label="violet", was="green", action="merge"))
    theirs.refresh()
    assert mine.given.labels() == theirs.given.labels() == {"a": "violet", "b": "violet", "c": "blue"}
    mine.undo()
    theirs.refresh()
    assert mine.given.labels() == theirs.given.labels() == {"a": "violet", "b": "green", "c": "blue"}


def append_many(path: Path, who: str, count: int) -> None:
    ledger = Ledger(path, by=who)
    for number in range(count):
        line = Line(id=f"{who}-{number}", label=f"class {number % 3}")
        ledger.append(lambda _: line)  # noqa: B023


def test_processes_that_append_at_once_lose_nothing(tmp_path):
    path = tmp_path / "labels.csv"
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=append_many, args=(path, who, 60)) for who in ("x", "y", "z")]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
        assert worker.exitcode == 0
    labels = read_ledger(path).labels()
    assert set(labels) == {f"{who}-{number}" for who in ("x", "y", "z") for number in range(60)}


APPENDING = """
import sys
from pathlib import Path
from lcgnn.labelling.ledger import Ledger
from lcgnn.sources.tables.ledger import Line
ledger = Ledger(Path(sys.argv[1]))
for number in range(10_000):
    ledger.append(lambda _: Line(id=str(number), label="red"))
    print(number, flush=True)
"""


def test_whatever_was_said_to_be_saved_is_there_after_kill_9(tmp_path):
    path = tmp_path / "labels.csv"
    command = [sys.executable, "-c", APPENDING, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as worker:
        told = [worker.stdout.readline() for _ in range(20)]
        time.sleep(0.01)
        os.kill(worker.pid, signal.SIGKILL)
        told += worker.stdout.readlines()
    whole = {line.strip() for line in told if line.endswith("\n")}
    assert whole <= set(Ledger(path).given.labels())


FULL = """
import resource, sys
from pathlib import Path
from lcgnn.errors import OutputError
from lcgnn.labelling.ledger import Ledger
from lcgnn.sources.tables.ledger import Line
path = Path(sys.argv[1])
ledger = Ledger(path)
resource.setrlimit(resource.RLIMIT_FSIZE, (300, resource.RLIM_INFINITY))
saved = 0
try:
    for number in range(100):
        ledger.append(lambda _: Line(id=str(number), label="red"))
        saved += 1
except OutputError as error:
    print(error)
assert set(ledger.given.labels()) == {str(number) for number in range(saved)}, "claimed what is not saved"
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
ledger.append(lambda _: Line(id="later", label="red"))
print(saved)
"""


def test_a_full_disk_is_told_loses_nothing_and_can_be_mended(tmp_path):
    path = tmp_path / "labels.csv"
    done = subprocess.run([sys.executable, "-c", FULL, str(path)], capture_output=True, text=True, check=True)
    told, saved = done.stdout.strip().splitlines()
    assert told.startswith("Not saved:")
    assert "what was saved before is kept" in told
    assert set(read_ledger(path).labels()) == {*map(str, range(int(saved))), "later"}


def test_a_first_line_that_cannot_be_saved_leaves_no_file(tmp_path):
    path = tmp_path / "labels.csv"
    script = FULL.replace("(300,", "(40,")
    subprocess.run(
        [sys.executable, "-c", script.replace('id="later"', 'id="0"'), str(path)], check=True, capture_output=True
    )
    assert list(read_ledger(path).labels()) == ["0"]


def test_a_folder_that_nobody_can_write_to_is_refused_at_the_start(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="--out"):
        Ledger(tmp_path / "file" / "labels.csv")


def refuse(_given):
    raise ConfigError("no")


def test_what_is_refused_or_undone_on_a_fresh_page_leaves_no_file(tmp_path):
    ledger = Ledger(tmp_path / "labels.csv")
    assert ledger.undo() is None
    with pytest.raises(ConfigError):
        ledger.append(refuse)
    assert list(tmp_path.iterdir()) == []
    ledger.append(lambda _: Line(id="a", label="red"))
    assert read_ledger(ledger.path).labels() == {"a": "red"}


def test_of_a_link_only_the_file_that_was_made_is_removed(tmp_path):
    (tmp_path / "labels.csv").symlink_to(tmp_path / "elsewhere.csv")
    ledger = Ledger(tmp_path / "labels.csv")
    ledger.undo()
    assert (tmp_path / "labels.csv").is_symlink()
    assert not (tmp_path / "elsewhere.csv").exists()


def test_an_empty_file_that_somebody_else_made_stays_and_is_written_to(tmp_path):
    path = tmp_path / "labels.csv"
    path.touch()
    ledger = Ledger(path)
    ledger.undo()
    assert path.exists()
    ledger.append(lambda _: Line(id="a", label="red"))
    assert read_ledger(path).labels() == {"a": "red"}


def append_nothing(path: Path, count: int) -> None:
    ledger = Ledger(path)
    for _ in range(count):
        ledger.append(lambda _: None)


def test_a_file_that_is_removed_again_loses_nothing_of_who_waits_for_it(tmp_path):
    context = multiprocessing.get_context("fork")
    for attempt in range(20):
        path = tmp_path / f"{attempt}" / "labels.csv"
        workers = [context.Process(target=append_nothing, args=(path, 100)) for _ in range(2)]
        workers += [context.Process(target=append_many, args=(path, "x", 3))]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join(60)
            assert worker.exitcode == 0
        assert set(read_ledger(path).labels()) == {"x-0", "x-1", "x-2"}


@pytest.mark.parametrize("name", LEDGER_NAMES)
def test_an_empty_file_with_the_name_of_a_ledger_is_one_without_lines(tmp_path, name):
    (tmp_path / name).touch()
    (tmp_path / "other.csv").touch()
    assert is_ledger(tmp_path / name)
    assert find_ledger(tmp_path) == tmp_path / name
    assert not is_ledger(tmp_path / "other.csv")


def test_an_empty_file_does_not_hide_the_labels_in_the_other(tmp_path):
    (tmp_path / "labels.csv").touch()
    (tmp_path / "labels.lcgnn.csv").write_text(HEADER + "a,red,,,,label\n")
    assert find_ledger(tmp_path) == tmp_path / "labels.lcgnn.csv"


def two_labels(path):
    ledger = Ledger(path)
    ledger.append(lambda _: Line(id="a", label="red"))
    ledger.append(lambda _: Line(id="b", label="green"))
    assert ledger.lost == 0
    return ledger


@pytest.mark.parametrize("how", ["deleted", "emptied"])
def test_labels_that_go_with_their_file_are_counted_until_others_are_given(tmp_path, how):
    ledger = two_labels(tmp_path / "labels.csv")
    ledger.path.unlink() if how == "deleted" else ledger.path.write_text("")
    assert ledger.refresh()
    assert not ledger.refresh()
    assert (ledger.lost, ledger.given.labels()) == (2, {})
    ledger.append(lambda _: Line(id="c", label="red"))
    ledger.refresh()
    assert (ledger.lost, ledger.given.labels()) == (0, {"c": "red"})


def test_labels_that_went_unseen_before_another_was_given_are_counted_as_well(tmp_path):
    ledger = two_labels(tmp_path / "labels.csv")
    ledger.path.unlink()
    ledger.append(lambda _: Line(id="c", label="red"))
    assert (ledger.lost, ledger.given.labels()) == (2, {"c": "red"})
    ledger.append(lambda _: Line(id="d", label="red"))
    assert ledger.lost == 0


def test_a_file_that_an_editor_empties_before_it_writes_has_lost_nothing(tmp_path):
    ledger = two_labels(tmp_path / "labels.csv")
    content = ledger.path.read_text()
    ledger.path.write_text("")
    ledger.refresh()
    ledger.path.write_text(content)
    assert ledger.refresh()
    assert (ledger.lost, ledger.given.labels()) == (0, {"a": "red", "b": "green"})


@pytest.mark.parametrize("name", ["blue", "violet", "g"])
def test_a_line_that_is_edited_in_its_place_counts_as_it_is_now(tmp_path, name):
    ledger = two_labels(tmp_path / "labels.csv")
    before = ledger.path.stat()
    with ledger.path.open("r+") as file:
        content = file.read().replace("b,green", f"b,{name}")
        file.seek(0)
        file.write(content)
        file.truncate()
    os.utime(ledger.path, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    assert ledger.path.stat().st_ino == before.st_ino
    ledger.append(lambda _: Line(id="c", label="red"))
    assert ledger.refresh() is False
    labels = {"a": "red", "b": name, "c": "red"}
    assert ledger.given.labels() == read_ledger(ledger.path).labels() == labels
    assert ledger.lost == 0


def test_a_file_that_is_put_back_has_lost_nothing(tmp_path):
    ledger = two_labels(tmp_path / "labels.csv")
    ledger.path.rename(tmp_path / "elsewhere.csv")
    ledger.refresh()
    (tmp_path / "elsewhere.csv").rename(ledger.path)
    assert ledger.refresh()
    assert (ledger.lost, ledger.given.labels()) == (0, {"a": "red", "b": "green"})
