"""Who takes part: the first rank calls the others, and one process answers for each of them.

A process that an earlier start left behind may still wait at the address of a new job, as the same rank as one of
the new job's own. Ranks that were started by hand have nothing in common that such a process has not, so they are
told from each other one by one: of several processes that come as one rank the last counts, one that no longer
answers does not, and whoever does not belong to the job that begins ends with one line.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable, Mapping
from functools import partial

from torch.distributed.distributed_c10d import PrefixStore, Store

from lcgnn.errors import RankError
from lcgnn.files import process_token

# Seconds between two looks into the store, and those in which a process that lives answers.
_LOOK_AGAIN, _TO_ANSWER = 0.02, 3.0
_BEGUN = "begun"


def of_this_job(store: Store, rank: int, size: int, seconds: float) -> Store:
    """The part of a store that only those processes know that begin together, one for each rank.

    RankError if another process has come as this rank, TimeoutError if the others do not come in so many seconds.
    """
    deadline = time.monotonic() + seconds
    name = f"{process_token()}.{secrets.token_hex(8)}"
    members = _answer(store, rank, size, name, deadline) if rank else _call(store, size, name, deadline)
    return PrefixStore(members[0], store)


def _call(store: Store, size: int, own: str, deadline: float) -> Mapping[int, str]:
    """Call until a process answers for every rank; the names of all by their ranks."""
    others, turn = range(1, size), 0
    while True:
        _wait(partial(store.check, [_last(rank) for rank in others]), deadline, "not all of them have come")
        called = {rank: _text(store, _last(rank)) for rank in others}
        turn += 1
        for name in called.values():
            store.set(_called(name), str(turn))
        answers = [_answered(name, turn) for name in called.values()]
        try:
            _wait(partial(store.check, answers), min(time.monotonic() + _TO_ANSWER, deadline), "")
        except TimeoutError:
            silent = [rank for rank, name in called.items() if not store.check([_answered(name, turn)])]
            if time.monotonic() > deadline:
                raise TimeoutError(f"rank {silent[0]} has come but does not answer") from None
            continue
        members = {0: own, **called}
        store.set(_BEGUN, json.dumps([members[rank] for rank in range(size)]))
        return members


def _answer(store: Store, rank: int, size: int, own: str, deadline: float) -> Mapping[int, str]:
    """Come as a rank and answer whenever called; the names of all by their ranks, once they begin."""
    store.set(_last(rank), own)
    answered = ""

    def begun() -> bool:
        nonlocal answered
        if store.check([_BEGUN]):
            return True
        turn = _text(store, _called(own)) if store.check([_called(own)]) else ""
        # Who has answered may be counted on, and stays.
        if not answered and (last := _text(store, _last(rank))) != own:
            raise RankError(f"Another process ({_short(last)}) has come as rank {rank} of {size}. This one ends.")
        if turn != answered:
            store.set(_answered(own, int(turn)), "")
            answered = turn
        return False

    _wait(begun, deadline, "the first rank does not begin")
    members = dict(enumerate(json.loads(store.get(_BEGUN))))
    if members[rank] != own:
        raise RankError(
            f"The others have begun with another process ({_short(members[rank])}) as rank {rank} of {size}. If "
            "an earlier start left it behind, end it and start all ranks again."
        )
    return members


def _wait(condition: Callable[[], bool], deadline: float, otherwise: str) -> None:
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(otherwise)
        time.sleep(_LOOK_AGAIN)


def _last(rank: int) -> str:
    """Where the name of the process stands that was the last to come as a rank."""
    return f"rank/{rank}"


def _called(name: str) -> str:
    return f"called/{name}"


def _answered(name: str, turn: int) -> str:
    return f"answered/{name}/{turn}"


def _text(store: Store, key: str) -> str:
    return str(store.get(key).decode())


def _short(name: str) -> str:
    """A process as a person would look for it: its number and where it runs."""
    return name.rpartition(".")[0]
