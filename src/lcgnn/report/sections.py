"""What a page is made of, as plain data: sections with text, tables and plots."""

from __future__ import annotations

from dataclasses import dataclass

from lcgnn.report.plotting import Figure
from lcgnn.report.tables import Table


@dataclass(frozen=True)
class Variant:
    """One of the figures that share a place on the page, and how it is chosen."""

    label: str
    figure: Figure
    group: str = ""


@dataclass(frozen=True)
class Plot:
    """A place for a figure, with what it shows in words; a matrix is not squeezed into a phone's width."""

    title: str
    caption: str
    variants: tuple[Variant, ...]
    matrix: bool = False

    @property
    def groups(self) -> list[tuple[str, list[tuple[int, Variant]]]]:
        """The variants with their numbers, by group."""
        found: dict[str, list[tuple[int, Variant]]] = {}
        for number, variant in enumerate(self.variants):
            found.setdefault(variant.group, []).append((number, variant))
        return list(found.items())


@dataclass(frozen=True)
class Section:
    """A heading and what is below it."""

    anchor: str
    title: str
    text: str = ""
    blocks: tuple[Table | Plot, ...] = ()
    note: str = ""

    @property
    def tables(self) -> list[Table]:
        return [block for block in self.blocks if isinstance(block, Table)]

    @property
    def plots(self) -> list[Plot]:
        return [block for block in self.blocks if isinstance(block, Plot)]


@dataclass(frozen=True)
class Fact:
    """A number of the summary and what it counts."""

    value: str
    label: str
