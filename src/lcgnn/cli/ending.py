"""How a command ends that is interrupted, or whose output goes nowhere: quietly, or with one line."""

from __future__ import annotations

import atexit
import errno
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from lcgnn.compute.placement.launch import is_launched
from lcgnn.errors import OutputError


class Ended(BaseException):
    """The system, another process or the terminal that is closed asks this process to end.

    Args:
        number: Of the signal.
    """

    def __init__(self, number: int) -> None:
        super().__init__(f"Ended by {signal.Signals(number).name}. Give the command again to continue.")
        self.code = 128 + number


@contextmanager
def interruptible() -> Iterator[None]:
    """Let the first Ctrl-C or request to end end the block undisturbed; the third one ends the process."""
    before = {number: signal.getsignal(number) for number in _ending_signals()}
    if not before or threading.current_thread() is not threading.main_thread():
        yield
        return
    asked: list[int] = []

    def interrupt(number: int, _frame: Any) -> None:
        asked.append(number)
        if len(asked) == 1:
            raise _request(number)
        if len(asked) > 2:
            os._exit(128 + number)

    for number in before:
        signal.signal(number, interrupt)
    try:
        yield
        if asked:
            # It was raised where nobody passes it on, as in a destructor.
            raise _request(asked[0])
    finally:
        # After an interrupt Python still has threads and files to close, which another one should not disturb. At
        # the very end Python gives signals their default meaning again, unless they are ignored by then.
        for number, meaning in before.items():
            signal.signal(number, interrupt if asked else meaning)
        if asked:
            atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)


def _request(number: int) -> BaseException:
    return KeyboardInterrupt() if number == signal.SIGINT else Ended(number)


def _ending_signals() -> list[signal.Signals]:
    """The signals that are to end this process, and that nobody has given another meaning, as nohup does.

    A rank that is asked to end may be waiting for the others, where Python does not look at signals: it ends at
    once, and the others learn of it from its connections.
    """
    asked = [] if is_launched() else [getattr(signal, name, None) for name in ("SIGTERM", "SIGHUP")]
    usual = [number for number in asked if number and signal.getsignal(number) == signal.SIG_DFL]
    by_hand = [signal.SIGINT] if signal.getsignal(signal.SIGINT) is signal.default_int_handler else []
    return [*by_hand, *usual]


@contextmanager
def shown_to_the_end() -> Iterator[None]:
    """Make sure that all output is out when the block ends, or say in one line why it is not.

    Where the reader has left, as in ``lcgnn methods | head -1``, there is nobody to tell and nothing is said.
    """
    try:
        try:
            yield
        finally:
            if sys.stdout is not None:  # It is None where the user has closed it.
                sys.stdout.flush()
    except OSError as error:
        if not _is_of_stdout(error):
            raise
        _drop_output()
        if error.errno == errno.EPIPE:
            raise SystemExit(1) from None
        raise OutputError(f"Cannot write the output: {error.strerror}.") from error


def _is_of_stdout(error: OSError) -> bool:
    """Whether an error came from what is printed: those of files name them."""
    return error.filename is None and error.errno in (errno.EPIPE, errno.ENOSPC, errno.EIO, errno.EBADF)


def _drop_output() -> None:
    """Send what is still in the buffer nowhere, so that nothing goes wrong again when Python closes it."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
