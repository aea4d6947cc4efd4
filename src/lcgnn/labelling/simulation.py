"""A simulated labeller: answers what is asked with the true label, a few times a second."""

from __future__ import annotations

import threading

from lcgnn.errors import LCGNNError
from lcgnn.labelling.loop import Loop

BY = "simulated labeller"
# Seconds from one answer to the next.
_PACE = 0.25
# Labels that are given before the model has learnt from them: suggestions would know too little.
_MOST_AHEAD = 12


class SimulatedLabeller:
    """Answers in the place of a person for as long as it is wanted.

    Args:
        loop: Whose questions it answers.
    """

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self._ended = threading.Event()

    def start(self) -> None:
        """Be ready, if there are true labels to answer with."""
        if self._loop.opened.truth is not None:
            threading.Thread(target=self._answer, daemon=True).start()

    def close(self) -> None:
        """Answer no more."""
        self._ended.set()

    def _answer(self) -> None:
        while not self._ended.wait(_PACE):
            if self._loop.simulating and self._loop.unlearnt <= _MOST_AHEAD:
                try:
                    self.answer_once()
                except LCGNNError:
                    self._loop.simulate(False)

    def answer_once(self) -> None:
        """Say what is true of the node that is asked for; skip it if nobody knows."""
        loop = self._loop
        assert loop.opened.truth is not None
        labels, names = loop.opened.truth
        asked = loop.next_suggestion()
        if asked is None:
            loop.simulate(False)
        elif labels[asked.node] < 0:
            loop.skip(asked.node)
        else:
            loop.label_as(asked.node, names[labels[asked.node]], BY)
