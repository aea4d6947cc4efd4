"""One process for each rank, whoever else waits at the same address."""

import threading
import time
from collections.abc import Callable

import pytest
from torch._C._distributed_c10d import HashStore, Store

from lcgnn.compute.placement import roll_call
from lcgnn.compute.placement.roll_call import of_this_job
from lcgnn.errors import RankError


class Coming(threading.Thread):
    """A process that comes as a rank, in a thread."""

    def __init__(self, store: Store, rank: int, size: int, seconds: float = 20) -> None:
        super().__init__(daemon=True)
        self.arguments = (store, rank, size, seconds)
        self.found: Store | None = None
        self.error: Exception | None = None
        self.start()

    def run(self) -> None:
        try:
            self.found = of_this_job(*self.arguments)
        except (RankError, TimeoutError) as error:
            self.error = error


def joined(threads: list[Coming]) -> list[bool]:
    """Which of them take part."""
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive()
    return [thread.found is not None for thread in threads]


def keys_come(store: Store, wait_until: Callable[..., object], rank: int) -> str:
    wait_until(lambda: store.check([f"rank/{rank}"]))
    return store.get(f"rank/{rank}").decode()


def test_all_ranks_of_a_job_share_a_part_of_the_store_that_is_another_job_s_no_more() -> None:
    store = HashStore()
    ranks = [Coming(store, rank, 3) for rank in range(3)]
    assert joined(ranks) == [True] * 3
    ranks[0].found.set("address", "here")
    assert [rank.found.get("address") for rank in ranks[1:]] == [b"here"] * 2
    other = HashStore()
    alone = of_this_job(other, 0, 1, 1)
    assert not alone.check(["address"])


def test_of_two_processes_that_come_as_one_rank_the_last_takes_part_and_the_other_says_so(
    wait_until: Callable[..., object],
) -> None:
    store = HashStore()
    left_behind = Coming(store, 1, 2)
    before = keys_come(store, wait_until, 1)
    own = Coming(store, 1, 2)
    wait_until(lambda: store.get("rank/1").decode() != before)
    assert joined([left_behind]) == [False]
    assert str(left_behind.error).startswith("Another process (")
    assert joined([Coming(store, 0, 2), own]) == [True, True]


def test_a_process_that_comes_too_late_as_a_rank_is_told_who_has_it() -> None:
    store = HashStore()
    assert joined([Coming(store, 0, 2), Coming(store, 1, 2)]) == [True, True]
    late = Coming(store, 1, 2)
    assert joined([late]) == [False]
    assert "have begun with another process (" in str(late.error)
    assert "\n" not in str(late.error)


def test_a_rank_that_has_died_while_it_waited_is_replaced_by_the_next_one(
    wait_until: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(roll_call, "_TO_ANSWER", 0.2)
    store = HashStore()
    store.set("rank/1", "4711@here.dead")
    first, second = Coming(store, 0, 3), Coming(store, 2, 3)
    wait_until(lambda: store.check(["called/4711@here.dead"]))
    time.sleep(0.3)
    assert first.is_alive()
    assert joined([Coming(store, 1, 3), first, second]) == [True] * 3


def test_who_waits_in_vain_is_told_for_what(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(roll_call, "_TO_ANSWER", 0.1)
    with pytest.raises(TimeoutError, match="not all of them have come"):
        of_this_job(HashStore(), 0, 2, 0.1)
    with pytest.raises(TimeoutError, match="the first rank does not begin"):
        of_this_job(HashStore(), 1, 2, 0.1)
    store = HashStore()
    store.set("rank/1", "4711@here.dead")
    with pytest.raises(TimeoutError, match="rank 1 has come but does not answer"):
        of_this_job(store, 0, 2, 0.1)
