"""Records, folds, configurations and summaries come back from JSON as they were, or are refused in one line."""

import copy
import json
import math
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lcgnn.assessment.calibration import Calibration
from lcgnn.assessment.evaluation import PairedDifference
from lcgnn.assessment.trust import Assessment, Expected, Majority
from lcgnn.errors import OutputError
from lcgnn.runs.records import (
    Answers,
    ClassCount,
    Communication,
    Configuration,
    CurvePoint,
    Environment,
    Fifth,
    FoldRecord,
    MessageCost,
    Record,
    StageRecord,
    StageSummary,
    Summary,
    UsedSplit,
)
from lcgnn.runs.reported import Reported
from lcgnn.runs.spec import SplitSpec

STAGE = StageRecord(
    "base",
    best_epoch=3,
    epochs=5,
    train_accuracy=1.0,
    validation_accuracy=None,
    test_accuracy=0.75,
    calibration_error=0.125,
    confusion=((2, 1), (0, 3)),
    fifths=tuple(Fifth(low / 5, (low + 1) / 5, low, 0) for low in range(5)),
    curve=(CurvePoint(1, 0.5, None, None), CurvePoint(2, 0.25, 0.5, 0.75)),
    note="It ended where it began.",
)
RECORD = Record(
    run="abc",
    dataset="mine",
    method="lc-gcn",
    settings={"hidden": 16, "selection": "last", "nested": [{"deep": None}]},
    split=SplitSpec("random", 5, 3, 0.25),
    seed=1,
    graph="def",
    seconds=1.5,
    stages=(STAGE, STAGE),
    environment=Environment(*"abcdefgh"),
    classes=("red", "blue"),
    class_counts=(ClassCount("red", 2, 3), ClassCount("blue", 1, 0)),
    source={"folder": "mine", "columns": {"id": "name"}},
    temperature=1.25,
    artifacts={"metrics.csv": "ab12"},
)
FOLD = FoldRecord("abc", 1, (4, 7), ((0.25, 0.75), (1.0, 0.0)), 0.5)
USED = UsedSplit(SplitSpec(labels_per_class=5, validation=0.1), "public", "ghi")
CONFIGURATION = Configuration("0.1.0", "cora", "def", "lc-gcn", {"hidden": 16}, USED)
EXPECTED = Expected(0.75, 0.5, 0.875, 40)
SUMMARY = Summary(
    dataset="mine",
    method="lc-gcn",
    split=USED,
    settings={"hidden": 16},
    seeds=(0, 1),
    seconds=(1.5, 2.5),
    stages=(
        StageSummary("base", "gcn", (0.5, 0.75), (None, 0.5), 0.625, 0.125, Reported(81.2, 0.6)),
        StageSummary("label consistency", "lc-gcn", (0.75, 0.75), (None, 0.5), 0.75, 0.0, None, ("kept",), 0.5),
    ),
    folder="runs/mine",
    lcgnn="0.1.0",
    answers=Answers(("a.csv", "b.csv"), (ClassCount("red", 2, 3), ClassCount("blue", 1, 4)), ("a note",)),
    expected=Assessment(
        *(4, 5, 50, EXPECTED, (EXPECTED, None), (1,), Calibration(1.5, 0.25, 0.125, 0.5)),
        majority=Majority(0, 0.5, -0.25, 0.75),
        balanced=0.375,
    ),
    difference=PairedDifference(0.125, -0.5, 0.75, 0.5, 1, 2),
    communication=Communication(2, 40, {"weight gradients": MessageCost(1.0, 512, 0.25)}),
)
EXAMPLES = [RECORD, FOLD, CONFIGURATION, SUMMARY, RECORD.split]
# What files of earlier versions may be without, by the name of the field without the objects that hold it.
OPTIONAL = {
    "at_most",
    *("tables", "class_counts", "classes", "temperature", "validation"),
    *("calibration_error", "confusion", "fifths", "curve", "note"),
    *("lcgnn", "torch", "numpy", "numba", "python", "machine", "commit", "finished"),
    *("expected", "difference", "communication", "artifacts", "metrics.csv", "balanced", "words"),
}
# Objects that are passed on as they are.
OPAQUE = {"settings", "tables"}

Path = tuple[str | int, ...]
by_type = pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: type(example).__name__)


def paths_of(content: Any, path: Path = ()) -> Iterator[Path]:
    """The way to every value in plain data, but for what is opaque."""
    yield path
    if path and path[-1] in OPAQUE:
        return
    items = (
        content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    )
    for step, value in items:
        yield from paths_of(value, (*path, step))


def changed(content: Any, path: Path, change: Callable[[Any, str | int], None]) -> Any:
    """A copy of plain data with one place in it changed."""
    root = [copy.deepcopy(content)]
    holder: Any = root
    for step in (0, *path)[:-1]:
        holder = holder[step]
    change(holder, (0, *path)[-1])
    return root[0]


def putting(value: Any) -> Callable[[Any, str | int], None]:
    """A change that puts a value in place of what is there."""
    return lambda holder, step: holder.__setitem__(step, value)


