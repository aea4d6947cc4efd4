"""``python -m tests.fuzz``: read damaged files in child processes, and report all that was not read or refused."""

from __future__ import annotations

import argparse
import sys

from tests.fuzz.running import fuzz
from tests.fuzz.running import read_in_child as read_in_child


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--count", type=int, default=1000, help="inputs in all, shared by the readers")
    parser.add_argument("--start", type=int, default=0, help="number of the first input of each reader")
    parser.add_argument("--reader", action="append", help="only this reader; may be given several times")
    parser.add_argument("--child", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        reader, first, last, progress = options.child
        read_in_child(reader, int(first), int(last), progress)
        return
    faults = 0
    for outcome in fuzz(options.count, options.start, options.reader):
        print(outcome.line(), flush=True)
        faults += len(outcome.faults)
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
