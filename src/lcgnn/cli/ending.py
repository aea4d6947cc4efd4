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

from lcgnn.errors import OutputError


@contextmanager
def interruptible() -> Iterator[None]:
    """Let the first Ctrl-C end the block, and not disturb how it ends; the third one ends the process at once."""
    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler or threading.current_thread() is not threading.main_thread():
        yield
        return
    times = 0

    def interrupt(*_: Any) -> None:
        nonlocal times
        times += 1
        if times == 1:
            raise KeyboardInterrupt
        if times > 2:
            os._exit(130)

    signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        # After an interrupt Python still has threads and files to close, which another one should not disturb. At
        # the very end Python gives signals their default meaning again, unless they are ignored by then.
        signal.signal(signal.SIGINT, interrupt if times else before)
        if times:
            atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)


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
