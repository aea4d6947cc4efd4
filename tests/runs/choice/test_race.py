"""Which folds are trained in what order, by records that are made up: nothing is trained here."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from lcgnn.assessment.evaluation import ClassCount
from lcgnn.assessment.trust import Expected
from lcgnn.errors import ConfigError, TrainingError
from lcgnn.graph import Graph
from lcgnn.methods import create
from lcgnn.methods.blend import BLEND, Blend
from lcgnn.runs.choice.candidates import (
    CANDIDATES,
    CHEAP,
    EXPERIENCE,
    best_first,
    candidates_for,
    candidates_named,
    duration,
    seconds_of,
)
from lcgnn.runs.choice.race import Race
from lcgnn.runs.choice.verdict import Choice, base_of, decide
from lcgnn.runs.choice.words import advice_in_words, choice_in_words, distrust_in_words, verdict
from lcgnn.runs.cross_validation import held_out_by
from lcgnn.runs.failures import Failure
from lcgnn.runs.fields import Place
from lcgnn.runs.records import FoldRecord
from lcgnn.runs.records.choice import read_choice
from lcgnn.runs.records.fold import EarlierStage, Probabilities

FOLDS, PER_FOLD = 10, 6
LABELS: NDArray[np.int64] = np.zeros(FOLDS * PER_FOLD, dtype=np.int64)


def rows(right: NDArray[np.bool_]) -> Probabilities:
    return tuple((0.9, 0.1) if hit else (0.2, 0.8) for hit in right)


def made_up(fold: int, hits: int, base_hits: int | None = None, seconds: float = 1.0) -> FoldRecord:
    """A fold with so many labels predicted right, and so many by the base if there is one."""
    places = np.arange(PER_FOLD)
    nodes = tuple(range(fold * PER_FOLD, (fold + 1) * PER_FOLD))
    earlier = None if base_hits is None else (EarlierStage("base", rows(places < base_hits)),)
    return FoldRecord("", fold, nodes, rows(places < hits), seconds, earlier)


def finished(race: Race, hits: Mapping[str, int], seconds: Mapping[str, float] | None = None) -> list[set[str]]:
    """Run a race in which every candidate has so many hits a fold; who was trained, turn by turn."""
    seen = []
    for turns in race.turns():
        seen.append({name for name, _ in turns})
        for name, fold in turns:
            assert fold not in race.records.get(name, {})
            base = hits.get(name.removeprefix("lc-")) if name.startswith("lc-") else None
            race.add(name, made_up(fold, hits[name], base, (seconds or {}).get(name, 1.0)))
    return seen


# Those that are tried where nothing is said, and a costly one.
NAMES = (*CANDIDATES, "lc-grand")
BEST = best_first(NAMES)[0]
EQUAL = dict.fromkeys((*NAMES, "gcn", "appnp", "grand"), 4)


def race_of(budget: float | None = None, workers: int = 1, folds: int = FOLDS) -> Race:
    return Race(NAMES, LABELS, folds, budget, workers)


def decided(race: Race, by_stage: bool = True) -> Choice:
    methods = {name: create(name) for name in race.names}
    return decide(race, methods, given=LABELS.size, of_folds=FOLDS, by_stage=by_stage)


def test_there_is_experience_with_every_candidate_and_each_is_registered() -> None:
    bases = [base for name in NAMES if (base := base_of(name, create(name))) is not None]
    assert {*NAMES, *(name for name, _ in bases), BLEND} == set(EXPERIENCE)
    assert set(NAMES) & CHEAP
    assert set(NAMES) - CHEAP
    assert best_first(["zz", "mlp", "aa", BEST]) == [BEST, "zz", "aa", "mlp"]
    assert best_first(["gcn", "lc-gcn-no-rl"]) == ["lc-gcn-no-rl", "gcn"]


def test_candidates_that_are_alike_are_all_tried_on_all_folds_the_cheap_ones_first() -> None:
    race = race_of()
    seen = finished(race, EQUAL)
    assert seen[0] == set(NAMES) & CHEAP
    assert [len(turn) for turn in seen[1:3]] == [1, 1]
    assert all(len(race.results(name)) == FOLDS for name in NAMES)


def test_one_that_is_clearly_behind_is_dropped_early_and_says_so() -> None:
    race = race_of()
    finished(race, {**EQUAL, "mlp": 0})
    assert set(race.behind) == {"mlp"}
    assert len(race.results("mlp")) < FOLDS
    assert any("mlp is clearly behind after" in sentence for sentence in race.told)
    row = decided(race).record.named("mlp")
    assert row is not None
    assert verdict(row, decided(race).record) == f"dropped at {row.folds}"


def test_a_candidate_stays_as_long_as_its_base_is_not_behind() -> None:
    race = race_of()
    finished(race, {**EQUAL, "lc-gcn": 0, "gcn": 6, "spreading": 6})
    assert "lc-gcn" not in race.behind
    assert decided(race).record.named("lc-gcn") is not None


def test_with_little_time_there_are_fewer_folds_and_with_less_the_costliest_are_left_out() -> None:
    costs = {"mlp": 1.0, "spreading": 0.1, "lc-gcn": 2.0, "lc-appnp": 4.0, "lc-grand": 20.0}
    ample, short, shorter = (race_of(budget) for budget in (300.0, 170.0, 60.0))
    for race in (ample, short, shorter):
        finished(race, EQUAL, costs)
    assert (ample.folds, ample.left_out) == (FOLDS, [])
    assert 5 <= short.folds < FOLDS
    assert not short.left_out
    assert shorter.left_out == ["lc-grand"]
    assert sum(map(shorter.seconds, [["mlp"], ["spreading"], ["lc-gcn"], ["lc-appnp"]])) <= 60
    assert "Not tried for want of time of 60 s (a longer --budget): lc-grand." in choice_in_words(
        decided(shorter).record
    )


def test_the_favoured_one_is_never_left_out() -> None:
    race = race_of(budget=0.5)
    finished(race, EQUAL)
    assert set(race.running) == {BEST}
    assert race.folds == 2
    assert decided(race).name in {BEST, "appnp"}


def test_what_costs_hardly_anything_is_compared_however_little_time_there_is() -> None:
    race = race_of(budget=8.0)
    finished(race, EQUAL, {"mlp": 0.3, "spreading": 0.02, BEST: 4.0, "lc-gcn": 3.0, "lc-grand": 20.0})
    assert set(race.running) == {BEST, "spreading"}
    assert set(race.left_out) == {"mlp", "lc-gcn", "lc-grand"}
    assert race.told[0] == "Methods are tried on held-out labels for about 8 s at most."


def test_a_first_fold_that_was_slow_does_not_cost_the_others() -> None:
    race = race_of(budget=60.0)
    for turns in race.turns():
        for name, fold in turns:
            race.add(name, made_up(fold, 4, 4, 1.5 if fold == 0 else 0.5))
    assert "8 of 10 folds, for want of time" in race.told[1]
    assert race.told[-1] == "There is time for 10 folds: they take less than the first."
    assert (race.folds, race.left_out) == (FOLDS, [])
    assert decided(race).record.folds == FOLDS


def test_one_that_fails_is_left_out_and_the_others_go_on() -> None:
    race = race_of()
    for turns in race.turns():
        for name, fold in turns:
            fails = name == BEST and fold == 4
            race.add(name, Failure("The loss is not finite.") if fails else made_up(fold, 4, 4))
    record = decided(race).record
    assert {item.name for item in record.tried} == set(EXPERIENCE) - {BEST, BEST.removeprefix("lc-")}
    assert record.folds == FOLDS
    assert f"Left out: {BEST}. The loss is not finite." in choice_in_words(record)
    assert f"{BEST} is left out: The loss is not finite." in race.told
    assert read_choice(record.to_json(), Place("choice")) == record


def test_if_the_one_that_is_left_fails_those_that_were_behind_it_decide() -> None:
    race = Race(("mlp", "lc-gcn"), LABELS, FOLDS)
    for turns in race.turns():
        for name, fold in turns:
            fails = name == "lc-gcn" and fold == 5
            race.add(name, Failure("No memory.") if fails else made_up(fold, 6 if name == "lc-gcn" else 0))
    assert race.behind == {"mlp": 3}
    record = decided(race).record
    assert (record.taken, record.folds) == ("mlp", 3)
    assert read_choice(record.to_json(), Place("choice")) == record


def test_if_all_fail_the_first_reason_is_raised() -> None:
    race = race_of()
    for turns in race.turns():
        for name, _ in turns:
            race.add(name, Failure(f"{name} does not work."))
    with pytest.raises(TrainingError, match=r"No method could be trained .* mlp: mlp does not work\."):
        decided(race)


def test_a_costly_one_has_only_the_time_that_is_left_for_its_first_fold() -> None:
    race = race_of(budget=100.0)
    limits: dict[str, float | None] = {}
    for turns in race.turns():
        for name, fold in turns:
            limits.setdefault(name, race.limit(name))
            slow = name == "lc-grand"
            race.add(name, Failure("too long", out_of_time=True) if slow else made_up(fold, 4, 4, 2.0))
    assert {name for name, limit in limits.items() if limit is not None} == set(NAMES) - CHEAP - {BEST}
    assert limits["lc-grand"] == pytest.approx((100 - 4 * 2) / 5)
    assert race.left_out == ["lc-grand"]
    assert race.in_vain == limits["lc-grand"]
    assert race_of().limit("lc-grand") is None


def test_folds_that_take_longer_than_the_first_are_fewer() -> None:
    race = race_of(budget=60.0)
    for turns in race.turns():
        for name, fold in turns:
            race.add(name, made_up(fold, 4, 4, 0.5 if fold == 0 else 3.0))
    assert 2 <= race.folds < FOLDS
    assert race.seconds() <= 60
    assert any("folds have to do" in sentence for sentence in race.told)
    assert decided(race).record.folds == race.folds


def test_more_workers_do_more_in_the_same_time() -> None:
    one, four = race_of(40.0), race_of(40.0, workers=4)
    finished(one, EQUAL)
    finished(four, EQUAL)
    assert (four.folds, four.left_out) == (FOLDS, [])
    assert (one.folds, len(one.left_out)) != (FOLDS, 0)


def test_a_race_takes_the_same_turns_again() -> None:
    hits, costs = {**EQUAL, "lc-gcn": 6, "mlp": 0}, {"lc-grand": 9.0}
    first, again = race_of(120.0), race_of(120.0)
    assert finished(first, hits, costs) == finished(again, hits, costs)
    assert decided(first).record == decided(again).record


def test_the_most_hits_are_taken_and_the_words_say_how_sure_that_is() -> None:
    race = race_of()
    finished(race, {**EQUAL, "lc-gcn": 6})
    choice = decided(race)
    assert choice.name == "lc-gcn"
    assert choice_in_words(choice.record) == [
        "Taken: lc-gcn, right for 60 of 60 held-out labels, clearly more often than all others."
    ]
    assert choice.assessment.chosen_among == len(choice.record.finalists)


def test_where_labels_do_not_tell_experience_decides_and_the_words_say_so() -> None:
    race = race_of()
    finished(race, EQUAL)
    choice = decided(race)
    assert choice.name == BLEND
    said = choice_in_words(choice.record)[0]
    assert said.startswith("Taken: blend (the mean of lc-appnp, lc-gcn and lc-grand), right for 40 of 60")
    assert "the better one on most graphs, though the labels cannot tell it from" in said
    assert {verdict(item, choice.record) for item in choice.record.tried} == {"best", "cannot tell"}


def test_a_blend_is_the_mean_of_what_label_consistency_says_around_all_bases_that_were_tried_to_the_end() -> None:
    race = race_of()
    # The base of each is as bad, so that all of it is dropped.
    finished(race, {**EQUAL, "lc-grand": 0, "grand": 0})
    assert "lc-grand" in race.behind
    choice = decided(race)
    assert isinstance(choice.method, Blend)
    assert choice.method.methods == {name: create(name) for name in ("lc-appnp", "lc-gcn")}
    told = read_choice(choice.record.to_json(), Place("choice"))
    assert told == choice.record
    assert {item.name: item.mean_of for item in told.tried if item.mean_of} == {BLEND: ("lc-appnp", "lc-gcn")}
    assert "blend (the mean of lc-appnp and lc-gcn)" in choice_in_words(told)[0]
    parts = [held_out_by(race.results(name), LABELS).distribution for name in choice.method.names]
    confidence = np.mean(parts, axis=0).max(axis=1).mean()
    assert choice.assessment.calibration.error_before == pytest.approx(abs(40 / 60 - confidence), abs=0.06)


def test_a_single_method_with_label_consistency_is_no_blend() -> None:
    race = Race(("lc-gcn", "mlp"), LABELS, FOLDS)
    finished(race, EQUAL)
    assert decided(race).record.named(BLEND) is None


def test_where_neighbours_differ_by_the_labels_that_are_trained_on_one_that_learns_it_is_tried_as_well() -> None:
    generator = np.random.default_rng(0)
    labels = np.arange(120) % 2
    one, other = generator.integers(60, size=(2, 400)) * 2
    apart = Graph.from_edges("apart", np.stack([one, other + 1]), 120, labels, "ab", features=np.eye(120))
    together = Graph.from_edges("together", np.stack([one, other]), 120, labels, "ab", features=np.eye(120))
    every = np.arange(120)
    assert candidates_for(apart, every) == (*CANDIDATES, "lc-cheby")
    assert candidates_for(apart, every[:4]) == CANDIDATES
    assert candidates_for(together, every) == CANDIDATES
    assert "mlp" not in candidates_for(apart, every, made_of_edges=True)


def test_of_a_method_that_experience_does_not_know_it_does_not_say_where_it_is_better() -> None:
    race = Race(("mlp", "gat"), LABELS, FOLDS)
    finished(race, {"mlp": 4, "gat": 4})
    assert choice_in_words(decided(race).record) == [
        "Taken: gat, right for 40 of 60 held-out labels: as often as any, though the labels cannot tell it from "
        "mlp."
    ]


def test_of_a_method_beside_which_nothing_could_be_tried_no_comparison_is_said() -> None:
    race = race_of()
    finished(race, {**EQUAL, "mlp": 6})
    alone = replace((record := decided(race).record), tried=(record.named("mlp"),), taken="mlp")
    assert choice_in_words(alone) == [
        "Taken: mlp, right for 60 of 60 held-out labels; nothing else could be tried."
    ]
    classes = (ClassCount("a", 40, 400), ClassCount("b", 20, 200))
    assert "ignores" not in advice_in_words(alone, decided(race).assessment, classes)[0]


def test_a_base_may_be_taken_alone() -> None:
    race = race_of()
    finished(race, {**EQUAL, "gcn": 6})
    choice = decided(race)
    assert choice.name == "gcn"
    assert choice.method == create("gcn")


@pytest.mark.parametrize(("base", "with_it", "taken"), [(5, 4, "gcn"), (4, 4, "lc-gcn"), (4, 5, "lc-gcn")])
def test_the_guard_keeps_the_base_if_it_was_right_more_often(base: int, with_it: int, taken: str) -> None:
    race = Race(("lc-gcn",), LABELS, 3)
    finished(race, {"lc-gcn": with_it, "gcn": base})
    methods = {"lc-gcn": create("lc-gcn", guard=True)}
    choice = decide(race, methods, given=LABELS.size, of_folds=3, by_stage=True)
    assert choice.name == taken
    said = choice_in_words(choice.record)
    assert bool(said) == (taken == "gcn")
    if said:
        assert said == [
            "Label consistency is left out: gcn alone was right for 15 of 18 held-out labels, lc-gcn for 12."
        ]
    assert decide(race, methods, given=LABELS.size, of_folds=3, by_stage=False).name == "lc-gcn"


def test_a_choice_is_read_as_it_was_written() -> None:
    race = race_of(300.0)
    finished(race, {**EQUAL, "lc-gcn": 6, "mlp": 0})
    record = decided(race).record
    assert read_choice(record.to_json(), Place("choice")) == record


def test_edges_that_bring_nothing_are_told() -> None:
    race = race_of()
    finished(race, {**EQUAL, "mlp": 6})
    choice = decided(race)
    classes = (ClassCount("a", 30, 10), ClassCount("b", 30, 10))
    advice = advice_in_words(choice.record, choice.assessment, classes)
    assert len(advice) == 1
    assert advice[0].startswith("What would help most: ")


def test_a_class_that_is_predicted_out_of_proportion_is_to_be_distrusted() -> None:
    race = race_of()
    finished(race, EQUAL)
    expected = replace(decided(race).assessment, by_class=(None, None, None))
    proportionate = (ClassCount("a", 30, 590), ClassCount("b", 16, 330), ClassCount("c", 4, 80))
    assert distrust_in_words(expected, proportionate) == [
        "Which classes to distrust cannot be told from so few labels of each."
    ]
    odd = (ClassCount("a", 30, 680), ClassCount("b", 16, 0), ClassCount("c", 4, 320))
    assert distrust_in_words(expected, odd) == [
        "Distrust most: 'b' (predicted for 0 of 100 nodes, and 32 of 100 labels are of it), "
        "'c' (predicted for 32 of 100 nodes, and 8 of 100 labels are of it)."
    ]
    # So many labels of each class were chosen and say nothing of the classes' sizes.
    chosen = tuple(replace(item, given=10) for item in odd)
    assert "cannot be told" in distrust_in_words(expected, chosen)[0]


def test_a_class_that_is_found_less_often_than_others_is_to_be_distrusted() -> None:
    race = race_of()
    finished(race, EQUAL)
    expected = replace(decided(race).assessment, overall=Expected.at(0.8, 60, 60))
    classes = (ClassCount("a", 40, 400), ClassCount("b", 20, 200))
    known = replace(expected, by_class=(Expected.at(0.9, 40, 60), Expected.at(0.2, 20, 60)))
    assert distrust_in_words(known, classes) == ["Distrust most: 'b' (20 of 100 found)."]
    assert distrust_in_words(replace(known, by_class=(known.by_class[0],) * 2), classes) == []


def test_a_class_that_is_always_found_is_not_to_be_distrusted_for_a_rounding_of_its_interval() -> None:
    race = race_of()
    finished(race, EQUAL)
    expected = replace(decided(race).assessment, overall=Expected(1.0, 0.8, 1.0, 30))
    always = (Expected(1.0, 0.7, 0.9999999999999999, 12), Expected(1.0, 0.7, 1.0, 18))
    classes = (ClassCount("x;y", 12, 120), ClassCount("z", 18, 180))
    assert distrust_in_words(replace(expected, by_class=always), classes) == []


def test_what_more_labels_bring_is_by_the_rule_of_the_interval() -> None:
    race = race_of()
    finished(race, EQUAL)
    assessment = decided(race).assessment
    share = 1 - 1 / assessment.of_folds
    overall = Expected.at(0.75, 60, 60).with_all_labels(share)
    expected = replace(assessment, overall=overall, untested=(), by_class=(None, None))
    (advice,) = advice_in_words(None, expected, (ClassCount("a", 40, 400), ClassCount("b", 20, 200)))
    more = Expected.at(0.75, 240, 240).with_all_labels(share)
    assert advice.endswith(
        f"first of 'b', which has 20; four times as many would make the interval of "
        f"{100 * (overall.high - overall.low):.0f} points one of {100 * (more.high - more.low):.0f}."
    )


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90), ("2m", 120), ("1h", 3600), ("1.5 m", 90), ("45", 45), (30, 30)]
)
def test_a_budget_is_a_time(text: str | float, seconds: float) -> None:
    assert seconds_of(text) == seconds


@pytest.mark.parametrize("text", ["0", 0, "-1m", "soon", "", "2d", "nan", float("inf"), "1e3", True])
def test_what_is_no_time_is_refused_in_one_line(text: str | float) -> None:
    with pytest.raises(ConfigError, match="give a time such as 90s, 2m or 1h"):
        seconds_of(text)


def test_times_are_said_in_their_unit() -> None:
    assert [duration(seconds) for seconds in (0.2, 42, 120, 7200)] == ["1 s", "42 s", "2 min", "2.0 h"]


def test_methods_that_are_not_there_are_refused() -> None:
    assert candidates_named("lc-gcn, mlp,,lp,mlp") == ("lc-gcn", "mlp", "lp")
    with pytest.raises(ConfigError, match="Did you mean 'lc-gcn'"):
        candidates_named("lc-gnc,mlp")
    with pytest.raises(ConfigError, match="name two methods or more"):
        candidates_named("mlp")


def turns_and_ahead(race: Race) -> list[tuple[list[tuple[str, int]], list[tuple[str, int]]]]:
    seen = []
    for turns in race.turns():
        seen.append((turns, race.ahead(turns)))
        for name, fold in turns:
            race.add(name, made_up(fold, 4))
    return seen


def test_what_is_begun_ahead_comes_before_the_next_look() -> None:
    seen = turns_and_ahead(race_of(budget=1e6, workers=2))
    later = [turn for turns, _ in seen for turn in turns]
    for turns, ahead in seen:
        done = max(fold for _, fold in turns) + 1
        look = min([look for look in (3, 5, 7, FOLDS) if look >= done])
        assert all(done <= fold < look for _, fold in ahead)
        assert set(ahead) <= set(later)
        assert not set(ahead) & set(turns)
    assert any(ahead for turns, ahead in seen if turns[0][1] == 0)


def test_what_is_begun_ahead_takes_at_most_half_of_the_time_that_is_left() -> None:
    race, spent = race_of(budget=60.0, workers=2), 0.0
    some = False
    for turns in race.turns():
        ahead = race.ahead(turns)
        assert 5.0 * len(ahead) / 2 <= (60.0 - spent) / 2
        some = some or bool(ahead)
        for name, fold in turns:
            race.add(name, made_up(fold, 4, None, 5.0))
        spent += 5.0 * len(turns) / 2
    assert some


def test_there_is_nothing_ahead_of_a_single_candidate() -> None:
    assert all(not ahead for _, ahead in turns_and_ahead(Race(("lc-gcn",), LABELS, FOLDS)))


def test_the_longest_fold_is_begun_first() -> None:
    race = race_of()
    for place, name in enumerate(NAMES):
        race.add(name, made_up(0, 4, None, float(place)))
    assert race.in_order([(name, 1) for name in NAMES]) == [(name, 1) for name in reversed(NAMES)]
