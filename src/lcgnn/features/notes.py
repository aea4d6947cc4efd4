"""What there is to say of many columns: a sentence each for a few, one for all where they are many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from lcgnn.features.table import shown

# As many columns are spoken of one by one.
FEW = 3
_NAMED = 5


class Note(str):
    """A sentence that sums others up, which are still to be had.

    Attributes:
        details: The sentences that it stands for.
    """

    details: tuple[str, ...]

    def __new__(cls, text: str, details: Sequence[str] = ()) -> Note:
        made = super().__new__(cls, text)
        made.details = tuple(details)
        return made

    def __getnewargs__(self) -> tuple[str, tuple[str, ...]]:  # type: ignore[override]
        return str(self), self.details


def in_full(notes: Sequence[str]) -> list[str]:
    """The notes, each that sums others up followed by those."""
    return [line for note in notes for line in (note, *getattr(note, "details", ()))]


@dataclass
class ColumnNotes:
    """Sentences on columns, collected by what they are about.

    Args:
        where: What the sum of several begins with: the name of the file.
    """

    where: str
    _told: dict[str, list[tuple[str, str]]] = field(default_factory=dict)

    def add(self, about: str, column: str, sentence: str) -> None:
        """Note a sentence on a column; ``about`` is what is said if many columns have it in common."""
        self._told.setdefault(about, []).append((column, sentence))

    def told(self) -> list[str]:
        """All there is to say, in the order in which each matter came up."""
        lines: list[str] = []
        for about, said in self._told.items():
            sentences = [sentence for _, sentence in said]
            lines += sentences if len(said) <= FEW else [Note(self._sum(about, said), sentences)]
        return lines

    def _sum(self, about: str, said: list[tuple[str, str]]) -> str:
        warning = "Warning: " if said[0][1].startswith("Warning: ") else ""
        names = ", ".join(shown(name) for name, _ in said[:_NAMED])
        return f"{warning}{self.where}: {len(said):,} columns {about}: {names}{', ...' * (len(said) > _NAMED)}."
