"""Blocks that list rows of the train set: regions with examples, tables of rows, suspects."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from cartograph.page.blocks import Block


@dataclass(frozen=True)
class Region:
    """One region's card: how many rows, where they lie, and some of them."""

    name: str
    meaning: str
    rows: int
    share: str
    bounds: Sequence[tuple[str, str]]
    examples: Sequence[int]


@dataclass(frozen=True)
class Regions(Block):
    """Cards of regions."""

    kind = "regions"
    regions: Sequence[Region]

    def listed(self) -> Iterable[int]:
        """Return the examples of all regions."""
        return (row for region in self.regions for row in region.examples)


@dataclass(frozen=True)
class RowList:
    """Rows in their order, under a name."""

    name: str
    meaning: str
    rows: Sequence[int]


@dataclass(frozen=True)
class RowTables(Block):
    """Tables of rows, one shown at a time; sortable, filterable, each row opens its card."""

    kind = "rowTables"
    lists: Sequence[RowList]

    def listed(self) -> Iterable[int]:
        """Return the rows of all tables."""
        return (row for rows in self.lists for row in rows.rows)


@dataclass(frozen=True)
class Suspect:
    """A row whose label is doubted.

    Attributes:
        place: its place in the measures table.
        uid: as a file of decisions has it (``spreadsheet.guarded``).
        rank: 1 = most suspect.
        probability: that its label is wrong, in [0, 1]; where the table is not ``calibrated``, a score that only ranks.
        suggested: id of the label suggested instead.
        reason: why, in words.
    """

    place: int
    uid: str
    rank: int
    probability: float
    suggested: int
    reason: str


@dataclass(frozen=True)
class Answers:
    """What a reader may decide about suspects.

    Attributes:
        version: what the decisions belong to: these suspects of these rows.
        labels: the classes by id, as a file of decisions has them (``spreadsheet.guarded``).
        total: all suspects that the page lists.
        command: what takes the file in.
    """

    version: str
    labels: Sequence[str]
    total: int
    command: str


@dataclass(frozen=True)
class SuspectTable(Block):
    """Suspects in their order; sortable, filterable, each row opens its card and takes a decision, unless ``answers`` is None.

    Attributes:
        calibrated: whether probabilities were estimated from this data, so that the page may call them so.
    """

    kind = "suspects"
    caption: str
    suspects: Sequence[Suspect]
    answers: Answers | None
    calibrated: bool

    def listed(self) -> Iterable[int]:
        """Return the rows of all listed suspects."""
        return (suspect.place for suspect in self.suspects)