def spelled(path: Path) -> str:
    """As an error names the place."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            name = step if step.isidentifier() else repr(step)
            text += f".{name}" if text else name
    return text


def refused(example: Any, content: Any) -> str:
    with pytest.raises(OutputError) as caught:
        type(example).from_json(content, "file.json")
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith("file.json: ")
    return message


@by_type
def test_what_is_written_is_read_back_the_same(example: Any) -> None:
    content = json.loads(json.dumps(example.to_json(), allow_nan=False))
    assert type(example).from_json(content) == example
    assert json.dumps(type(example).from_json(content).to_json()) == json.dumps(example.to_json())


@by_type
def test_every_field_that_is_missing_is_named_unless_older_files_do_without_it(example: Any) -> None:
    content = example.to_json()
    for path in paths_of(content):
        if not path or not isinstance(path[-1], str) or "per_epoch_and_rank" in path[:-1]:
            continue
        less = changed(content, path, lambda holder, step: holder.pop(step))
        if is_optional(example, path):
            type(example).from_json(less)
        elif path == ("predictions",):
            # Without predictions a summary is one of a benchmark, which has no further answers either.
            assert "field 'classes'" in refused(example, less)
        else:
            assert f"{spelled(path)} is missing" in refused(example, less)


def is_optional(example: Any, path: Path) -> bool:
    """Records may be without names of classes, the version and a temperature, which a summary always has."""
    if path[-1] in ("classes", "lcgnn", "temperature"):
        return isinstance(example, Record)
    if path[-1] == "notes":
        return "stages" in path
    return path[-1] in OPTIONAL


def of_another_type(value: Any) -> list[Any]:
    """Values that cannot stand where this one does, whatever its range."""
    others: list[Any] = [math.nan, math.inf, 10**400, True, object()]
    others += [[]] if not isinstance(value, list) else [{}, None]
    others += [{}] if not isinstance(value, dict) else []
    others += ["text"] if not isinstance(value, str) else [1]
    return others


@by_type
def test_every_field_of_a_wrong_type_is_named(example: Any) -> None:
    content = example.to_json()
    for path in paths_of(content):
        value = content
        for step in path:
            value = value[step]
        for other in of_another_type(value):
            if other == 10**400 and isinstance(value, int) and not isinstance(value, bool):
                continue
            wrong = changed(content, path, putting(other))
            message = refused(example, wrong)
            named = spelled(path) or "the content"
            # Accuracies of the last stage are repeated at the top; one that is changed there is told there.
            assert named in message or "is not that of the last stage" in message, (path, other, message)


@by_type
def test_a_field_that_is_not_known_is_refused_rather_than_lost(example: Any) -> None:
    assert "'surprise'" in refused(example, {**example.to_json(), "surprise": 1})


@by_type
@pytest.mark.parametrize("content", [None, [], "text", 3, True, [[]], {}, math.nan])
def test_what_is_no_such_object_at_all_is_refused(example: Any, content: Any) -> None:
    refused(example, content)


def test_data_that_nobody_looks_into_must_still_be_plain() -> None:
    deep: Any = {}
    for _ in range(100_000):
        deep = {"a": deep}
    for bad in (deep, {"a": math.nan}, {"a": [math.inf]}, {"a": object()}, {1: 2}, {"a": {"b": (1,)}}):
        assert "settings" in refused(RECORD, {**RECORD.to_json(), "settings": bad})


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        (("stages",), [], "stages is empty"),
        (("stages", 0, "test_accuracy"), 1.5, "stages[0].test_accuracy is 1.5, not a share from 0 to 1"),
        (("stages", 0, "fifths"), [], "stages[0].fifths has 0 items, not 5"),
        (("stages", 0, "fifths", 1, "correct"), 2, "stages[0].fifths[1].correct is 2 of 1 nodes"),
        (("stages", 1, "confusion"), [[1, 2]], "stages[1].confusion[0] has 2 columns in a matrix of 1 rows"),
        (("stages", 1, "confusion"), [[1]], "stages[1].confusion has 1 rows for 2 classes"),
        (("stages", 0, "curve", 1), [1, 2], "stages[0].curve[1] has 2 items, not 4"),
        (("stages", 0, "curve", 1, 0), None, "stages[0].curve[1][0] is null, not a whole number"),
        (("stages", 0, "epochs"), -1, "stages[0].epochs is -1, not a count"),
        (("split", "kind"), "secret", "split.kind is 'secret', not 'public' or 'random'"),
        (("seconds",), -1.0, "seconds is -1.0, not a number of seconds"),
        (("temperature",), 0.0, "temperature is 0.0, not a positive number"),
    ],
)
def test_what_cannot_be_is_told(path: Path, value: Any, told: str) -> None:
    wrong = changed(RECORD.to_json(), path, lambda holder, step: holder.__setitem__(step, value))
    assert told in refused(RECORD, wrong)


def test_folds_and_summaries_have_a_result_for_every_node_and_seed() -> None:
    assert "probabilities has 1 rows for 2 nodes" in refused(FOLD, {**FOLD.to_json(), "probabilities": [[1.0]]})
    ragged = {**FOLD.to_json(), "probabilities": [[1.0], [0.5, 0.5]]}
    assert "probabilities[1] has 2 classes, not 1" in refused(FOLD, ragged)
    assert "seconds has 2 items for 1 seeds" in refused(SUMMARY, {**SUMMARY.to_json(), "seeds": [0]})
    assert "mean is not that of the last stage" in refused(SUMMARY, {**SUMMARY.to_json(), "mean": 0.1})


def test_a_single_seed_has_no_interval_which_json_has_as_null() -> None:
    content = {**SUMMARY.to_json(), "difference": None}
    content["difference"] = {"mean": 0.1, "low": None, "high": None, "p_value": None, "wins": 1, "count": 1}
    read = Summary.from_json(content)
    assert read.difference is not None
    assert math.isnan(read.difference.low)
    assert read.to_json() == content


def test_the_stage_that_counts_is_the_named_one_or_the_last() -> None:
    last = StageRecord("last", 1, 1, None, None, 0.5)
    record = Record("a", "cora", "gcn", {}, SplitSpec(), 0, "b", 1.0, (STAGE, last), Environment())
    assert record.stage() is record.last is last
    assert record.stage("base") is STAGE
    assert record.stage("other") is None


def test_accuracy_in_a_fifth_is_none_without_nodes_or_counts() -> None:
    assert STAGE.accuracy() == 0.75
    assert STAGE.accuracy(1) is None
    assert STAGE.accuracy(2) == 0.0
    assert StageRecord("base", 1, 1, None, None, 0.5).accuracy(2) is None


shares = st.floats(0, 1)
texts = st.text(max_size=5)
plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts, inner, max_size=2),
    max_leaves=4,
)
objects = st.dictionaries(texts, plain, max_size=3)
maybe_share = st.none() | shares


@st.composite
def stages(draw: st.DrawFn, num_classes: int) -> StageRecord:
    def fifth(low: int) -> Fifth:
        nodes = draw(st.integers(0, 9))
        return Fifth(low / 5, (low + 1) / 5, nodes, draw(st.integers(0, nodes)))

    row = st.tuples(*[st.integers(0, 9)] * num_classes)
    points = st.builds(CurvePoint, st.integers(1, 9), maybe_share, maybe_share, maybe_share)
    return StageRecord(
        draw(texts),
        draw(st.integers(0, 9)),
        draw(st.integers(0, 9)),
        draw(maybe_share),
        draw(maybe_share),
        draw(maybe_share),
        draw(maybe_share),
        draw(st.none() | st.tuples(*[row] * num_classes)),
        tuple(map(fifth, range(5))) if draw(st.booleans()) else None,
        draw(st.none() | st.lists(points, max_size=3).map(tuple)),
    )


@st.composite
def records(draw: st.DrawFn) -> Record:
    num_classes = draw(st.integers(1, 3))
    counts = st.builds(ClassCount, texts, st.integers(0, 9), st.integers(0, 9))
    split = st.builds(
        SplitSpec,
        st.sampled_from(["public", "random", "handful"]),
        st.none() | st.integers(1, 9),
        st.integers(0, 9),
        shares,
        st.none() | st.integers(1, 99),
    )
    return Record(
        run=draw(texts),
        dataset=draw(texts),
        method=draw(texts),
        settings=draw(objects),
        split=draw(split),
        seed=draw(st.integers()),
        graph=draw(texts),
        seconds=draw(st.floats(0, 1e9)),
        stages=tuple(draw(st.lists(stages(num_classes), min_size=1, max_size=2))),
        environment=Environment(*draw(st.tuples(*[st.none() | texts] * 8))),
        classes=draw(st.none() | st.tuples(*[texts] * num_classes)),
        class_counts=draw(st.none() | st.lists(counts, max_size=2).map(tuple)),
        source=draw(st.none() | objects),
        temperature=draw(st.none() | st.floats(0.05, 20)),
        artifacts=draw(st.none() | st.dictionaries(texts, texts, max_size=2)),
    )


@given(records())
@settings(max_examples=60)
def test_any_record_comes_back_as_it_was(record: Record) -> None:
    content = json.loads(json.dumps(record.to_json(), allow_nan=False))
    assert Record.from_json(content) == record
    assert json.dumps(Record.from_json(content).to_json()) == json.dumps(record.to_json())


@given(st.sampled_from(EXAMPLES), st.data())
@settings(max_examples=200)
def test_whatever_stands_in_a_file_it_is_read_or_refused_in_one_line(example: Any, data: st.DataObject) -> None:
    content = example.to_json()
    path = data.draw(st.sampled_from(list(paths_of(content))))
    value = data.draw(plain)
    wrong = changed(content, path, lambda holder, step: holder.__setitem__(step, value))
    message = ""
    try:
        json.dumps(type(example).from_json(wrong).to_json(), allow_nan=False)
    except OutputError as error:
        message = str(error)
    assert "\n" not in message
